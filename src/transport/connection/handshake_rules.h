// What both sides of the handshake count on.
#pragma once

#include <cstdint>

#include "transport/crypto/aead.h"

namespace lattice::connection {

/// The clocks of issuer, server and client may differ by so much.
inline constexpr uint64_t kClockSkewS = 30;

/// k3 and k4 each seal one message, so their nonce is fixed.
inline constexpr crypto::Nonce kHandshakeNonce{};

}  // namespace lattice::connection
