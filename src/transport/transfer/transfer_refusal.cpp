#include "transport/transfer/transfer_refusal.h"

namespace lattice::transfer {

const char* transfer_refusal_name(TransferRefusal refusal) {
  switch (refusal) {
#define LATTICE_X(name, text) \
  case TransferRefusal::name: \
    return text;
    LATTICE_TRANSFER_REFUSALS(LATTICE_X)
#undef LATTICE_X
    case TransferRefusal::kNone:
      return "transfer_ok";
    case TransferRefusal::kCount:
      break;
  }
  return "transfer_unknown_refusal";
}

}  // namespace lattice::transfer
