// The identity of a server in a file: 128 hexadecimal digits, mode 0600. With it, the server has the same
// public key after a restart. Everybody who reads the file can pretend to be the server.
#pragma once

#include <optional>
#include <string>

#include "lattice/lattice.h"
#include "secret_bytes.h"

namespace app {

using ServerIdentity = SecretBytes<LATTICE_SERVER_IDENTITY_BYTES>;

/// The file in which a server looks for its identity when its settings name none.
std::string identity_path(const std::string& data_dir);

/// Reads an identity. Returns "", or a text that says what is wrong and what to do.
std::string load_identity(const std::string& path, ServerIdentity& out);
/// Reads an identity, or makes it when there is no such file. Never replaces a file. Processes that call this
/// at the same time get the same identity.
std::string load_or_make_identity(const std::string& path, ServerIdentity& out);

/// Finds the identity a server starts with: the one in `file` if that is not "", else the one in the data
/// folder if there is one, else none.
std::string find_identity(const std::string& file, const std::string& data_dir,
                          std::optional<ServerIdentity>& out);

}  // namespace app
