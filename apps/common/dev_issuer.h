// The development issuer: an Ed25519 key pair in a folder, made at first use. With it, a server and its
// clients on one machine use real connect tokens without an authentication service. The folder also holds
// the note that a server leaves about itself.
//
//   issuer.key   64 hexadecimal digits, mode 0600: everybody who reads it can admit players
//   issuer.pub   64 hexadecimal digits
//   server.lock  locked by the server that has the folder (data_folder.h)
//   server.json  {"address", "server_public_key", "schema_id", "pid", "admin"}, rewritten at each start
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "lattice/lattice.h"
#include "secret_bytes.h"

namespace app {

using Key = std::array<uint8_t, LATTICE_KEY_BYTES>;

struct IssuerKeys {
  SecretBytes<LATTICE_KEY_BYTES> seed;
  Key public_key{};
};

/// Reads the key pair of `data_dir`, or makes it there. Processes that call this at the same time get the
/// same pair. Returns "", or a text that says what is wrong and what to do.
std::string load_or_make_issuer(const std::string& data_dir, IssuerKeys& out);
/// Reads the key pair of `data_dir`, and never makes one. Returns as above.
std::string load_issuer(const std::string& data_dir, IssuerKeys& out);

struct ServerNote {
  std::string address;
  Key server_public_key{};
  uint64_t schema_id = 0;
  int64_t pid = 0;
  std::string admin;  // where its admin port is, or ""
};

std::string write_server_note(const std::string& data_dir, const ServerNote& note);
std::string read_server_note(const std::string& data_dir, ServerNote& out);
/// Removes the note, if it is this process's.
void remove_server_note(const std::string& data_dir);

}  // namespace app
