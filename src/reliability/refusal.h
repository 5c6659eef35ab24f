// One list of every reason to refuse bytes from the network: enumerators, counter names and the order of the
// counters. It includes the reasons of the link, the framing and key rotation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/counters.h"
#include "transport/connection/key_rotation.h"
#include "transport/connection/secure_link.h"
#include "transport/wire/message_framing.h"

namespace lattice::reliability {

#define LATTICE_ENDPOINT_REFUSALS(X)                                                                   \
  X(kHeaderTooShort, "header_too_short")           /* ends inside the outer header */                  \
  X(kHeaderBadMagic, "header_bad_magic")           /* not Lattice */                                   \
  X(kHeaderWrongVersion, "header_wrong_version")   /* P-02 */                                          \
  X(kHeaderUnknownType, "header_unknown_type")     /* P-04 */                                          \
  X(kHeaderBadPacketSeq, "header_bad_packet_seq")  /* overlong or cut varint */                        \
  X(kWrongRole, "wrong_role")                      /* a type this role never receives (P-04) */        \
  X(kUnknownConnection, "unknown_connection")      /* unknown id: answered by a reset at most (L-8) */ \
  X(kResetRate, "reset_rate")                      /* the same; no reset: too many to one prefix */    \
  X(kResetBudget, "reset_budget")                  /* the same; no reset: too many in all */           \
  X(kBadResetToken, "bad_reset_token")             /* another length, a second one, or to a server */  \
  X(kForeignAddress, "foreign_address")            /* known id, another source, not moving (L-04) */   \
  X(kForeignAddressRate, "foreign_address_rate")   /* the same, over 100 a second */                   \
  X(kPathResponseStray, "path_response_stray")     /* to no challenge, or from elsewhere */            \
  X(kHandshakeRefused, "handshake_refused")        /* the handshake's own counters say why */          \
  X(kNotReady, "not_ready")                        /* the handshake is not over, or the end is near */ \
  X(kBadKeepalive, "bad_keepalive")                /* closes: ProtocolError */                         \
  X(kBadDisconnect, "bad_disconnect")              /* closes: ProtocolError */                         \
  X(kReasonReserved, "reason_reserved")            /* one this peer may not tell: ProtocolError */     \
  X(kFragmentUnsupported, "fragment_unsupported")  /* this handler takes no fragments; closes */       \
  X(kFragmentMismatch, "fragment_mismatch")        /* F-06, F-07: disagrees with its group */          \
  X(kFragmentLength, "fragment_length")            /* F-06: empty, or not as long as the others */     \
  X(kFragmentTooLong, "fragment_too_long")         /* F-05: the message would exceed 290,816 bytes */  \
  X(kFragmentOrder, "fragment_order")              /* F-04: a group interrupted or out of order */     \
  X(kFragmentSnapshot, "fragment_snapshot")        /* engine traffic is never fragmented */            \
  X(kFragmentDuplicate, "fragment_duplicate")      /* unreliable: this fragment is stored already */   \
  X(kFragmentEvicted, "fragment_evicted")          /* F-06: a partial group gave way to a newer one */ \
  X(kFragmentTimeout, "fragment_timeout")          /* F-03: no new fragment of a group for 2 s */      \
  X(kFragmentStale, "fragment_stale")              /* F-04: a partial group overtaken: normal */       \
  X(kFragmentNoMemory, "fragment_no_memory")       /* reliable: closes, ResourceLimit */               \
  X(kBadControl, "bad_control")                    /* empty or unknown control body; closes */         \
  X(kMessageBeyondWindow, "message_beyond_window") /* R-09: 256 or more ahead; closes */               \
  X(kMessageRefusedByHandler, "message_refused")   /* Verdict::kProtocolError; closes */               \
  X(kMessageDuplicate, "message_duplicate")        /* reliable message seen before: normal */          \
  X(kMessageStale, "message_stale")                /* sequenced message overtaken: normal */           \
  X(kMessageLate, "message_late")                  /* its number may have wrapped: left unacked */     \
  X(kMessageNoMemory, "message_no_memory")         /* pool limit: left unacked, is sent again */       \
  X(kAckNeverSent, "ack_never_sent")               /* R-02 */                                          \
  X(kAckLate, "ack_late")                          /* too old: it may name two packets (R-4) */        \
  X(kAckSkipped, "ack_skipped")                    /* R-15: a number left out on purpose; closes */    \
  X(kEchoUnexpected, "echo_unexpected")            /* it echoes no probe of this side */

#define LATTICE_REFUSALS(X)    \
  LATTICE_OPEN_REFUSALS(X)     \
  LATTICE_FRAMING_ERRORS(X)    \
  LATTICE_ROTATION_REFUSALS(X) \
  LATTICE_ENDPOINT_REFUSALS(X)

enum class Refusal : uint8_t {
#define LATTICE_X(name, text) name,
  LATTICE_REFUSALS(LATTICE_X)
#undef LATTICE_X
      kCount,
};

inline constexpr size_t kRefusalCount = static_cast<size_t>(Refusal::kCount);
using RefusalCounters = base::Counters<Refusal, kRefusalCount>;

/// A stable lower-case name such as "framing_truncated"; never null.
const char* refusal_name(Refusal refusal);

/// The same reasons as the layers below name them; the argument is not kNone.
Refusal refusal_of(connection::OpenRefusal refusal);
Refusal refusal_of(wire::FramingError error);
Refusal refusal_of(connection::RotationRefusal refusal);

}  // namespace lattice::reliability
