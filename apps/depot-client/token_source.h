// Where a client's connect token comes from: the development issuer of a data folder, a command, or stdin.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dev_issuer.h"

namespace app {

struct TokenRequest {
  Key client_public_key{};
  uint64_t schema_id = 0;
  uint64_t player = 0;  // a pseudonym
  bool is_bot = false;
};

struct TokenSource {
  std::string data_dir;       // has issuer.key and server.json
  std::string token_command;  // prints the token in base64; {client_key} becomes the client's public key
  bool from_stdin = false;    // prints {"client_key":"…"} on stdout and reads one line of base64 from stdin

  bool uses_data_dir() const { return token_command.empty() && !from_stdin; }
  /// Returns "" and fills `token`; or returns one sentence of cause and one of action.
  std::string obtain(const TokenRequest& request, std::vector<uint8_t>& token) const;
};

}  // namespace app
