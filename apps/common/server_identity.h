// The identity of a server in a file, so that it has the same public key after a restart: 128 hexadecimal
// digits, mode 0600. Whoever reads it can pretend to be the server.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "lattice/lattice.h"

namespace app {

using ServerIdentity = std::array<uint8_t, LATTICE_SERVER_IDENTITY_BYTES>;

/// Where a server looks for its identity when it is told no other place.
std::string identity_path(const std::string& data_dir);

/// Reads an identity. "" or what is wrong and what to do: a file that other users may read is refused.
std::string load_identity(const std::string& path, ServerIdentity& out);
/// Reads an identity, or makes it when there is no such file. Never replaces a file.
std::string load_or_make_identity(const std::string& path, ServerIdentity& out);

/// The identity a server starts with: of the file it was told, else the one in its data folder, else none.
std::string find_identity(const std::string& file, const std::string& data_dir,
                          std::optional<ServerIdentity>& out);

}  // namespace app
