// tests/data/vectors/handshake.json as typed values. The file was computed by an independent script.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/path_id.h"
#include "transport/crypto/ed25519.h"
#include "transport/crypto/secret.h"
#include "transport/crypto/x25519.h"
#include "unit/transport/hex.h"

namespace lattice::test {

class HandshakeVectors {
 public:
  HandshakeVectors() {
    std::ifstream file(LATTICE_TEST_DATA "/vectors/handshake.json");
    file >> json_;
  }

  const nlohmann::json& json() const { return json_; }
  std::string text(const char* name) const { return json_.at(name).get<std::string>(); }
  std::vector<uint8_t> bytes(const char* name) const { return from_hex(text(name)); }
  std::vector<uint8_t> bytes(const char* group, const char* name) const {
    return from_hex(json_.at(group).at(name).get<std::string>());
  }
  template <size_t N>
  std::array<uint8_t, N> array(const char* name) const {
    return array_from_hex<N>(text(name));
  }
  template <size_t N>
  std::array<uint8_t, N> array(const char* group, const char* name) const {
    return array_from_hex<N>(json_.at(group).at(name).get<std::string>());
  }
  crypto::PublicKey public_key(const char* name) const { return array<32>("public_keys", name); }
  crypto::KeyPair key_pair(const char* name) const {
    const auto secret = array<32>("private_keys", name);
    return crypto::KeyPair::from_secret(secret);
  }
  crypto::SigningKeyPair issuer() const {
    const auto seed = array<32>("private_keys", "issuer_ed25519");
    return crypto::SigningKeyPair::from_seed(seed);
  }
  crypto::Key key(const char* name) const {
    const auto bytes = array<32>(name);
    return crypto::Key(bytes);
  }
  template <typename T>
  T input(const char* name) const {
    return json_.at("inputs").at(name).get<T>();
  }
  /// "0x…" text of `inputs`.
  uint64_t input_hex(const char* name) const { return std::stoull(input<std::string>(name), nullptr, 16); }
  static base::PathId client_address() { return base::ipv4_path(192, 0, 2, 1, 27015); }

 private:
  nlohmann::json json_;
};

}  // namespace lattice::test
