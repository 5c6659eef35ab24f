// codec: the cost of replication without sockets, crypto or a game. 256 moving objects, 256 clients that see
// all of them, 30 snapshots a second, receipts 6 ticks later; once without loss (every client has the same
// baseline, so one encoding serves all) and once with 5 % of the parts lost (baselines differ). Then the
// codec alone: the delta of one object, quantization, and the reverse.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>

#include "base/random.h"
#include "child.h"
#include "member.h"
#include "registry.h"
#include "replication/object_table.h"
#include "replication/replica_list.h"
#include "replication/snapshot_applier.h"
#include "replication/snapshot_builder.h"
#include "replication/state_store.h"
#include "rollback.h"
#include "serialization/layout.h"

namespace bench {
namespace {

namespace replication = lattice::replication;
namespace serialization = lattice::serialization;

constexpr uint32_t kType = 1;
constexpr uint32_t kSendEveryTicks = 2;
constexpr uint32_t kReceiptTicks = 6;

/// A character of an ordinary 3D game.
struct Body {
  float position[3];
  float velocity[3];
  float rotation[4];
};
struct Soul {
  int32_t health;
  uint64_t target;
  uint8_t alive;
};

template <class Host, size_t count>
lattice_struct_desc structure(const char* name, const lattice_member_desc (&members)[count]) {
  lattice_struct_desc desc;
  lattice_struct_desc_init(&desc);
  desc.name = name;
  desc.host_bytes = sizeof(Host);
  desc.host_align = alignof(Host);
  desc.members = members;
  desc.member_count = count;
  return desc;
}

bool compile_actor(serialization::Layout* layout, std::string* error) {
  lattice_member_desc body[] = {member("position", LATTICE_WIRE_VECTOR3, offsetof(Body, position)),
                                member("velocity", LATTICE_WIRE_VECTOR3, offsetof(Body, velocity)),
                                member("rotation", LATTICE_WIRE_QUATERNION, offsetof(Body, rotation))};
  body[0].quant[0] = {-512, 512, 0.01};
  body[0].flags = LATTICE_MEMBER_POSITION;
  body[1].quant[0] = {-64, 64, 0.01};
  body[1].flags = LATTICE_MEMBER_VELOCITY;
  body[2].flags = LATTICE_MEMBER_ROTATION;
  lattice_member_desc soul[] = {member("health", LATTICE_WIRE_INT32, offsetof(Soul, health)),
                                member("target", LATTICE_WIRE_NETID, offsetof(Soul, target)),
                                member("alive", LATTICE_WIRE_BOOL, offsetof(Soul, alive))};
  soul[0].encoding = LATTICE_ENCODING_RANGED;
  soul[0].max_value = 100;
  const lattice_struct_desc structures[] = {structure<Body>("Body", body), structure<Soul>("Soul", soul)};
  lattice_behaviour_desc behaviours[2];
  for (size_t i = 0; i < 2; ++i) {
    lattice_behaviour_desc_init(&behaviours[i]);
    behaviours[i].structure = &structures[i];
  }
  lattice_type_desc type;
  lattice_type_desc_init(&type);
  type.type_id = kType;
  type.name = "Actor";
  type.behaviours = behaviours;
  type.behaviour_count = 2;
  return serialization::Layout::compile_object(type, layout, error);
}

/// Moves one actor by a tick: position always, velocity and rotation now and then, health seldom.
void step(Body& body, Soul& soul, lattice::base::Random& random) {
  const uint64_t dice = random.next_u64();
  for (size_t i = 0; i < 3; ++i) {
    if ((dice & 7) == 0)
      body.velocity[i] = static_cast<float>(static_cast<int>(dice >> (8 * i + 8) & 15) - 8);
    body.position[i] = std::clamp(body.position[i] + body.velocity[i] / 60.0f, -500.0f, 500.0f);
  }
  if ((dice & 56) == 0) {
    const float half = static_cast<float>(dice >> 40 & 255) / 255.0f;
    body.rotation[1] = half, body.rotation[3] = 1.0f - half;
  }
  if ((dice & 0xfc0) == 0) soul.health = static_cast<int32_t>(dice >> 50 & 63);
  soul.alive = 1;
}

class Silent final : public replication::SnapshotListener {
  void on_spawn(uint32_t, replication::Tick) override {}
  void on_despawn(uint32_t, replication::Tick, replication::DespawnReason) override {}
  void on_state(uint32_t, replication::Tick, const serialization::Word*, replication::EntryKind) override {}
  void on_rested(uint32_t, replication::Tick) override {}
};

/// Time spent and things done in it.
struct Cost {
  uint64_t ns = 0;
  uint64_t count = 0;
  template <class Work>
  void time(uint64_t things, const Work& work) {
    const uint64_t began_ns = monotonic_ns();
    work();
    ns += monotonic_ns() - began_ns;
    count += things;
  }
  double each() const { return count == 0 ? 0 : static_cast<double>(ns) / static_cast<double>(count); }
};

/// One authority with all its clients' recipients, and one real client at the end of the first.
class Session {
 public:
  Session(const replication::TypeTable& types, uint32_t objects, uint32_t clients, double loss)
      : type_(*types.find(kType)),
        table_(objects),
        builder_({}, table_, store_),
        loss_(loss),
        mirror_(2 * objects),
        applier_(types, mirror_, listener_, replication::slot_bound(objects)) {
    for (uint32_t i = 0; i < clients; ++i) {
      recipients_.push_back(std::make_unique<replication::ReplicaList>(
          replication::ReplicaList::Config{.peer_id = 2 + i, .max_ledger_entries = 32768}));
    }
    for (uint32_t i = 0; i < objects; ++i) {
      const uint32_t slot = table_.spawn(type_, 0, LATTICE_AUTHORITY_SERVER, 0, tick_);
      store_.begin(slot, type_);
    }
    for (auto& recipient : recipients_) recipient->join(table_, store_);
  }

