// A type compiled from its descriptors. Higher layers know only through a Layout how state is packed.
//
// State is an array of word_count() canonical 32-bit words. Two states are equal exactly when their words are
// equal, and words hold quantized values only, so history, deltas and comparisons agree on every peer. Every
// leaf (a number, one component of a vector, a whole quaternion, a string) owns at least one word, and a
// number of more than 32 bits owns two, the low one first. Strings, bytes and custom values own a length word
// and ceil(capacity / 4) data words; unused data words are zero. A list or a map owns a word for its length
// and the words of all elements that it has room for, a map in ascending order of its keys; a union owns a
// word for its tag and the words of all alternatives. What does not count has the words of its zero baseline.
//
// Delta encoding (X-03, Y-07, Y-17), in order:
//   objects only:       one presence bit per behaviour, behaviour 0 first
//   per present behaviour, or once for a structure:
//     changed mask      one bit per member, member 0 first; for a bool: current XOR baseline
//     members           each changed non-bool member, in declaration order:
//                         plain              its encoding
//                         struct             whole: every leaf in order, a bool as 1 bit
//                         struct with delta  its own changed mask and members, as above
//                         array              likewise, with the elements as members
//                         list, map, union   layout_containers.cpp
// A present behaviour, and a changed structure, has at least one mask bit set; decoders refuse any other.
// Whole encoding (inputs, RPC arguments): every leaf in order, a bool as 1 bit. A hand-written Serialize() of
// the same fields gives the same bits (§21.4). Source: §14.6, §20, §21, Y-05..Y-17, X-06, S-02.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "lattice/authoring/bit_reader.h"
#include "lattice/authoring/bit_writer.h"
#include "lattice/schema.h"
#include "serialization/flat_member.h"
#include "serialization/leaf.h"
#include "serialization/leaf_columns.h"
#include "serialization/member_plan.h"

namespace lattice::serialization {

using lattice::BitReader;
using lattice::BitWriter;

/// One member, or one member of a nested structure.
struct LayoutNode {
  enum class Kind : uint8_t { kBool, kPlain, kStructWhole, kStructDelta, kArray, kList, kMap, kUnion };
  Kind kind = Kind::kPlain;
  uint8_t behaviour = 0;
  bool predicted = true;
  uint16_t conditions = 0;  ///< the send conditions among lattice_member_flags; only of a behaviour's members
  bool has_container = false;  ///< it is a list, a map or a union, or has one within
  uint16_t first_leaf = 0;     ///< of a list and a map the length, of a union the tag
  uint16_t leaf_count = 0;     ///< with all that is within; of the elements of a list those of one
  uint16_t first_child = 0;    ///< index into nodes(), for structures, arrays and containers
  uint16_t child_count = 0;    ///< of a list and a map 1, which stands for all elements: see `element_words`
  uint16_t capacity = 0;       ///< of a list and a map: most elements
  uint32_t first_word = 0;
  uint32_t word_count = 0;
  uint32_t element_words = 0;  ///< of a list and a map: from one element to the next
  uint32_t element_bytes = 0;  ///< of a list and a map: the same in host memory
  uint32_t host_offset = 0;    ///< from the start of the behaviour's host structure
  uint32_t host_bytes = 0;
  std::string name;
};

/// Whether two states have the same words of a member.
inline bool same_words(const Word* a, const Word* b, const LayoutNode& node) {
  if (node.word_count == 1) return a[node.first_word] == b[node.first_word];
  return std::memcmp(a + node.first_word, b + node.first_word, node.word_count * sizeof(Word)) == 0;
}

/// One behaviour of an object layout. A structure layout has exactly one.
struct LayoutBehaviour {
  uint16_t first_node = 0;  ///< its members are nodes()[first_node .. first_node + node_count)
  uint16_t node_count = 0;
  uint16_t first_leaf = 0;
  uint16_t leaf_count = 0;
  uint32_t first_word = 0;
  uint32_t word_count = 0;
  uint32_t host_bytes = 0;
  uint32_t host_align = 1;
  lattice_codec_desc codec = {};  ///< struct_size 0: none
  std::string name;
};

/// A member with a motion flag, for smoothing and dead reckoning (§12, §21.7).
struct MotionMember {
  enum class Role : uint8_t { kPosition, kVelocity, kAcceleration, kRotation, kAngularVelocity, kAngle };
  Role role = Role::kPosition;
  uint8_t behaviour = 0;
  uint8_t component_count = 0;  ///< 1..4; 4 for a rotation
  bool is_double = false;       ///< host components are double, else float
  uint16_t first_leaf = 0;
  int16_t velocity = -1;      ///< index into motion() of the member that moves this one, or -1
  int16_t acceleration = -1;  ///< index into motion() of the acceleration, or -1
  uint32_t host_offset = 0;   ///< within the behaviour's host structure
  AngleQuant angle;           ///< for kAngle
};

class Layout {
 public:
  Layout() = default;
  /// Compiles an object type: behaviours, with presence bits. When the type is refused, returns false, leaves
  /// `out` as it was, and puts field, value and bound into `error`. Of `desc` only the custom functions are
  /// kept.
  static bool compile_object(const lattice_type_desc& desc, Layout* out, std::string* error);
  /// Compiles one structure (an input or an RPC's arguments): one behaviour, no presence bits.
  /// `allow_empty` permits zero members.
  static bool compile_structure(const lattice_struct_desc& desc, bool allow_empty, Layout* out,
                                std::string* error);

