// See schema.h.
#include "world/schema.h"

#include "reliability/limits.h"
#include "replication/snapshot_format.h"

namespace lattice::world {
namespace {

// The channel table of both ends in the form of Y-15: one line per channel.
std::string channel_table(uint8_t transfer_channel, bool transport_only) {
  std::string text =
      "channel 0 unreliable\n"
      "channel 1 unreliable_sequenced\n"
      "channel 2 reliable_unordered\n"
      "channel 3 reliable_ordered\n";
  if (transfer_channel != 0) text += "channel " + std::to_string(transfer_channel) + " bulk\n";
  text +=
      "channel 14 ack\n"
      "channel 15 reliable_ordered\n";
  return transport_only ? text + "transport only\n" : text;
}

// Largest changes of an object that go in pieces, and of one that a single part of a snapshot always holds.
constexpr size_t kMaxObjectBytes = replication::kMaxLongBytes - replication::kEntryOverheadBytes;
constexpr size_t kMaxPredictedBytes = reliability::kMaxSnapshotBody - replication::kEntryOverheadBytes;

constexpr const char* kSealed =
    "The schema is fixed since the first lattice_place(), pump, lattice_connect(), lattice_spawn(), "
    "lattice_placed() or lattice_set_input(). Register every type and the input right after creating the "
    "world.";

}  // namespace

bool Schema::add_type(const lattice_type_desc& desc, std::string* error) {
  if (fixed_) {
    *error = kSealed;
    return false;
  }
  serialization::Layout layout;
  if (!serialization::Layout::compile_object(desc, &layout, error)) return false;
  const size_t largest_bytes = (layout.max_delta_bits() + 7) / 8;
  if (largest_bytes > kMaxObjectBytes) {
    *error = "Type '" + std::string(desc.name) + "' can take " + std::to_string(largest_bytes) +
             " bytes; at most " + std::to_string(kMaxObjectBytes) +
             " can be sent. Declare smaller capacities or split it into several objects.";
    return false;
  }
  // A state in pieces comes too late to correct a prediction.
  if ((desc.flags & LATTICE_TYPE_PREDICTED) != 0 && largest_bytes > kMaxPredictedBytes) {
    *error = "Type '" + std::string(desc.name) + "' can take " + std::to_string(largest_bytes) +
             " bytes and is predicted; at most " + std::to_string(kMaxPredictedBytes) +
             " fit a datagram. Declare smaller capacities, or take LATTICE_TYPE_PREDICTED away.";
    return false;
  }
  return registry_.add_type(desc, error);
}

bool Schema::set_input(const lattice_input_desc& desc, std::string* error) {
  if (fixed_) {
    *error = kSealed;
    return false;
  }
  return registry_.set_input(desc, error);
}

void Schema::fix(bool quantize_all) {
  if (fixed_) return;
  fixed_ = true;
  for (size_t i = 0; i < registry_.type_count(); ++i) {
    const serialization::TypeInfo& type = registry_.type_at(i);
    const bool exact = (type.flags & LATTICE_TYPE_EXACT_SIMULATION) != 0;
    const bool round = (quantize_all && !exact) || (type.flags & LATTICE_TYPE_QUANTIZE_SIMULATION) != 0;
    const bool compare = (type.flags & LATTICE_TYPE_COMPARE_ALWAYS) != 0;
    types_.add(type.type_id, type.layout,
               {static_cast<float>(type.base_priority), round, compare, type.predicted()});
  }
}

std::string Schema::text() const {
  return registry_.canonical_text(channel_table(transfer_channel_, transport_only_));
}

uint64_t Schema::id() const {
  return registry_.schema_hash(channel_table(transfer_channel_, transport_only_));
}

}  // namespace lattice::world
