// Development tokens: an authority has its own issuer, and a client of the same user finds the issuer's key
// by the server's address. Over UDP the key is in a private file while the world lives. On a simulated
// network the network holds the key, since both worlds are in this process.
// docs/decisions/0016-development-tokens.md.
#pragma once

#include <vector>

#include "lattice/lattice.h"
#include "platform/address.h"
#include "platform/private_file.h"
#include "transport/crypto/development_key.h"

namespace lattice::abi {

struct SimulatedDevelopmentKey {
  platform::Address address;
  crypto::DevelopmentKey key;
};
/// LATTICE_OK when an authority bound to `address` may honour development tokens; else sets the error.
lattice_result check_development_address(const platform::Address& address, const lattice_netsim* netsim);

/// Makes the key of one world available to clients, from publish() until destruction.
class DevelopmentOffer {
 public:
  DevelopmentOffer() = default;
  ~DevelopmentOffer();
  DevelopmentOffer(const DevelopmentOffer&) = delete;
  DevelopmentOffer& operator=(const DevelopmentOffer&) = delete;

  /// Call once. On failure sets the error and leaves no file.
  lattice_result publish(const platform::Address& address, lattice_netsim* netsim,
                         crypto::DevelopmentKey key);
  /// The path of the file, or "" when there is none.
  const char* path() const { return path_; }

 private:
  char path_[platform::kPrivatePathBytes] = "";
  lattice_netsim* netsim_ = nullptr;
  platform::Address address_;
};

/// Finds the key of a server for a client on `netsim` or on UDP. `server` is an address or the path of a key
/// file.
lattice_result find_development_key(const char* server, const lattice_netsim* netsim,
                                    crypto::DevelopmentKey* out);

}  // namespace lattice::abi
