#include "reliability/endpoint/refusal.h"

#include "base/assert.h"
#include "base/events.h"

namespace lattice::reliability {
namespace {
// refusal_of() relies on the lists being joined in this order.
static_assert(static_cast<int>(Refusal::kMalformed) == 0);
static_assert(static_cast<int>(Refusal::kTruncated) == static_cast<int>(connection::OpenRefusal::kCount) - 1);
static_assert(static_cast<int>(Refusal::kRekeyMalformed) == static_cast<int>(Refusal::kMissingAck) + 1);
}  // namespace

const char* refusal_name(Refusal refusal) {
  static constexpr const char* kNames[] = {
#define LATTICE_EVENT_LINK(id, name, text) name,
#define LATTICE_EVENT_FRAMING LATTICE_EVENT_LINK
#define LATTICE_EVENT_ROTATION LATTICE_EVENT_LINK
#define LATTICE_EVENT_ENDPOINT LATTICE_EVENT_LINK
#include "base/events.def"
  };
  return base::event_name(kNames, refusal);
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
