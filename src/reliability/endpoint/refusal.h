// Every reason to refuse bytes from the network at an endpoint, in the order of its counters. It includes the
// reasons of the link, the framing and key rotation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/counters.h"
#include "transport/connection/key_rotation.h"
#include "transport/connection/secure_link.h"
#include "transport/wire/message_framing.h"

namespace lattice::reliability {

enum class Refusal : uint8_t {
#define LATTICE_EVENT_LINK(id, name, text) id,
#define LATTICE_EVENT_FRAMING LATTICE_EVENT_LINK
#define LATTICE_EVENT_ROTATION LATTICE_EVENT_LINK
#define LATTICE_EVENT_ENDPOINT LATTICE_EVENT_LINK
#include "base/events.def"
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