  size_t word_count() const { return word_count_; }
  size_t behaviour_count() const { return behaviours_.size(); }
  std::span<const LayoutBehaviour> behaviours() const { return behaviours_; }
  std::span<const LayoutNode> nodes() const { return nodes_; }
  std::span<const Leaf> leaves() const { return leaves_; }
  /// What belongs to each of leaves().
  std::span<const LeafExtra> extras() const { return extras_; }
  std::span<const MotionMember> motion() const { return motion_; }
  size_t host_bytes(size_t behaviour) const { return behaviours_[behaviour].host_bytes; }
  size_t host_align(size_t behaviour) const { return behaviours_[behaviour].host_align; }
  /// The most bits that encode_delta() can write, and below: that encode_whole() can write.
  size_t max_delta_bits() const { return max_delta_bits_; }
  size_t max_whole_bits() const { return max_whole_bits_; }

  /// The words of an all-zero host structure (see lattice/schema.h).
  void zero_baseline(Word* words) const;
  /// Converts host structures, one pointer per behaviour, to words. A value that does not fit its member is
  /// clamped (Y-05, Y-09), and the result is false: quantize_member() tells whose value it was.
  /// quantize(dequantize(words)) == words for all words that quantize() produced.
  bool quantize(const void* const* host, Word* words) const;
  /// Lets behaviour `index` be packed by straight code. Returns false and says why when the code does not
  /// give what this layout gives. Does nothing where the changed mask is too large for it.
  bool take_codec(size_t index, const lattice_codec_desc& codec, std::string* error);
  /// True when every behaviour has straight code.
  bool is_straight() const { return is_straight_; }
  /// The same for one member of nodes(): writes the member's words and no others.
  bool quantize_member(const LayoutNode& member, const void* const* host, Word* words) const;
  /// Converts words to host structures. Bytes that belong to no member (padding, private fields) stay as they
  /// are.
  void dequantize(const Word* words, void* const* host) const;

  /// quantize(), and writes the values of the words back as dequantize() would (S-03). Values that the words
  /// hold exactly are not written.
  bool round(void* const* host, Word* words) const;

  bool equal(const Word* a, const Word* b) const;
  /// True when every compressed component and every rotation is equal within one quantization step, and
  /// everything else exactly (S-02).
  bool approx_equal(const Word* a, const Word* b) const;
  /// approx_equal(), of the predicted members only.
  bool prediction_equal(const Word* a, const Word* b) const;
  /// How far a member was predicted wrong, in its unit; 0 when it is as prediction_equal() wants it. Of a
  /// vector the length of the difference, of a rotation the angle between the two in radians, of a structure
  /// or an array the largest of what is within. 1 for what has no distance: bools, enums, texts, bytes,
  /// custom values, lists, maps and unions.
  double prediction_error(const LayoutNode& member, const Word* predicted, const Word* truth) const;
  /// dequantize(), of the members that are not predicted only.
  void dequantize_not_predicted(const Word* words, void* const* host) const;
  bool predicts_all() const { return predicts_all_; }

  /// Who a state is for.
  struct Sight {
    bool is_owner = false;      ///< the client owns the object
    bool has_baseline = false;  ///< the state is told against one that the client has
  };
  /// True when some members do not travel to everyone, or not always.
  bool has_conditions() const { return !conditional_.empty(); }
  /// `words` as such a client may see them: the members that do not travel to it have the words of `base`, so
  /// that they do not differ. Valid until `scratch` changes; without conditions that is `words` itself.
  const Word* seen(Sight sight, const Word* base, const Word* words, std::vector<Word>* scratch) const;
  /// True when changes of some members hurry their object more than those of others.
  bool has_priorities() const { return !priorities_.empty(); }
  /// The largest priority of the members that differ, of those that such a client gets. With `base` null the
  /// largest of all for a client without a baseline; else nobody knows what differs, and it is 1, or what is
  /// next to it among those there are.
  float change_priority(Sight sight, const Word* base, const Word* words) const;
  /// Gives the members that the owner of an object does not get the words of `own`.
  void keep_unsent(const Word* own, Word* words) const;
  /// A hash of the words, the same on every platform.
  uint64_t state_hash(const Word* words) const;

