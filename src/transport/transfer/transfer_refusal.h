// Every reason to refuse a chunk or a control message of a transfer. All but the last three close the
// connection: only a peer that breaks the protocol causes them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lattice::transfer {

#define LATTICE_TRANSFER_REFUSALS(X)                                                                \
  X(kMalformed, "transfer_malformed")        /* a body that no sender may send */                   \
  X(kNoChannel, "transfer_no_channel")       /* control messages without a bulk channel */          \
  X(kBadId, "transfer_bad_id")               /* an offer out of sequence (B-3) */                   \
  X(kTooMany, "transfer_too_many")           /* a ninth at a time (B-4) */                          \
  X(kUnknown, "transfer_unknown")            /* of a transfer that was never offered */             \
  X(kBadState, "transfer_bad_state")         /* accepted twice; held or sent before it was */       \
  X(kPastEnd, "transfer_past_end")           /* a chunk past the end */                             \
  X(kTooShort, "transfer_too_short")         /* a chunk below 256 bytes before the end (B-9) */     \
  X(kTooScattered, "transfer_too_scattered") /* chunks that leave too many gaps (B-14) */           \
  X(kTooLarge, "transfer_too_large")         /* an offer over the configured size: answered */      \
  X(kDuplicate, "transfer_duplicate")        /* a chunk that was here already: normal after loss */ \
  X(kLate, "transfer_late")                  /* a chunk of a transfer that ended: normal */

enum class TransferRefusal : uint8_t {
  kNone,
#define LATTICE_X(name, text) name,
  LATTICE_TRANSFER_REFUSALS(LATTICE_X)
#undef LATTICE_X
      kCount,
};

/// A stable lower-case name such as "transfer_too_many"; never null.
const char* transfer_refusal_name(TransferRefusal refusal);

/// Whether this refusal closes the connection.
constexpr bool closes(TransferRefusal refusal) {
  return refusal != TransferRefusal::kNone && refusal < TransferRefusal::kTooLarge;
}

}  // namespace lattice::transfer
