#include "transfer/transfer_refusal.h"

#include "base/events.h"

namespace lattice::transfer {

const char* transfer_refusal_name(TransferRefusal refusal) {
  static constexpr const char* kNames[] = {
      "none",
#define LATTICE_EVENT_TRANSFER(id, name, text) name,
#include "base/events.def"
  };
  return base::event_name(kNames, refusal);
}

}  // namespace lattice::transfer