  /// Appends the difference between `base` and `current`. writer.ok() is false after an overflow.
  void encode_delta(BitWriter& writer, const Word* base, const Word* current) const;
  /// Reads bits that encode_delta() wrote against the same base. On failure returns false, and `out` is a
  /// copy of `base`, never a part of a state. `out` must not overlap `base`. The caller checks
  /// reader.at_end() at the end of the message.
  bool decode_delta(BitReader& reader, const Word* base, Word* out) const;

  /// True when the bits that say what changed fit one number: a presence bit per behaviour, if there are
  /// several, and one bit per top-level member. Only then may the functions from here to decode_members() be
  /// called.
  bool has_flat_mask() const { return mask_bits_max_ <= 64; }
  /// How many top-level members all behaviours have together.
  unsigned flat_mask_bits() const { return static_cast<unsigned>(members_.size()); }
  /// One bit per top-level member, in order; member 0 of behaviour 0 is the highest of flat_mask_bits() bits.
  /// A bit is set when the member differs.
  uint64_t changed_mask(const Word* base, const Word* current) const;
  /// Appends the members that `mask` marks, in the form of encode_delta() but without the mask: nothing for a
  /// bool. `mask` is changed_mask(base, current).
  void encode_members(BitWriter& writer, uint64_t mask, const Word* base, const Word* current) const;
  /// Reads what encode_members() wrote. Refuses a marked member that equals its baseline. With mask 0,
  /// `out` is a copy of `base`. Fails as decode_delta() does.
  bool decode_members(BitReader& reader, uint64_t mask, const Word* base, Word* out) const;
  /// Works out what decode_members() does for a mask.
  void plan(uint64_t mask, MemberPlan* out) const;
  /// decode_members() of the mask of a plan of this layout. On failure returns false, and `in` and `out` hold
  /// nothing of use.
  bool decode_members(BitWindow& in, const MemberPlan& plan, const Word* base, Word* out) const {
    if (plan.whole) return plan.decode(in, base, out);
    return in.with_reader([&](BitReader& reader) { return decode_members(reader, plan.mask, base, out); });
  }

  /// Everything that counts, in order.
  void encode_whole(BitWriter& writer, const Word* words) const;
  /// On failure returns false, and `out` is the zero baseline.
  bool decode_whole(BitReader& reader, Word* out) const;

  /// Writes the state between two states, at t in [0, 1], into host structures (§21.7). Numbers and vectors
  /// are interpolated linearly, rotations and angles the short way round, also of an element that a list has
  /// in both states, and of an alternative that is active in both. Everything else holds `a` until t reaches
  /// 1. If the object teleported between the two states, everything holds `a`.
  void interpolate(const Word* a, const Word* b, double t, void* const* host) const;
  /// How long after a state, and what came before it.
  struct Reckoning {
    double seconds = 0.0;          ///< since the state
    const Word* before = nullptr;  ///< the state before it, or null
    double steps = 0.0;            ///< the same time, in units of the time between the two
  };
  /// Dead reckoning after `last` (§12.2). Positions move by velocity and acceleration, rotations by angular
  /// velocity. Members with LATTICE_MEMBER_EXTRAPOLATE that no velocity moves go on in the line through the
  /// two states, unless the object teleported between them. All are clamped to their declared bounds.
  /// Everything else holds.
  void extrapolate(const Word* last, const Reckoning& after, void* const* host) const;
  /// True when a teleport counter differs (S-07). Never in a type without such counters.
  bool teleported(const Word* a, const Word* b) const;
  bool can_teleport() const { return !teleport_leaves_.empty(); }
  /// True when extrapolate() would move something: a velocity is not zero, or what goes on in a line came
  /// from another place in `before`, the state before this one (S-06). `before` may be null. What a client of
  /// such a sight does not get moves nothing.
  bool moving(const Word* words, const Word* before,
              Sight sight = {.is_owner = true, .has_baseline = true}) const;

