// Builds the snapshot of one client for one tick: finds what the client needs, chooses by priority under a
// byte budget, and cuts the result into parts that each fit one datagram. Spec: D-11 to D-17, D-40 to D-43,
// C-04, C-05.
//
// Three steps: collect() makes candidates of what is new to the client; plan() cuts them into blocks and
// parts, and counts their bits exactly; write() writes them. True of every result: parts are at most
// part_capacity_bytes long, and together within the budget. If not everything fits, the highest accumulated
// priorities go first. The same inputs give the same bytes.
//
// Objects that change all the time come into step (StepList), and their blocks are copied from the BlockCache
// behind the other entries. Nothing of such an object is visited. Where the budget is too small for all of
// them, their groups take turns by priority (StepPlan). Where the distance makes the priority of each object
// another one, they come out of step instead.
//
// A state whose entry is longer than a part or than the budget goes in pieces (LongSends). Pieces fill what
// the other entries leave of the budget. While there are any, the other entries leave at least a quarter.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/assert.h"
#include "lattice/authoring/bit_writer.h"
#include "replication/block_cache.h"
#include "replication/block_plan.h"
#include "replication/changed_groups.h"
#include "replication/entry_cache.h"
#include "replication/replica_list.h"
#include "replication/send_terms.h"
#include "replication/snapshot_format.h"
#include "replication/state_store.h"
#include "replication/step_plan.h"

namespace lattice::replication {

/// One message to send on channel 1 with is_snapshot. All parts of a tick take the same sequence.
struct SnapshotPart {
  std::span<const uint8_t> bytes;
  uint32_t receipt = 0;  // for the transport, whose verdict goes to ReplicaList::on_receipt
};

class SnapshotBuilder {
 public:
  /// More parts than this in one snapshot are not sent: the rest keeps its priority.
  static constexpr uint32_t kMaxParts = 64;
  /// New objects in a snapshot, about: a join of more takes no pump of either side for long.
  static constexpr uint32_t kMostNewObjects = 2560;
  /// States in pieces begin so many parts of one snapshot at most.
  static constexpr uint32_t kMaxPieceParts = 16;

  struct Config {
    uint32_t part_capacity_bytes = 1100;  // kMinPartCapacity..kMaxPartBytes
    uint32_t tick_rate_hz = 60;
    uint32_t send_interval_ticks = 2;
    float owner_boost = 4.0f;  // C-04: for the client's own objects
    /// There is room for the states of so many objects from the start. Memory that is new to the process is
    /// given page by page when it is first written, which takes a quarter of the time of a large snapshot.
    uint32_t usual_states = 0;
  };
  struct Stats {
    uint64_t snapshots = 0, parts = 0, bytes = 0;
    uint64_t full_entries = 0, delta_entries = 0, removed_entries = 0, rested_entries = 0;
    uint64_t postponed = 0;    // entries that did not fit the budget; they keep their priority
    uint64_t over_budget = 0;  // entries that are longer than the budget, where that is too small for pieces
    uint64_t pieces = 0;       // of states that fit no part, or not the budget
    uint64_t in_step = 0;      // of the delta entries, those in shared blocks
    uint64_t groups_cut = 0;   // groups that were too long to leave in one part
  };

  SnapshotBuilder(const Config& config, const ObjectTable& table, StateStore& store);

  /// Starts a send at `tick`, the tick last recorded. No object may change between this call and the last
  /// build().
  void begin_send(Tick tick);

  /// Whether a client to which nothing is new may get no snapshot at all.
  enum class Silence : uint8_t { kForbidden, kAllowed };