  void run(uint32_t ticks) {
    for (const uint32_t end = tick_ + ticks; tick_ < end; ++tick_) {
      simulate();
      record.time(table_.size(), [&] { store_.record(table_, tick_); });
      deliver_receipts();
      if (tick_ % kSendEveryTicks == 0) send();
    }
  }
  void forget_costs() {
    record = build = receipts = apply = {};
    built_bytes = 0;
    encoded_before_ = builder_.cache().encoded(), shared_before_ = builder_.cache().shared();
  }
  uint64_t refused_parts() const { return refused_parts_; }
  /// Share of entries whose body had been encoded for another client already.
  double shared_percent() const {
    const auto encoded = static_cast<double>(builder_.cache().encoded() - encoded_before_);
    const auto shared = static_cast<double>(builder_.cache().shared() - shared_before_);
    return 100.0 * shared / std::max(encoded + shared, 1.0);
  }

  Cost record, build, receipts, apply;
  uint64_t built_bytes = 0;

 private:
  struct Flight {
    uint32_t due_tick;
    uint32_t recipient;
    uint32_t receipt;
    bool arrives;
  };

  void simulate() {
    for (const uint32_t slot : table_.ascending()) {
      step(*static_cast<Body*>(table_.host(slot)[0]), *static_cast<Soul*>(table_.host(slot)[1]), random_);
      store_.mark(slot);
    }
  }
  uint64_t entries() const {
    const replication::SnapshotBuilder::Stats& s = builder_.stats();
    return s.full_entries + s.delta_entries + s.removed_entries + s.rested_entries;
  }
  void send() {
    build.time(0, [&] { builder_.begin_send(tick_); });
    for (uint32_t i = 0; i < recipients_.size(); ++i) {
      const uint64_t entries_before = entries();
      std::span<const replication::SnapshotPart> parts;
      build.time(0, [&] { parts = builder_.build(*recipients_[i], {}, 0); });
      build.count += entries() - entries_before;
      for (const replication::SnapshotPart& part : parts) {
        const bool arrives = !random_.chance(loss_);
        flights_.push_back({tick_ + kReceiptTicks, i, part.receipt, arrives});
        built_bytes += part.bytes.size();
        if (i == 0 && arrives) receive(part, entries() - entries_before, parts.size());
      }
    }
  }
  void receive(const replication::SnapshotPart& part, uint64_t snapshot_entries, size_t parts) {
    apply.time(snapshot_entries / parts, [&] {
      if (applier_.apply(part.bytes) == replication::SnapshotApplier::Result::kRefused) ++refused_parts_;
    });
  }
  void deliver_receipts() {
    receipts.time(0, [&] {
      while (!flights_.empty() && flights_.front().due_tick <= tick_) {
        const Flight flight = flights_.front();
        flights_.pop_front();
        recipients_[flight.recipient]->on_receipt(flight.receipt, flight.arrives);
        ++receipts.count;
      }
    });
  }

  const replication::ObjectType& type_;
  replication::ObjectTable table_;
  replication::StateStore store_;
  replication::SnapshotBuilder builder_;
  std::vector<std::unique_ptr<replication::ReplicaList>> recipients_;
  double loss_;
  std::deque<Flight> flights_;
  Silent listener_;
  replication::ObjectTable mirror_;
  replication::SnapshotApplier applier_;
  lattice::base::Random random_{1};
  uint32_t tick_ = 1;
  uint64_t refused_parts_ = 0;
  uint64_t encoded_before_ = 0, shared_before_ = 0;
};

/// The codec alone, over states that are a tick apart.
class CodecLoop {
 public:
  explicit CodecLoop(const serialization::Layout& layout) : layout_(layout) {
    lattice::base::Random random(2);
    const size_t words = layout.word_count();
    bodies_.resize(kStates), souls_.resize(kStates), words_.resize(kStates * words);
    Body body{};
    Soul soul{};
    body.rotation[3] = 1;
    for (size_t i = 0; i < kStates; ++i) {
      step(body, soul, random);
      bodies_[i] = body, souls_[i] = soul;
    }
  }

