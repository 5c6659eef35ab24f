// The leaves of a type in an order that suits the processor: by the work that they need, with their bounds
// side by side. So the loop over a state decides once per kind what to do, not once per leaf, and four
// compressed floats are divided at a time. The arithmetic is that of leaf_host.h, to the last bit.
//
// Text, blobs, custom values, enums and what else is rare stay with leaf_host.h: others().
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "serialization/leaf.h"

namespace lattice::serialization {

class LeafColumns {
 public:
  /// Takes the leaves of a type, with as many extras. Leaves that belong to a container are left out.
  void compile(std::span<const Leaf> leaves, std::span<const LeafExtra> extras);
  /// Like quantize_leaf() for every leaf but others(). `host` has one pointer per behaviour.
  bool quantize(const void* const* host, Word* words) const;
  /// Like dequantize_leaf() for every leaf but others().
  void dequantize(const Word* words, void* const* host) const;
  /// dequantize(), but for numbers whose words hold every value that fits: of these quantize() kept the
  /// value.
  void dequantize_inexact(const Word* words, void* const* host) const;
  /// The indices of the leaves that are left to the caller.
  std::span<const uint16_t> others() const { return others_; }

 private:
  static constexpr size_t kLanes = 4;

  struct Place {
    uint32_t host_offset = 0;
    uint32_t word = 0;
    uint32_t behaviour = 0;
  };
  /// Compressed floats of 32 bits in host memory, with codes below 2^31. A lane without a leaf of its own
  /// repeats the one before it: the same word is written twice.
  struct Compressed {
    double min[kLanes];
    double max[kLanes];
    double scale[kLanes];
    double step[kLanes];
    double last[kLanes];  ///< the last code
    Place place[kLanes];
  };
  struct Angle {
    AngleQuant quant;
    Place place;
  };
  struct Rotation {
    unsigned component_bits = 0;
    Place place;
  };
  enum class Form : uint8_t { kBool, kRanged, kRaw, kZigZag };
  /// A number that is one load and one store. kRanged: the code is the distance from `min`.
  struct Number {
    Form form = Form::kRaw;
    HostKind host = HostKind::kOther;  ///< for kRaw the unsigned type of that width
    int64_t min = 0;
    int64_t max = 0;
    Place place;
  };
  /// Numbers of one form and host type, next to each other.
  struct Run {
    Form form = Form::kRaw;
    HostKind host = HostKind::kOther;
    uint16_t first = 0;
    uint16_t count = 0;
  };

  /// A bool may be any byte but 0.
  static bool is_exact(const Run& run) { return run.form != Form::kBool; }
  static Place place_of(const Leaf& leaf) { return {leaf.host_offset, leaf.word, leaf.behaviour}; }
  static bool number_of(const Leaf& leaf, const LeafExtra& extra, Number* out);
  static bool quantize_clamped(const Compressed& block, const void* const* host, Word* words);
  static bool quantize_block(const Compressed& block, const void* const* host, Word* words);
  static void dequantize_block(const Compressed& block, const Word* words, void* const* host);
  bool quantize_run(const Run& run, const void* const* host, Word* words) const;
  void dequantize_run(const Run& run, const Word* words, void* const* host) const;
  void add_compressed(const Leaf& leaf, const CompressedFloat& quant);
  void sort_numbers();
  std::span<const Number> numbers_of(const Run& run) const {
    return std::span(numbers_).subspan(run.first, run.count);
  }

  std::vector<Compressed> compressed_;
  size_t compressed_count_ = 0;  // lanes with a leaf of their own
  std::vector<Angle> angles_;
  std::vector<Rotation> rotations_;
  std::vector<Number> numbers_;
  std::vector<Run> runs_;
  std::vector<uint16_t> others_;
};

}  // namespace lattice::serialization