  /// True when build() would find nothing to say: ReplicaList::rests().
  bool rests(ReplicaList& recipient) { return recipient.rests(store_, changed_); }
  /// Builds the parts for one client. There is at least one part, whatever the budget, even without entries,
  /// unless `silence` allows none and the snapshot before said that nothing was new (D-44).
  /// `header` supplies the fields about inputs; the builder fills in the others. `budget_bytes` bounds the
  /// sum of the bodies; 0: only the number of parts bounds them. The result is valid until the next build().
  /// Each part's receipt must reach recipient.on_receipt once. `rules` may be null.
  std::span<const SnapshotPart> build(ReplicaList& recipient, const SnapshotHeader& header,
                                      uint32_t budget_bytes, const SendRules* rules = nullptr,
                                      Silence silence = Silence::kForbidden) {
    begin_run();
    prepare(recipient);
    const auto parts = build_prepared(recipient, header, budget_bytes, rules, silence);
    settle(recipient);
    return parts;
  }
  /// The steps of build(). Threads with a builder each may call build_prepared() at a time, for different
  /// clients, when all clients were prepared before; they are settled after. In between, nothing changes that
  /// clients share. The parts of all clients since begin_run() stay, in order, in run(); its memory may move
  /// with the next.
  void begin_run() { run_bytes_ = used_bytes_ = 0; }
  std::span<const uint8_t> run() const { return std::span(buffer_).first(run_bytes_ + used_bytes_); }
  void prepare(ReplicaList& recipient) { recipient.follow_longs(tick_, store_, resend_ticks_); }
  std::span<const SnapshotPart> build_prepared(ReplicaList& recipient, const SnapshotHeader& header,
                                               uint32_t budget_bytes, const SendRules* rules,
                                               Silence silence);
  void settle(ReplicaList& recipient) { recipient.pin_longs(store_); }

  /// What the next entry about an object would be.
  struct Outlook {
    bool in_pieces = false;   // it does not fit one part, or not the budget
    bool full = false;        // no baseline is left
    uint32_t age = 0;         // of the baseline; 0 with `full`
    uint32_t alone_bits = 0;  // of a part with this entry alone; of all pieces of an entry in pieces
  };
  /// Looks at an object of the set of which a state was recorded, as if it were sent at `tick` in a snapshot
  /// with `budget_bytes` for it. Between begin_send() and the last build() the tick must be that of the send.
  Outlook outlook(const ReplicaList& recipient, uint32_t slot, Tick tick, uint32_t budget_bytes);
  /// The longest part.
  uint32_t part_capacity_bytes() const { return config_.part_capacity_bytes; }

  const Stats& stats() const { return stats_; }
  const EntryCache& cache() const { return cache_; }
  const BlockCache& blocks() const { return blocks_; }

 private:
  /// What alone_bits() adds to an entry, at most.
  static constexpr uint32_t kMostAloneBits =
      8 * (static_cast<uint32_t>(kSnapshotHeaderBytes) + 3 + 3 + 5) + 7;

  struct Baseline {
    uint32_t version = 0;  // 0: none, a full entry is needed
    uint32_t age = 0;      // 0: the state in which the object was placed (D-51)
  };

  /// A state that the client needs, while others may go before it.
  struct Waiting {
    float priority = 0;
    uint32_t index = 0;  // of the replica
    uint32_t slot = 0;
    uint32_t group = kNoSlot;
    uint32_t place = 0;  // in waiting_: its own, or that of the first of its group
    bool is_own = false;
    bool is_new = false;         // a newcomer: the first state of a stay, for a client that has loaded
    bool may_step = true;        // may come into step
    bool goes_with_own = false;  // an own object, or one in a group with one
  };
  /// What the states of a group take, about.
  struct GroupSize {
    uint32_t group = 0;
    uint32_t bytes = 0;
    bool has_own = false;
  };
  /// Bytes of a snapshot that the other entries leave to pieces.
  struct PieceShare {
    uint32_t bytes = 0;
    uint32_t usual_bytes = 0;  // if nothing waited for a snapshot without pieces
  };
  /// An entry that is longer goes in pieces.
  struct PieceBounds {
    uint32_t alone_bytes = UINT32_MAX;     // of an object without a group
    uint32_t in_group_bytes = UINT32_MAX;  // of one in a group
  };
  /// What the entries that choose() takes may fill.
  struct Room {
    uint32_t bytes = 0;        // of this snapshot; 0: only the number of parts bounds them
    uint32_t whole_bytes = 0;  // of one without pieces
    uint32_t usual_bytes = 0;  // of one beside pieces
  };

  /// What leaves together where a budget has to choose.
  struct Unit {
    uint32_t lead = 0;  // its first candidate
    uint32_t bits = 0;  // about
    bool has_own = false;
    bool has_predicted = false;

    bool fits(uint32_t part_bits) const {
      return bits + kMostAloneBits <= part_bits && (!has_predicted || bits <= part_bits / 2);
    }
  };

