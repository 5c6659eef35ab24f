// Every reason to refuse a chunk or a control message of a transfer. All but the last three close the
// connection: only a peer that breaks the protocol causes them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lattice::transfer {

enum class TransferRefusal : uint8_t {
  kNone,
#define LATTICE_EVENT_TRANSFER(id, name, text) id,
#include "base/events.def"
  kCount,
};

/// A stable lower-case name such as "transfer_too_many"; never null.
const char* transfer_refusal_name(TransferRefusal refusal);

/// Whether this refusal closes the connection.
constexpr bool closes(TransferRefusal refusal) {
  return refusal != TransferRefusal::kNone && refusal < TransferRefusal::kTooLarge;
}

}  // namespace lattice::transfer
