// Keys and tokens as text: base64 and hexadecimal, then the decoded token at a client that is asked to
// connect with it.
//
// Must hold: each text has one meaning and each meaning one text; the client, who never asked for a token,
// answers with LATTICE_ERROR_TOKEN.
#include <array>
#include <cstdint>
#include <cstdlib>

#include "lattice/lattice.h"
#include "text_codec.h"

namespace {

using namespace app;

void require(bool condition) {
  if (!condition) std::abort();
}

class Client {
 public:
  Client() {
    net_ = lattice_netsim_create(5);
    lattice_world_config config;
    lattice_world_config_init(&config);
    config.netsim = net_;
    config.bind_address = "10.0.0.2:1000";
    config.clock = lattice_netsim_clock;
    config.clock_ctx = net_;
    config.max_objects = 16;
    lattice_role_context role;
    lattice_role_context_init(&role, LATTICE_ROLE_CLIENT);
    world_ = lattice_world_create(&config, &role);
    require(world_ != nullptr);
  }
  ~Client() {
    lattice_world_destroy(world_);
    lattice_netsim_destroy(net_);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  /// The client made no key, so no token can be its own.
  void refuse(const std::vector<uint8_t>& token) {
    require(lattice_connect(world_, "10.0.0.1:1", token.data(), token.size()) == nullptr);
    require(lattice_last_result() == LATTICE_ERROR_TOKEN);
  }

 private:
  lattice_netsim* net_ = nullptr;
  lattice_world* world_ = nullptr;
};

bool is_trailing(char c) {
  return c == '\n' || c == '\r' || c == ' ';
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  std::array<uint8_t, LATTICE_KEY_BYTES> key;
  if (from_hex(text, key)) {
    for (char& c : text) c = c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c;
    require(to_hex(key) == text);
  }
  const auto bytes = from_base64(text);
  while (!text.empty() && is_trailing(text.back())) text.pop_back();
  if (!bytes) return 0;
  require(to_base64(*bytes) == text);
  if (bytes->empty()) return 0;
  static Client client;
  client.refuse(*bytes);
  return 0;
}
