#include "token_source.h"

#include <cstdio>
#include <iostream>

#include "game_server.h"
#include "text_codec.h"

namespace app {
namespace {

std::string decode(const std::string& text, const char* where, std::vector<uint8_t>& token) {
  auto bytes = from_base64(text);
  if (!bytes || bytes->empty()) {
    return std::string("What came from ") + where + " is not a token in base64. It must print nothing else.";
  }
  token = std::move(*bytes);
  return "";
}

std::string issue(const std::string& data_dir, const TokenRequest& request, std::vector<uint8_t>& token) {
  IssuerKeys issuer;
  if (std::string problem = load_issuer(data_dir, issuer); !problem.empty()) return problem;
  ServerNote server;
  if (std::string problem = read_server_note(data_dir, server); !problem.empty()) return problem;

  lattice_token_request wanted{};
  lattice_token_request_init(&wanted);
  wanted.schema_id = request.schema_id;
  std::copy(server.server_public_key.begin(), server.server_public_key.end(), wanted.server_public_key);
  std::copy(request.client_public_key.begin(), request.client_public_key.end(), wanted.client_public_key);
  for (size_t i = 0; i < 8; ++i) wanted.player[i] = static_cast<uint8_t>(request.player >> (8 * i));
  wanted.user_data = &depot::kBotMark;
  wanted.user_data_bytes = request.is_bot ? 1 : 0;
  token.resize(LATTICE_TOKEN_MAX_BYTES);
  size_t bytes = 0;
  if (lattice_token_issue(issuer.seed.data(), &wanted, token.data(), token.size(), &bytes) != LATTICE_OK) {
    return std::string("Cannot issue a token: ") + lattice_last_error();
  }
  token.resize(bytes);
  return "";
}

std::string run_command(std::string command, const std::string& client_key, std::vector<uint8_t>& token) {
  static constexpr std::string_view kPlaceholder = "{client_key}";
  for (size_t at; (at = command.find(kPlaceholder)) != std::string::npos;) {
    command.replace(at, kPlaceholder.size(), client_key);
  }
  FILE* pipe = popen(command.c_str(), "re");
  if (pipe == nullptr) return "Cannot run the token command. Check --token-command.";
  std::string output;
  char buffer[512];
  while (const size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, got);
  if (pclose(pipe) != 0) return "The token command failed. Run it by hand: " + command;
  return decode(output, "the token command", token);
}

}  // namespace

std::string TokenSource::obtain(const TokenRequest& request, std::vector<uint8_t>& token) const {
  const std::string client_key = to_hex(request.client_public_key);
  if (!token_command.empty()) return run_command(token_command, client_key, token);
  if (from_stdin) {
    std::printf("{\"client_key\":\"%s\"}\n", client_key.c_str());
    std::fflush(stdout);
    std::string line;
    std::getline(std::cin, line);
    return decode(line, "stdin", token);
  }
  return issue(data_dir, request, token);
}

}  // namespace app
