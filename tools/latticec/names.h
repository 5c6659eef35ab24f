// The names and numbers of generated C++.
#pragma once

#include <cstdint>
#include <string>

#include "source.h"

namespace latticec {

/// An error at `place` when the generated code could not have this name.
void check_name(const std::string& name, const Place& place, Report& report);

/// "picked_up" as "PickedUp".
std::string camel(const std::string& name);

/// "0x00ab", of 16 digits.
std::string hexadecimal(uint64_t v);

/// The shortest number that is read back as the same.
std::string decimal(double v);

}  // namespace latticec
