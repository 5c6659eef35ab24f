// serialize: what it costs to pack one object's state and to read it back, alone, without a world: 256
// players of 20 members (serialize/player.h), beside memcpy of the structure, and beside protobuf and
// FlatBuffers where they are installed. Then what the schema compiler takes for 1,000 types, and the C++
// compiler for 50.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "child.h"
#include "registry.h"
#include "serialization/layout.h"
#include "serialize/compilers.h"
#include "serialize/player.h"
#include "serialize/rivals.h"

namespace bench {
namespace {

using serialize::Player;
using Word = lattice::serialization::Word;

constexpr size_t kPlayers = 256;
constexpr size_t kRoomBytes = 256;

/// Runs `work` for all players, `rounds` times; ns for one player.
template <class Work>
double time_each(uint32_t rounds, const Work& work) {
  const uint64_t began_ns = monotonic_ns();
  for (uint32_t round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < kPlayers; ++i) work(i);
  }
  return static_cast<double>(monotonic_ns() - began_ns) / (double{kPlayers} * rounds);
}

/// Packs against the zero baseline, as a spawn does, and with one member changed, as most snapshots do.
class Codec {
 public:
  explicit Codec(const lattice::serialization::Layout& layout)
      : layout_(layout), words_(layout.word_count()), players_(serialize::some_players(kPlayers)) {
    zero_.resize(words_), layout.zero_baseline(zero_.data());
    states_.resize(kPlayers * words_), changed_.resize(kPlayers * words_);
    bytes_.resize(kPlayers * kRoomBytes), sizes_.resize(kPlayers), back_.resize(kPlayers);
    for (size_t i = 0; i < kPlayers; ++i) {
      const Player changed = serialize::with_one_changed(players_[i], i % serialize::kMembers);
      const void* host = &changed;
      layout.quantize(&host, &changed_[i * words_]);
    }
  }

  /// Reports under names that begin with `prefix`. "" or what did not come back.
  std::string run(uint32_t rounds, const std::string& prefix, Report& report) {
    pack_ns = time_each(rounds, [&](size_t i) { quantize(i), pack(i, zero_.data(), state(i)); });
    for (const size_t size : sizes_) bytes += static_cast<double>(size) / kPlayers;
    bool read_all = true;
    std::vector<Word> read(words_);
    unpack_ns = time_each(rounds, [&](size_t i) {
      read_all &= unpack(i, zero_.data(), read.data());
      void* host = &back_[i];
      layout_.dequantize(read.data(), &host);
    });
    for (size_t i = 0; i < kPlayers; ++i) {
      const void* host = &back_[i];
      layout_.quantize(&host, read.data());
      if (!read_all || !layout_.equal(read.data(), state(i))) return "a player did not come back";
    }
    report.metric(prefix + "pack20_ns", pack_ns);
    report.metric(prefix + "unpack20_ns", unpack_ns);
    report.metric(prefix + "pack1_ns", time_each(rounds, [&](size_t i) { pack(i, state(i), changed(i)); }));
    report.metric(prefix + "unpack1_ns",
                  time_each(rounds, [&](size_t i) { read_all &= unpack(i, state(i), read.data()); }));
    for (size_t i = 0; i < kPlayers; ++i) {
      read_all = read_all && unpack(i, state(i), read.data()) && layout_.equal(read.data(), changed(i));
    }
    if (!read_all) return "a change did not come back";
    report.metric(prefix + "quantize20_ns", time_each(rounds, [&](size_t i) { quantize(i); }));
    report.metric(prefix + "dequantize20_ns", time_each(rounds, [&](size_t i) {
                    void* host = &back_[i];
                    layout_.dequantize(state(i), &host);
                  }));
    return "";
  }
  /// The floor: the structure copied.
  void run_floor(uint32_t rounds, Report& report) {
    const double memcpy_ns = time_each(rounds, [&](size_t i) {
      std::memcpy(&back_[i], &players_[i], sizeof(Player));
      asm volatile("" : : "r"(&back_[i]) : "memory");  // so that it is not left out
    });
    report.metric("memcpy_ns", memcpy_ns);
    report.ratio("pack20_vs_memcpy", pack_ns / memcpy_ns);
    report.metric("pack20_bytes", bytes);
    report.metric("struct_bytes", sizeof(Player));
  }
  const std::vector<Player>& players() const { return players_; }