  /// The member with a flat property id, which is (behaviour << 8) | member (Y-16); or null.
  const LayoutNode* member(uint16_t prop_id) const;
  /// "behaviour.member" of a property id that member() knows.
  std::string member_name(uint16_t prop_id) const;
  /// Quantizes the host value of one member, of exactly `len` bytes, into `words`. False if the id or length
  /// is wrong.
  bool set_prop(Word* words, uint16_t prop_id, const void* data, size_t len) const;
  /// Writes the host value of one member and returns its bytes; 0 if the id is wrong or `cap` is too small.
  size_t get_prop(const Word* words, uint16_t prop_id, void* out, size_t cap) const;
  /// The first differing leaf as "behaviour.member", or "" when equal: for diagnostics.
  std::string first_difference(const Word* a, const Word* b) const;
  /// The first value for which quantize() is false, as "behaviour.member is VALUE and takes BOUNDS"; "" when
  /// all fit: for error texts.
  std::string first_misfit(const void* const* host) const;

  /// The list of members as canonical schema text (Y-15): one line per member.
  const std::string& canonical_members() const { return canonical_members_; }

 private:
  friend class LayoutCompiler;

  static bool hides(unsigned conditions, Sight sight);

  void encode_flat(BitWriter& writer, const Word* base, const Word* current) const;
  bool decode_flat(BitReader& reader, const Word* base, Word* out) const;
  bool decode_whole_fields(BitReader& reader, Word* out) const;
  // layout_straight.cpp
  bool codec_fits(size_t index, const lattice_codec_desc& codec, std::string* error) const;
  bool codec_agrees(size_t index, const lattice_codec_desc& codec) const;
  bool quantize_straight(const void* const* host, Word* words) const;
  void dequantize_straight(const Word* words, void* const* host) const;
  uint64_t changed_mask_straight(const Word* base, const Word* current) const;
  // All fields of a packed member as one.
  uint64_t packed_value(const FlatMember& member, const Word* current) const {
    const PackedField* field = &fields_[member.first_field];
    uint64_t value = current[field->word];
    for (unsigned i = 1; i < member.field_count; ++i) {
      ++field;
      value = value << field->bits | current[field->word];
    }
    return value;
  }
  bool has_only_straight() const { return is_straight_ && behaviours_.size() == 1; }
  bool decode_only_behaviour(BitReader& reader, const Word* base, Word* out) const;
  void encode_only_behaviour(BitWriter& writer, const Word* base, const Word* current) const;
  void encode_straight(BitWriter& writer, uint64_t marked, const Word* base, const Word* current) const;
  bool decode_straight(BitReader& reader, uint64_t marked, const Word* base, Word* out) const;
  template <class Each>
  bool walk_marked(uint64_t marked, const Each& each) const;
  template <class Run, class Other>
  static bool walk_runs(const LayoutBehaviour& behaviour, uint64_t mask, const Run& run, const Other& other);
  void encode_behaviour(BitWriter& writer, const LayoutBehaviour& behaviour, uint64_t mask, const Word* base,
                        const Word* current) const;
  bool decode_behaviour(BitReader& reader, const LayoutBehaviour& behaviour, uint64_t mask, const Word* base,
                        Word* out) const;
  bool decode_marked_node(BitReader& reader, const LayoutNode& node, const Word* base, Word* out) const;
  uint64_t to_marked(const LayoutBehaviour& behaviour, uint64_t mask) const;
  void encode_run(BitWriter& writer, const LayoutBehaviour& behaviour, uint64_t mask, const Word* base,
                  const Word* current) const;
  bool decode_run(BitReader& reader, const LayoutBehaviour& behaviour, uint64_t mask, const Word* base,
                  Word* out) const;