  void run(uint32_t rounds) {
    const size_t words = layout_.word_count();
    std::vector<uint8_t> encoded(kStates * kRoomBytes);
    std::vector<size_t> bits(kStates);
    std::vector<serialization::Word> decoded(words);
    for (uint32_t round = 0; round < rounds; ++round) {
      quantize.time(kStates, [&] {
        for (size_t i = 0; i < kStates; ++i) {
          const void* host[] = {&bodies_[i], &souls_[i]};
          layout_.quantize(host, &words_[i * words]);
        }
      });
      encode.time(kStates - 1, [&] {
        for (size_t i = 1; i < kStates; ++i) {
          lattice::BitWriter writer({&encoded[i * kRoomBytes], kRoomBytes});
          layout_.encode_delta(writer, &words_[(i - 1) * words], &words_[i * words]);
          writer.finish();
          bits[i] = writer.bit_count();
        }
      });
      decode.time(kStates - 1, [&] {
        for (size_t i = 1; i < kStates; ++i) {
          lattice::BitReader reader({&encoded[i * kRoomBytes], (bits[i] + 7) / 8});
          if (!layout_.decode_delta(reader, &words_[(i - 1) * words], decoded.data())) ++failures;
        }
      });
      dequantize.time(kStates, [&] {
        for (size_t i = 0; i < kStates; ++i) {
          void* host[] = {&bodies_[i], &souls_[i]};
          layout_.dequantize(&words_[i * words], host);
        }
      });
    }
    for (const size_t b : bits) delta_bits += static_cast<double>(b) / (kStates - 1);
  }

  Cost quantize, encode, decode, dequantize;
  double delta_bits = 0;  // of one object, mean
  uint64_t failures = 0;

 private:
  static constexpr size_t kStates = 256;
  static constexpr size_t kRoomBytes = 256;
  const serialization::Layout& layout_;
  std::vector<Body> bodies_;
  std::vector<Soul> souls_;
  std::vector<serialization::Word> words_;
};

void report_session(const Session& session, const std::string& prefix, Report& report) {
  const auto entries = static_cast<double>(std::max<uint64_t>(session.build.count, 1));
  report.metric(prefix + "build_ns_per_entry", session.build.each());
  report.metric(prefix + "bytes_per_entry", static_cast<double>(session.built_bytes) / entries);
  report.metric(prefix + "receipt_ns_per_part", session.receipts.each());
  report.metric(prefix + "apply_ns_per_entry", session.apply.each());
  report.metric(prefix + "shared_percent", session.shared_percent());
}

}  // namespace

std::string run_codec(const Options& options, Report& report) {
  const bool quick = options.quick;
  const uint32_t objects = quick ? 16 : 256, clients = quick ? 16 : 256;
  const uint32_t ticks = quick ? 60 : 240, rounds = quick ? 10 : 2000;
  report.workload("objects", objects);
  report.workload("clients", clients);
  report.workload("ticks", ticks);
  report.workload("send_every_ticks", kSendEveryTicks);
  report.workload("receipt_after_ticks", kReceiptTicks);
  report.workload("loss_percent", 5);
  report.workload("repetitions", options.repetitions);
  serialization::Layout layout;
  std::string error;
  if (!compile_actor(&layout, &error)) return error;
  replication::TypeTable types;
  types.add(kType, layout);
  pin_self(allowed_cpus().back());
  for (uint32_t repetition = 0; repetition < options.repetitions; ++repetition) {
    CodecLoop codec(layout);
    codec.run(rounds);
    if (codec.failures != 0) return "a delta did not decode. Run the serialization tests.";
    report.metric("quantize_ns_per_object", codec.quantize.each());
    report.metric("encode_ns_per_object", codec.encode.each());
    report.metric("decode_ns_per_object", codec.decode.each());
    report.metric("dequantize_ns_per_object", codec.dequantize.each());
    report.metric("delta_bits", codec.delta_bits);
    for (const double loss : {0.0, 0.05}) {
      Session session(types, objects, clients, loss);
      session.run(4 * kReceiptTicks);  // the full entries of the join are not what a running game costs
      session.forget_costs();
      session.run(ticks);
      if (session.refused_parts() != 0) return "a snapshot was refused. Run the replication tests.";
      report_session(session, loss > 0 ? "snapshot_lossy_" : "snapshot_", report);
      if (loss > 0) continue;
      report.metric("record_ns_per_object", session.record.each());
      report.ratio("build_entry_vs_encode_object", session.build.each() / codec.encode.each());
    }
  }
  return measure_rollback(options, report);
}

}  // namespace bench
