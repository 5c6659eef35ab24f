// Builds the snapshot of one client for one tick: chooses entries by priority under a byte budget and
// cuts them into parts that each fit one datagram. Spec: X-01…, C-04, C-05, S-06, B-06.
//
// True of every result: it has 1 to 15 parts, each of at most part_capacity_bytes, with entries in ascending
// network_id. If all entries fit, they ascend over all parts. Otherwise the highest accumulated priorities go
// first. The same inputs give the same bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lattice/authoring/bit_writer.h"
#include "replication/entry_cache.h"
#include "replication/recipient_state.h"
#include "replication/snapshot_format.h"
#include "replication/version_history.h"

namespace lattice::replication {

/// One message to send on channel 1 with is_snapshot. All parts of a tick take the same sequence.
struct SnapshotPart {
  std::span<const uint8_t> bytes;
  uint32_t receipt = 0;  // for the transport, whose verdict goes to RecipientState::on_receipt
};

class SnapshotBuilder {
 public:
  struct Config {
    uint32_t part_capacity_bytes = 1100;  // kMinPartCapacity..kMaxPartBytes
    uint32_t tick_rate_hz = 60;
    uint32_t send_interval_ticks = 2;
    float owner_boost = 4.0f;            // C-04: for the client's own objects
    uint32_t unchanged_marker_ms = 200;  // S-06: longest silence about a moving object
  };
  struct Stats {
    uint64_t snapshots = 0, parts = 0, bytes = 0;
    uint64_t full_entries = 0, delta_entries = 0, removed_entries = 0, unchanged_entries = 0;
    uint64_t postponed = 0;    // entries that did not fit the budget; they keep their priority
    uint64_t over_budget = 0;  // entries that are longer than the budget of their snapshot
    uint64_t oversized = 0;    // objects whose state does not fit one part; they are never sent
  };

  SnapshotBuilder(const Config& config, const ObjectTable& table, const VersionHistory& history);

  /// Starts a send at `tick`, the tick last recorded. No object may change between this call and the last
  /// build().
  void begin_send(Tick tick);

  /// Builds the parts for one client. There is at least one part, whatever the budget, even without entries.
  /// `header` supplies last_input_tick and input_margin; the builder fills in the other fields.
  /// `budget_bytes` bounds the sum of the bodies; 0: only the number of parts bounds them. The result is
  /// valid until the next build(). Each part's receipt must reach recipient.on_receipt once.
  std::span<const SnapshotPart> build(RecipientState& recipient, const SnapshotHeader& header,
                                      uint32_t budget_bytes);

  const Stats& stats() const { return stats_; }
  const EntryCache& cache() const { return cache_; }

 private:
  struct Candidate {
    uint64_t network_id;
    uint32_t index;  // slot of the object, or index of the pending removal
    uint32_t body;   // index in the EntryCache; kTooLarge when the kind has no body
    uint32_t bits;   // bits of kind, age and body, without the "more" bit and the id
    float priority;
    EntryKind kind;
    uint8_t age;  // age of a delta's baseline, in ticks
    bool is_own;  // a state of an object that the client owns
  };
  static constexpr uint32_t kTaken = UINT32_MAX;

  void collect(RecipientState& recipient);
  void collect_removals(RecipientState& recipient);
  void collect_marker(const ObjectKnowledge& known, uint32_t slot);
  void collect_state(const RecipientState& recipient, ObjectKnowledge& known, uint32_t slot,
                     const VersionSummary& newest);
  bool cut_in_order(uint32_t budget_bytes);
  void choose(uint32_t budget_bytes);
  bool own_go_first(uint32_t budget_bytes) const;
  bool has_all_own(uint32_t part) const;
  uint32_t fill_part(uint32_t bytes, uint32_t* start);
  void write_parts(RecipientState& recipient, const SnapshotHeader& header);
  void write_entry(BitWriter& out, const RecipientState& recipient, const Candidate& candidate,
                   uint64_t previous);
  void account(RecipientState& recipient, const Candidate& candidate);

  Config config_;
  const ObjectTable& table_;
  const VersionHistory& history_;
  EntryCache cache_;
  Tick tick_ = 0;
  uint32_t marker_ticks_ = 0;
  /// After so many ticks, a removal whose part was neither acked nor lost is sent again.
  uint32_t resend_ticks_ = 0;
  uint32_t own_count_ = 0;             // own objects that differ from their acked state
  uint32_t own_bits_ = 0;              // bits of their entries
  std::vector<Candidate> removals_;    // of one client, ascending network_id
  std::vector<Candidate> candidates_;  // ascending network_id
  std::vector<uint32_t> order_;        // candidate indexes by priority, kTaken once chosen
  std::vector<uint32_t> chosen_;       // candidate indexes, part after part, ascending within each
  std::vector<uint32_t> cuts_;         // where each part ends in chosen_
  std::vector<uint8_t> buffer_;        // kMaxParts parts
  std::vector<SnapshotPart> parts_;
  Stats stats_;
};

}  // namespace lattice::replication
