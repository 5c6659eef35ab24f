// The answer to a message that is offered for sending.
#pragma once

#include <cstdint>

namespace lattice::reliability {

enum class SendResult : uint8_t {
  kOk,
  kWouldBlock,      ///< R-08: the queue is full; nothing was dropped, try after the next update.
  kTooLarge,        ///< Longer than max_body_bytes() of the channel's mode, or than 256 fragments.
  kNotConnected,    ///< Stale handle, still connecting, or ending.
  kInvalidChannel,  ///< Channel 14, an undeclared or bulk channel, is_fragment, or a control body without a
                    ///< known type.
};

}  // namespace lattice::reliability