  void encode_marked(BitWriter& writer, uint64_t marked, const Word* base, const Word* current) const;
  void encode_interpreted(BitWriter& writer, uint64_t marked, const Word* base, const Word* current) const;
  bool decode_interpreted(BitReader& reader, uint64_t marked, const Word* base, Word* out) const;
  bool decode_marked(BitReader& reader, uint64_t marked, const Word* base, Word* out) const;
  void encode_nodes(BitWriter& writer, std::span<const LayoutNode> nodes, const Word* base,
                    const Word* current) const;
  bool decode_nodes(BitReader& reader, std::span<const LayoutNode> nodes, const Word* base, Word* out) const;
  void encode_changed(BitWriter& writer, const LayoutNode& node, const Word* base, const Word* current) const;
  bool decode_changed(BitReader& reader, const LayoutNode& node, const Word* base, Word* out) const;
  void dequantize_others(const Word* words, void* const* host) const;
  bool add_to_plan(const FlatMember& member, uint64_t bit, MemberPlan* out) const;
  void interpolate_wide(size_t index, const Word* a, const Word* b, double t, uint8_t* out) const;
  void extrapolate_leaf(size_t index, const Word* before, const Word* last, double steps, uint8_t* out) const;
  void extrapolate_wide(size_t index, const Word* before, const Word* last, double steps, uint8_t* out) const;
  std::span<const LayoutNode> members_of(const LayoutBehaviour& behaviour) const;
  std::span<const LayoutNode> children_of(const LayoutNode& node) const;
  struct Found;
  template <class IsIt>
  Found find_first(const Word* words, const IsIt& is_it, std::string* path) const;
  bool all_close(const Word* a, const Word* b, bool not_predicted_too) const;
  void interpolate_leaf(size_t index, const Word* a, const Word* b, double t, uint8_t* out) const;
  // One node. Pointers may be shifted, by the elements of a list that lie between; `host` is the start of the
  // behaviour's host structure, shifted alike.
  bool quantize_node(const LayoutNode& node, const uint8_t* host, Word* words) const;
  void dequantize_node(const LayoutNode& node, const Word* words, uint8_t* host) const;
  void interpolate_node(const LayoutNode& node, const Word* a, const Word* b, double t, uint8_t* host) const;
  bool close_node(const LayoutNode& node, const Word* a, const Word* b) const;
  void zero_node(const LayoutNode& node, Word* words) const;
  void zero_elements(const LayoutNode& node, size_t first, Word* words) const;
  size_t begin_container(const LayoutNode& node, const Word* words, uint8_t* host) const;
  void encode_whole_node(BitWriter& writer, const LayoutNode& node, const Word* words) const;
  bool decode_whole_node(BitReader& reader, const LayoutNode& node, Word* out) const;
  void encode_container(BitWriter& writer, const LayoutNode& node, const Word* base,
                        const Word* current) const;
  bool decode_container(BitReader& reader, const LayoutNode& node, const Word* base, Word* out) const;
  void encode_list(BitWriter& writer, const LayoutNode& node, const Word* base, const Word* current) const;
  bool decode_list(BitReader& reader, const LayoutNode& node, const Word* base, Word* out) const;
  void encode_map(BitWriter& writer, const LayoutNode& node, const Word* base, const Word* current) const;
  bool decode_map(BitReader& reader, const LayoutNode& node, const Word* base, Word* out) const;
  void encode_union(BitWriter& writer, const LayoutNode& node, const Word* base, const Word* current) const;
  bool decode_union(BitReader& reader, const LayoutNode& node, const Word* base, Word* out) const;
  void encode_value(BitWriter& writer, const LayoutNode& entry, const Word* base, const Word* current) const;
  bool decode_value(BitReader& reader, const LayoutNode& entry, const Word* base, Word* out) const;
  uint64_t key_of(const LayoutNode& map, const Word* words) const;
  bool sort_map(const LayoutNode& map, Word* words) const;
  std::span<const Leaf> leaves_of(const LayoutNode& node) const;

  std::vector<LayoutBehaviour> behaviours_;
  std::vector<LayoutNode> nodes_;
  std::vector<Leaf> leaves_;
  std::vector<LeafExtra> extras_;
  LeafColumns columns_;
  std::vector<MotionMember> motion_;
  std::vector<uint16_t> teleport_leaves_;
  std::vector<uint16_t> line_leaves_;           // that extrapolate() moves in a line
  std::vector<uint16_t> containers_;            // outermost lists, maps and unions, by node
  std::vector<uint16_t> not_predicted_leaves_;  // outside containers
  std::vector<Word> zero_words_;
  std::vector<FlatMember> members_;
  std::vector<PackedField> fields_;
  std::vector<PackedField> whole_fields_;  // of a state that fits one number: all its codes
  std::vector<uint16_t> not_straight_;     // the members that no codec quantizes, by node
  std::vector<uint16_t> conditional_;      // members with a send condition, by node
  std::vector<float> priorities_;          // by top-level member; empty: all have 1
  std::vector<uint16_t> by_priority_;      // top-level members, the highest priority first; empty likewise
  std::vector<uint64_t> word_masks_;  // by word: its member's bit of changed_mask(); empty for a large state
  std::string canonical_members_;
  size_t word_count_ = 0;
  size_t mask_bits_max_ = 0;
  size_t max_delta_bits_ = 0;
  size_t max_whole_bits_ = 0;
  unsigned whole_bits_ = 0;  // of whole_fields_
  bool has_presence_bits_ = false;
  bool is_straight_ = false;
  bool predicts_all_ = true;
};

}  // namespace lattice::serialization
