// snapshots: how many bytes a snapshot takes, by the encoder, on a recording of 901 cubes. Every frame
// becomes a snapshot at 60 Hz for one client, built by the SnapshotBuilder and read by a SnapshotApplier. The
// client's acknowledgement of a frame arrives six frames later, so the newest baseline that a lost packet
// cannot spoil is six frames old. After each frame the client's objects are compared with the recording,
// number by number.
//
// Without a recording the same is done with cubes that walk at random, which says little about compression
// and keeps the path tested.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <memory>

#include "base/random.h"
#include "child.h"
#include "lattice/cpp/types.h"
#include "recording.h"
#include "registry.h"
#include "replication/object_table.h"
#include "replication/replica_list.h"
#include "replication/snapshot_applier.h"
#include "replication/snapshot_builder.h"
#include "replication/state_store.h"
#include "serialization/layout.h"

namespace bench {
namespace {

namespace replication = lattice::replication;

constexpr uint32_t kType = 1;
constexpr uint32_t kBaselineFrames = 6;
constexpr size_t kMadeUpCubes = 64, kMadeUpFrames = 120;
constexpr double kUnitsPerMetre = 512;
/// Bits of the members at their widths: position 15 + 15 + 13 (a height of 0 to 8191), rotation 2 + 3 * 9.
constexpr double kPositionBits = 43, kRotationBits = 29, kFlagBits = 1;

// Nine bits of a component are in the recording, and must come back: a QUATERNION member has one code less
// than nine bits hold. So the rotation is four integers that travel together.
LATTICE_NETWORKED(Turn, (largest, uint8, BITS(2)), (a, uint16, BITS(9)), (b, uint16, BITS(9)),
                  (c, uint16, BITS(9)))
LATTICE_NETWORKED(Cube,
                  (position, vec3, BOUNDS(-32, 31.998046875, 0.001953125),
                   BOUNDS(-32, 31.998046875, 0.001953125), BOUNDS(0, 15.998046875, 0.001953125), POSITION),
                  (turn, Turn), (interacting, bool))

Cube cube_of(const CubeRecord& record) {
  Cube cube;
  cube.position = {static_cast<float>(record.x / kUnitsPerMetre),
                   static_cast<float>(record.y / kUnitsPerMetre),
                   static_cast<float>(record.z / kUnitsPerMetre)};
  cube.turn.largest = static_cast<uint8_t>(record.largest);
  cube.turn.a = static_cast<uint16_t>(record.a);
  cube.turn.b = static_cast<uint16_t>(record.b);
  cube.turn.c = static_cast<uint16_t>(record.c);
  cube.interacting = record.interacting != 0;
  return cube;
}

CubeRecord record_of(const Cube& cube) {
  const auto units = [](float metres) { return static_cast<int32_t>(metres * kUnitsPerMetre); };  // exact
  return {cube.turn.largest,
          cube.turn.a,
          cube.turn.b,
          cube.turn.c,
          units(cube.position.x),
          units(cube.position.y),
          units(cube.position.z),
          cube.interacting ? 1 : 0};
}

/// What changed between two frames: entries, and the least bits of their members.
struct Change {
  double entries = 0, bits = 0;
};
Change change_between(std::span<const CubeRecord> before, std::span<const CubeRecord> after) {
  Change change;
  for (size_t i = 0; i < after.size(); ++i) {
    const CubeRecord &from = before[i], &to = after[i];
    if (from == to) continue;
    change.entries += 1;
    if (from.x != to.x || from.y != to.y || from.z != to.z) change.bits += kPositionBits;
    if (from.largest != to.largest || from.a != to.a || from.b != to.b || from.c != to.c)
      change.bits += kRotationBits;
    if (from.interacting != to.interacting) change.bits += kFlagBits;
  }
  return change;
}

/// Writes every state that arrives to its object.
class Mirror final : public replication::SnapshotListener {
 public:
  explicit Mirror(replication::ObjectTable& table, const lattice::serialization::Layout& layout)
      : table_(table), layout_(layout) {}
  void on_spawn(uint32_t, replication::Tick) override {}
  void on_despawn(uint32_t, replication::Tick, replication::DespawnReason) override {}
  void on_state(uint32_t slot, replication::Tick, const lattice::serialization::Word* words,
                replication::EntryKind) override {
    layout_.dequantize(words, table_.host(slot));
  }
  void on_rested(uint32_t, replication::Tick) override {}

 private:
  replication::ObjectTable& table_;
  const lattice::serialization::Layout& layout_;
};

/// An authority, its one client, and the way between them.
class Line {
 public:
  Line(const replication::TypeTable& types, uint32_t cubes)
      : type_(*types.find(kType)),
        table_(cubes),
        builder_({.tick_rate_hz = 60, .send_interval_ticks = 1}, table_, store_),
        recipient_({.peer_id = 2}),
        mirror_table_(2 * cubes),
        mirror_(mirror_table_, *type_.layout),
        applier_(types, mirror_table_, mirror_, replication::slot_bound(cubes)) {
    for (uint32_t i = 0; i < cubes; ++i) {
      const uint32_t slot = table_.spawn(type_, 0, LATTICE_AUTHORITY_SERVER, 0, tick_);
      store_.begin(slot, type_);
    }
    recipient_.join(table_, store_);
  }

