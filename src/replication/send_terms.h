// What interest management asks of the states that a client gets: who goes first, how often, and what goes
// together.
#pragma once

#include <cstdint>
#include <vector>

#include "replication/object_table.h"

namespace lattice::replication {

/// What holds for one object and one client.
struct SendTerms {
  float nearness = 1.0f;        // a factor of its priority: 1 near, towards 0 far (C-04); 1 if nobody asked
  uint32_t interval_ticks = 0;  // least ticks between two states
  uint32_t group = kNoSlot;     // what has the same group leaves in one part (D-49)
};

/// The terms of one client.
class SendRules {
 public:
  virtual ~SendRules() = default;
  /// `with_nearness`: where everything fits, nobody needs to know how far away an object is.
  /// `out` has the defaults. An answer of twelve bytes as a value would go through memory, and be waited for.
  virtual void terms(uint32_t slot, bool with_nearness, SendTerms* out) const = 0;
  /// True, with the terms, where all objects have the same ones but for nearness.
  virtual bool common_terms(SendTerms* out) const = 0;
  /// False when no interval is longer than that of snapshots.
  virtual bool slows() const = 0;
  /// Changes when objects come into groups or out of them.
  virtual uint32_t groups_version() const = 0;
  /// Appends the objects of a group, whether the client has them or not.
  virtual void add_members(uint32_t group, std::vector<uint32_t>* out) const = 0;
};

}  // namespace lattice::replication