  void make_room(uint32_t states);
  /// `out` has the defaults.
  void read_terms(uint32_t slot, SendTerms* out) const {
    if (has_common_terms_) {
      *out = common_terms_;
    } else {
      LATTICE_ASSERT(rules_ != nullptr);  // only while collect() and what comes before it run
      rules_->terms(slot, needs_priorities_, out);
    }
  }
  bool may_step(const SendTerms& terms) const;
  bool is_early(uint32_t slot, const Replica& replica, const SendTerms& terms) const;
  void end_unfit_steps(ReplicaList& recipient);
  void may_go_along(const Replica& replica, uint32_t slot, uint32_t index, const SendTerms& terms);
  void measure_groups(const ReplicaList& recipient);
  GroupSize* find_size(uint32_t group);
  static uint32_t about_bytes(const ReplicaList& recipient, const Waiting& waiting);
  void complete_groups(const ReplicaList& recipient);
  size_t hold_back_new(const ReplicaList& recipient);
  void rank_groups();
  template <class Item, class Visit>
  void for_each_group(std::vector<Item>& items, Visit visit);
  uint32_t removal_group(const Removal& removal) const;
  void make_units(const ReplicaList& recipient, uint32_t part_bits);
  void plan_steps(ReplicaList& recipient, uint32_t budget_bytes);
  size_t line_up(ReplicaList& recipient, uint32_t budget_bytes);
  void end_build(ReplicaList& recipient, size_t postponed, uint32_t budget_bytes);
  size_t collect(ReplicaList& recipient, uint32_t bound_bytes, bool is_unbounded);
  size_t collect_removals(ReplicaList& recipient, uint32_t bound_bytes);
  void add_removal(ReplicaList& recipient, uint32_t index);
  void complete_removals(ReplicaList& recipient);
  bool is_on_its_way(const Replica& replica, const StateSummary& newest) const;
  bool may_be_predicted(const Replica& replica, uint32_t slot) const;
  bool collect_usual(ReplicaList& recipient, uint32_t slot, uint32_t index);
  void validate_usual(const ReplicaList& recipient, const Candidate& usual);
  bool collect_object(ReplicaList& recipient, uint32_t slot, uint32_t index);
  bool collect_rest(ReplicaList& recipient, uint32_t slot, uint32_t index, const StateSummary& newest);
  float gain(const ObjectInfo& info, Tick since, float weight) const;
  float change_priority(const Replica& replica, uint32_t slot, bool is_own, bool since_ack) const;
  void collect_state(ReplicaList& recipient, uint32_t slot, uint32_t index, bool is_own,
                     const SendTerms& terms);
  static size_t entries_for(const ReplicaList& recipient, uint32_t budget_bytes);
  size_t admit(const ReplicaList& recipient, uint32_t budget_bytes, const PieceBounds& bounds);
  bool streams(const Replica& replica, const StateSummary& newest) const;
  bool add_candidate(const ReplicaList& recipient, const Waiting& waiting, const PieceBounds& bounds);
  Baseline baseline_of(const ReplicaList& recipient, const Replica& replica, uint32_t slot, uint32_t index,
                       const StateSummary& newest) const;
  bool describe(const ReplicaList& recipient, const Replica& replica, uint32_t slot, uint32_t index,
                Candidate* candidate);
  uint32_t alone_bits(const Candidate& candidate) const;
  void choose(ReplicaList& recipient, const Room& room, uint32_t max_parts);
  float first_left_out() const;
  bool fits(const Candidate& candidate, uint32_t part_bits) const;
  bool sort_by_priority(const ReplicaList& recipient, uint32_t part_bits, uint32_t whole_bits);
  void decide_firsts(ReplicaList& recipient, uint32_t budget_bits, uint32_t max_parts, bool may_turn);
  bool fit_together(uint32_t count, uint32_t budget_bits, uint32_t max_parts);
  void choose_units();
  uint32_t bits_together(const Candidate& candidate) const;
  bool select(double limit_bits);
  /// About the bits of an entry: whether a mask or a head is that of the entry before is not known yet.
  static uint32_t estimate_bits(const Candidate& candidate) {
    constexpr uint32_t kGapBits = 4;
    return candidate.bits + candidate.mask.count + kGapBits;
  }
  void write(ReplicaList& recipient, const SnapshotHeader& header, uint32_t budget_bytes);
  void validate(const ReplicaList& recipient);
  std::span<uint8_t> unused() { return std::span(buffer_).subspan(run_bytes_ + used_bytes_); }
  BitWriter begin_part(ReplicaList& recipient, const SnapshotHeader& header, uint32_t own_count);
  void end_part(BitWriter& out);
  void note_own(uint32_t count);
  void write_shared(ReplicaList& recipient, const SnapshotHeader& header, const StepPlan::Shared& shared);
  void write_block(BitWriter& out, ReplicaList& recipient, const BlockPlan::Block& block);
  void write_entry_head(BitWriter& out, ReplicaList& recipient, const BlockPlan::Block& block,
                        const Candidate& candidate, const Candidate* previous);
  static void write_removal(BitWriter& out, const Removal& removal);
  void write_full_head(BitWriter& out, const Candidate& candidate, const Candidate* previous);
  void account(ReplicaList& recipient, EntryKind kind, std::span<const uint32_t> order);
  SentEntry account_state(ReplicaList& recipient, const Candidate& candidate);
  void begin_steps(ReplicaList& recipient);
  void begin_step(ReplicaList& recipient, std::span<const Candidate> of_group);
  uint32_t count_own(const BlockPlan::Part& part) const;