  /// Sends one frame. Returns the bytes of its snapshot; 0 when the client has not exactly this frame then.
  size_t send(std::span<const CubeRecord> frame) {
    ++tick_;
    for (size_t i = 0; const uint32_t slot : table_.ascending()) {
      *static_cast<Cube*>(table_.host(slot)[0]) = cube_of(frame[i++]);
      store_.mark(slot);
    }
    store_.record(table_, tick_);
    for (; !flights_.empty() && flights_.front().due_tick <= tick_; flights_.pop_front()) {
      recipient_.on_receipt(flights_.front().receipt, true);
    }
    size_t bytes = 0;
    builder_.begin_send(tick_);
    for (const replication::SnapshotPart& part : builder_.build(recipient_, {}, 0)) {
      if (applier_.apply(part.bytes) == replication::SnapshotApplier::Result::kRefused) return 0;
      flights_.push_back({tick_ + kBaselineFrames, part.receipt});
      bytes += part.bytes.size();
    }
    return mirrors(frame) ? bytes : 0;
  }

 private:
  struct Flight {
    uint32_t due_tick;
    uint32_t receipt;
  };
  bool mirrors(std::span<const CubeRecord> frame) {
    size_t i = 0;
    for (const uint32_t slot : mirror_table_.ascending()) {
      if (i == frame.size() ||
          record_of(*static_cast<const Cube*>(mirror_table_.host(slot)[0])) != frame[i++]) {
        return false;
      }
    }
    return i == frame.size();
  }

  const replication::ObjectType& type_;
  replication::ObjectTable table_;
  replication::StateStore store_;
  replication::SnapshotBuilder builder_;
  replication::ReplicaList recipient_;
  std::deque<Flight> flights_;
  replication::ObjectTable mirror_table_;
  Mirror mirror_;
  replication::SnapshotApplier applier_;
  uint32_t tick_ = 1;
};

using Frames = std::vector<std::vector<CubeRecord>>;

Frames made_up_frames() {
  lattice::base::Random random(1);
  Frames frames(kMadeUpFrames,
                std::vector<CubeRecord>(kMadeUpCubes, CubeRecord{0, 255, 255, 255, 0, 0, 100, 0}));
  for (size_t i = 1; i < frames.size(); ++i) {
    for (size_t cube = 0; cube < kMadeUpCubes; ++cube) {
      CubeRecord& record = frames[i][cube] = frames[i - 1][cube];
      const uint64_t dice = random.next_u64();
      if ((dice & 7) != 0) continue;
      record.x += static_cast<int32_t>(dice >> 8 & 15) - 8;
      record.y += static_cast<int32_t>(dice >> 12 & 15) - 8;
      record.a = static_cast<int32_t>(dice >> 16 & 511);
    }
  }
  return frames;
}

/// Sends all frames; `name` begins the metrics.
template <class Frame>
std::string measure(const replication::TypeTable& types, const std::string& name, size_t frames,
                    uint32_t cubes, const Frame& frame, Report& report) {
  Line line(types, cubes);
  std::vector<double> bytes;
  Change sum;
  for (size_t i = 0; i < frames; ++i) {
    const size_t sent = line.send(frame(i));
    if (sent == 0) return "frame " + std::to_string(i) + " did not arrive as it was. This is a bug.";
    if (i < kBaselineFrames) continue;
    const Change change = change_between(frame(i - kBaselineFrames), frame(i));
    bytes.push_back(static_cast<double>(sent));
    sum.entries += change.entries, sum.bits += change.bits;
  }
  if (bytes.empty() || sum.entries == 0) return "the recording is too short, or nothing moves in it.";
  double total = 0;
  for (const double b : bytes) total += b;
  const auto count = static_cast<double>(bytes.size());
  std::sort(bytes.begin(), bytes.end());
  report.metric(name + "_plain_bytes_per_snapshot", total / count);
  report.metric(name + "_plain_p99_bytes", bytes[static_cast<size_t>(0.99 * (count - 1))]);
  report.metric(name + "_entries_per_snapshot", sum.entries / count);
  report.metric(name + "_plain_bits_per_entry", 8 * total / sum.entries);
  report.metric(name + "_plain_entry_overhead_bits", (8 * total - sum.bits) / sum.entries);
  return "";
}

}  // namespace

std::string run_snapshots(const Options& options, Report& report) {
  lattice::serialization::Layout layout;
  std::string problem;
  const lattice_behaviour_desc behaviours[] = {lattice::behaviour_desc<Cube>()};
  lattice_type_desc type = lattice::type_desc("Cube", behaviours);
  type.type_id = kType;
  if (!lattice::serialization::Layout::compile_object(type, &layout, &problem)) return problem;
  replication::TypeTable types;
  types.add(kType, layout);
  report.workload("encoder", "plain");
  report.workload("baseline_frames", kBaselineFrames);
  report.workload("snapshot_rate_hz", 60);
  report.workload("recording", options.data.empty()
                                   ? "none: --data names one"
                                   : options.data.substr(options.data.find_last_of('/') + 1));
  const Frames made_up = made_up_frames();
  const auto made_up_frame = [&](size_t i) { return std::span<const CubeRecord>(made_up[i]); };
  problem = measure(types, "made_up", made_up.size(), kMadeUpCubes, made_up_frame, report);
  if (!problem.empty()) return problem;
  if (options.data.empty()) {
    std::fprintf(stderr, "snapshots: no recording of cubes is measured, because --data names none.\n");
    return "";
  }
  Recording recording;
  if (problem = recording.read(options.data); !problem.empty()) return problem;
  const auto frame = [&](size_t i) { return recording.frame(i); };
  return measure(types, "cubes", recording.frames(), Recording::kCubes, frame, report);
}

}  // namespace bench
