// Begins the connection of this side to another: holds the keys that its tokens are made for (§7).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fragment/fragmenting_endpoint.h"
#include "transport/crypto/entropy.h"
#include "transport/crypto/x25519.h"
#include "transport/wire/token.h"
#include "world/op_result.h"

namespace lattice::world {

class Connector {
 public:
  static constexpr size_t kMaxUnusedKeys = 4;

  /// Makes a key pair for the next token and returns its public half. The oldest goes when there are more
  /// than kMaxUnusedKeys.
  crypto::PublicKey new_key(crypto::EntropySource& entropy);
  /// kOk when this side can connect with the token: it is whole, and made for a key that is held. Otherwise
  /// `error` names the reason.
  OpResult check(std::span<const uint8_t> token, const char** error) const;
  /// Begins to connect, with a token that check() took. When it cannot begin, `error` names the reason:
  /// kNotAllowed (there is a connection already), kWouldBlock (earlier connections are still ending),
  /// kNotFound (no route leads to that path, or its address has no host or port), kInvalid (the token).
  OpResult connect(fragment::FragmentingEndpoint& endpoint, const base::PathId& server,
                   std::span<const uint8_t> token, const char** error);

  /// The connection of this side, from connect() until it has ended.
  reliability::ConnectionHandle connection() const { return connection_; }
  /// It has ended.
  void forget() { connection_ = {}; }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  size_t key_of(const wire::TokenFields& fields) const;

  std::vector<crypto::KeyPair> keys_;
  char version_text_[128] = {};
  reliability::ConnectionHandle connection_;
};

}  // namespace lattice::world
