// The library's version, from the build.
#pragma once

namespace lattice::abi {
#ifndef LATTICE_VERSION_TEXT
#define LATTICE_VERSION_TEXT "0.1.0"
#endif
inline constexpr const char* kVersion = LATTICE_VERSION_TEXT;
}  // namespace lattice::abi
