// See connector.h.
#include "world/connector.h"

#include <cstddef>
#include <cstdio>

namespace lattice::world {

crypto::PublicKey Connector::new_key(crypto::EntropySource& entropy) {
  if (keys_.size() == kMaxUnusedKeys) keys_.erase(keys_.begin());
  keys_.push_back(crypto::KeyPair::generate(entropy));
  return keys_.back().public_key();
}

size_t Connector::key_of(const wire::TokenFields& fields) const {
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (keys_[i].public_key() == fields.cnf) return i;
  }
  return kNone;
}

OpResult Connector::check(std::span<const uint8_t> token, const char** error) const {
  wire::TokenFields fields;
  if (wire::parse_token(token, &fields) != wire::TokenStatus::kOk) {
    *error = "The connect token is malformed. Ask the issuer for a new one.";
    return OpResult::kInvalid;
  }
  if (key_of(fields) != kNone) return OpResult::kOk;
  *error =
      "The connect token was made for a client key that this world no longer holds: it was used, or made "
      "for another world, or 4 newer keys took its place. Get a token for a new key of "
      "lattice_world_new_client_key().";
  return OpResult::kInvalid;
}

OpResult Connector::connect(fragment::FragmentingEndpoint& endpoint, const base::PathId& server,
                            std::span<const uint8_t> token, const char** error) {
  wire::TokenFields fields;
  if (wire::parse_token(token, &fields) != wire::TokenStatus::kOk) return OpResult::kInvalid;
  if (fields.protocol_id != wire::kProtocolId) {
    if (((fields.protocol_id ^ wire::kProtocolId) & wire::kProtocolMagicMask) != 0) {
      *error = "The connect token is not one of this protocol. Ask the issuer for a new one.";
      return OpResult::kInvalid;
    }
    const wire::ProtocolVersion wanted = wire::version_of(fields.protocol_id);
    const wire::ProtocolVersion own = wire::version_of(wire::kProtocolId);
    std::snprintf(version_text_, sizeof version_text_,
                  "The connect token is for protocol version %u.%u, and this library speaks %u.%u. Update "
                  "the older one.",
                  wanted.major, wanted.minor, own.major, own.minor);
    *error = version_text_;
    return OpResult::kInvalid;
  }
  const size_t key = key_of(fields);
  if (key == kNone) return OpResult::kInvalid;
  switch (endpoint.connect(server, token, keys_[key], &connection_)) {
    case reliability::ConnectResult::kOk:
      keys_.erase(keys_.begin() + static_cast<std::ptrdiff_t>(key));  // one key, one token, one connection
      return OpResult::kOk;
    case reliability::ConnectResult::kFull:
      *error = "Earlier connections are still saying goodbye. Connect again after a second.";
      return OpResult::kWouldBlock;
    case reliability::ConnectResult::kBadAddress:
      *error =
          "The server's address needs a host and a port above 0, and this world a way there: UDP or a back "
          "end.";
      return OpResult::kNotFound;
    case reliability::ConnectResult::kBadToken:
      *error = "The connect token was made for another key. Ask the issuer for a new one.";
      return OpResult::kInvalid;
    case reliability::ConnectResult::kSchemaMismatch:
      *error = "The connect token states another schema. Build client and server from the same types.";
      return OpResult::kInvalid;
    case reliability::ConnectResult::kAlreadyConnecting:
      break;
  }
  *error = "This world is already connecting to that server.";
  return OpResult::kNotAllowed;
}

}  // namespace lattice::world