  // In snapshot_builder_pieces.cpp.
  bool may_send_pieces(uint32_t budget_bytes) const;
  static PieceShare piece_share(const ReplicaList& recipient, uint32_t budget_bytes);
  void begin_longs(ReplicaList& recipient, uint32_t budget_bytes);
  std::span<const uint8_t> encode_long(const ReplicaList& recipient, const Replica& replica, uint32_t index,
                                       const Candidate& candidate);
  void write_pieces(ReplicaList& recipient, const SnapshotHeader& header, uint32_t budget_bytes);
  void write_piece_parts(ReplicaList& recipient, const SnapshotHeader& header, uint32_t budget_bytes);
  void fill_with_pieces(ReplicaList& recipient, size_t room_bytes);
  void write_run(ReplicaList& recipient, LongSend& send, PieceRun run);

  Config config_;
  const ObjectTable& table_;
  StateStore& store_;
  EntryCache cache_;
  BlockCache blocks_;
  ChangedGroups changed_;
  const SendRules* rules_ = nullptr;  // of the client that build() works for
  SendTerms common_terms_;            // of all its objects
  bool has_common_terms_ = true;      // false: rules_ says it of each
  Tick tick_ = 0;
  bool keep_ = false;       // states of this tick are kept long
  size_t held_back_ = 0;    // objects for which the client has no room yet, or this snapshot
  bool unchanged_ = false;  // nothing is new to the client that build() works for (D-44)
  /// After so many ticks, an entry whose part was neither acked nor lost is sent again.
  uint32_t resend_ticks_ = 0;
  uint32_t sure_age_ = 0;       // a state so many ticks old is in the store, and named by an age
  uint32_t own_count_ = 0;      // own objects that differ from their acked state, without those in step
  uint32_t own_missing_ = 0;    // of own_count_ and of those in step, those that the part lacks
  bool confirmed_own_ = false;  // some part lacks none
  std::vector<Candidate> candidates_;
  std::vector<Waiting> waiting_;       // states that the client needs, in ascending slot
  std::vector<Waiting> long_waiting_;  // those whose entry does not fit a part
  std::vector<Waiting> along_;         // states that go where another of their group does
  std::vector<uint8_t> long_scratch_;
  std::vector<Word> long_seen_;  // a long state as the client may see it
  std::vector<uint64_t> ranks_;
  uint32_t first_count_ = 1;        // of them, those that are taken in any case
  std::vector<uint64_t> deferred_;  // newcomers beyond their share
  bool any_groups_ = false;         // among waiting_ and the removals
  bool any_new_ = false;            // among waiting_
  std::vector<uint64_t> by_group_;  // group << 32 | index in waiting_ or candidates_
  std::vector<uint32_t> members_;   // slots of a group
  std::vector<GroupSize> sizes_;    // by group
  std::vector<uint32_t> groups_;
  std::vector<uint32_t> removals_;  // those that may go with this snapshot
  std::vector<Unit> units_;
  BlockPlan plan_;
  StepPlan steps_;  // of the client that build() works for, and below
  bool may_take_turns_ = false;
  bool needs_priorities_ = true;  // not everything may fit
  bool takes_all_ = false;        // of the states nothing is left to choose: each is a candidate at once
  bool is_joining_ = false;       // the client still waits for what it was to have when it joined
  std::vector<float> alone_;      // priorities of what is not in step
  std::vector<float> newcomers_;  // those among them
  std::vector<uint8_t> buffer_;   // one after another, the parts of a run
  size_t run_bytes_ = 0;          // of buffer_, by the snapshots before
  size_t used_bytes_ = 0;         // behind them, by the last snapshot
  std::vector<SnapshotPart> parts_;
  Stats stats_;
};

}  // namespace lattice::replication