  double pack_ns = 0, unpack_ns = 0;  // what run() reported
  double bytes = 0;                   // of one player, mean

 private:
  Word* state(size_t i) { return &states_[i * words_]; }
  const Word* changed(size_t i) const { return &changed_[i * words_]; }
  void quantize(size_t i) {
    const void* host = &players_[i];
    layout_.quantize(&host, state(i));
  }
  void pack(size_t i, const Word* base, const Word* current) {
    lattice::BitWriter writer({&bytes_[i * kRoomBytes], kRoomBytes});
    layout_.encode_delta(writer, base, current);
    sizes_[i] = writer.finish().size();
  }
  bool unpack(size_t i, const Word* base, Word* out) {
    lattice::BitReader reader({&bytes_[i * kRoomBytes], sizes_[i]});
    return layout_.decode_delta(reader, base, out);
  }

  const lattice::serialization::Layout& layout_;
  size_t words_;
  std::vector<Player> players_, back_;
  std::vector<Word> zero_, states_, changed_;
  std::vector<uint8_t> bytes_;
  std::vector<size_t> sizes_;
};

/// Reports a rival, and ours against it. "" or why its numbers mean nothing.
[[maybe_unused]] std::string report_rival(const std::string& prefix, const serialize::RivalCost& rival,
                                          const Codec& ours, Report& report) {
  if (!rival.same) {
    return prefix + " did not give a player back. Compare rival_" + prefix + ".cpp with player.h.";
  }
  report.metric(prefix + "_pack20_ns", rival.pack_ns);
  report.metric(prefix + "_unpack20_ns", rival.unpack_ns);
  report.metric(prefix + "_bytes", rival.bytes);
  report.ratio("speed_vs_" + prefix, (rival.pack_ns + rival.unpack_ns) / (ours.pack_ns + ours.unpack_ns));
  report.ratio("bytes_vs_" + prefix, ours.bytes / rival.bytes);
  return "";
}

}  // namespace

std::string run_serialize(const Options& options, Report& report) {
  const uint32_t rounds = options.quick ? 4 : 4000;
  report.workload("players", kPlayers);
  report.workload("members", serialize::kMembers);
  report.workload("rounds", rounds);
  report.workload("repetitions", options.repetitions);
  lattice::serialization::Layout straight, interpreted;
  std::string problem;
  lattice_behaviour_desc behaviours[] = {lattice::behaviour_desc<Player>()};
  const lattice_type_desc type = lattice::type_desc("Player", behaviours);
  if (!lattice::serialization::Layout::compile_object(type, &straight, &problem)) return problem;
  behaviours[0].codec = nullptr;
  if (!lattice::serialization::Layout::compile_object(type, &interpreted, &problem)) return problem;
  pin_self(allowed_cpus().back());
  for (uint32_t repetition = 0; repetition < options.repetitions; ++repetition) {
    Codec codec(straight), slow(interpreted);
    if (problem = codec.run(rounds, "", report); problem.empty()) {
      problem = slow.run(rounds, "interpreted_", report);
    }
    if (!problem.empty()) return problem + ". Run the serialization tests.";
    report.ratio("generated_vs_interpreted",
                 (codec.pack_ns + codec.unpack_ns) / (slow.pack_ns + slow.unpack_ns));
    codec.run_floor(rounds, report);
#if LATTICE_BENCH_HAS_PROTOBUF
    const serialize::RivalCost protobuf = serialize::measure_protobuf(codec.players(), rounds);
    if (problem = report_rival("protobuf", protobuf, codec, report); !problem.empty()) return problem;
#endif
#if LATTICE_BENCH_HAS_FLATBUFFERS
    const serialize::RivalCost flat = serialize::measure_flatbuffers(codec.players(), rounds);
    if (problem = report_rival("flatbuffers", flat, codec, report); !problem.empty()) return problem;
#endif
    if (problem = serialize::measure_compilers(options.quick, report); !problem.empty()) return problem;
  }
  if (!LATTICE_BENCH_HAS_PROTOBUF || !LATTICE_BENCH_HAS_FLATBUFFERS) {
    std::fprintf(stderr,
                 "serialize: protobuf or FlatBuffers is not installed, so its rows are missing. Install "
                 "libprotobuf-dev, protobuf-compiler, libflatbuffers-dev and flatbuffers-compiler, and build "
                 "again.\n");
  }
  return "";
}

}  // namespace bench
