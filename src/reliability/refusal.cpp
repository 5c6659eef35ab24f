#include "reliability/refusal.h"

#include "base/assert.h"

namespace lattice::reliability {
namespace {
// refusal_of() relies on the lists being joined in this order.
static_assert(static_cast<int>(Refusal::kMalformed) == 0);
static_assert(static_cast<int>(Refusal::kTruncated) == static_cast<int>(connection::OpenRefusal::kCount) - 1);
static_assert(static_cast<int>(Refusal::kRekeyMalformed) == static_cast<int>(Refusal::kMissingAck) + 1);
}  // namespace

const char* refusal_name(Refusal refusal) {
  switch (refusal) {
#define LATTICE_X(name, text) \
  case Refusal::name:         \
    return text;
    LATTICE_REFUSALS(LATTICE_X)
#undef LATTICE_X
    case Refusal::kCount:
      break;
  }
  return "unknown";
}

Refusal refusal_of(connection::OpenRefusal refusal) {
  LATTICE_ASSERT(refusal != connection::OpenRefusal::kNone);
  return static_cast<Refusal>(static_cast<int>(refusal) - 1);
}

Refusal refusal_of(wire::FramingError error) {
  LATTICE_ASSERT(error != wire::FramingError::kNone);
  return static_cast<Refusal>(static_cast<int>(Refusal::kTruncated) + static_cast<int>(error) - 1);
}

Refusal refusal_of(connection::RotationRefusal refusal) {
  LATTICE_ASSERT(refusal != connection::RotationRefusal::kNone);
  return static_cast<Refusal>(static_cast<int>(Refusal::kRekeyMalformed) + static_cast<int>(refusal) - 1);
}

}  // namespace lattice::reliability
