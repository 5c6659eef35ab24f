// Compiles descriptors into a Layout: checks every field against its bound, flattens structures into leaves,
// assigns words, pairs motion members, writes the canonical text. Used only at registration, so it may
// allocate. Source: §20, §21, Y-05..Y-17.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "serialization/layout.h"
#include "serialization/lone_structure.h"
#include "serialization/schema_check.h"

namespace lattice::serialization {

inline constexpr size_t kMaxNodes = 8192;       // members of one type, nested ones and elements included
inline constexpr size_t kMaxWords = 64 * 1024;  // 256 KiB of state
static_assert(kMaxNodes <= UINT16_MAX && LATTICE_MAX_LEAVES <= UINT16_MAX);

/// The most bits that one leaf can take on the wire.
size_t max_leaf_bits(const Leaf& leaf);

class LayoutCompiler {
 public:
  LayoutCompiler(Layout* layout, std::string* error) : layout_(*layout), error_(*error) {}

  bool compile_object(const lattice_type_desc& desc);
  bool compile_structure(const lattice_struct_desc& desc, bool allow_empty);

 private:
  // The place of a structure's members: behaviour, host offset, depth and name.
  struct Scope {
    uint8_t behaviour;
    uint32_t host_offset;
    unsigned depth;
    bool predicted;
    bool in_container;
    std::string path;
    uint16_t conditions = 0;  // the send conditions of the member that all this is in
  };

  bool add_behaviour(const lattice_struct_desc& desc, const char* name, bool allow_empty);
  bool add_members(const lattice_struct_desc& desc, const Scope& scope, uint16_t first_node);
  bool add_member(const lattice_member_desc& member, uint32_t struct_bytes, const Scope& scope,
                  uint16_t index);
  bool add_value(const lattice_member_desc& member, const Scope& scope, uint16_t index);
  bool add_array(const lattice_member_desc& member, const Scope& scope, uint16_t index);
  bool add_elements(const lattice_member_desc& member, const Scope& scope, uint16_t index);
  bool place_container(const lattice_member_desc& member, uint32_t element_bytes, uint32_t* bytes,
                       const Scope& scope);
  bool check_key(const LayoutNode& map, const Scope& scope);
  bool add_tag(const lattice_struct_desc& desc, const Scope& outer);
  bool reserve_words(size_t count, const Scope& scope);
  LayoutNode begin_node(const lattice_member_desc& member, const Scope& scope, const std::string& name,
                        uint32_t host_bytes) const;
  void end_node(uint16_t index, const Scope& outer);
  bool add_nested(const lattice_member_desc& member, const Scope& scope, uint16_t index);
  bool add_leaves(const lattice_member_desc& member, const Scope& scope);
  bool add_integer(const lattice_member_desc& member, const Scope& scope);
  bool add_ranged(const lattice_member_desc& member, Leaf leaf, const Scope& scope);
  bool add_enum(const lattice_member_desc& member, const Scope& scope);
  bool add_floats(const lattice_member_desc& member, const Scope& scope);
  bool add_compressed(const lattice_quant& quant, Leaf leaf, const Scope& scope);
  bool add_angle(const lattice_member_desc& member, const Scope& scope);
  bool check_quant(const lattice_quant& quant, const Leaf& leaf, const Scope& scope);
  bool add_rotation(const lattice_member_desc& member, const Scope& scope);
  bool add_text(const lattice_member_desc& member, const Scope& scope);
  bool add_custom(const lattice_member_desc& member, const Scope& scope);
  bool push_leaf(Leaf leaf, LeafExtra extra, const Scope& scope);
  bool check_flags(const lattice_member_desc& member, const Scope& scope);
  bool check_conditions(const lattice_member_desc& member, const Scope& scope);
  bool check_extrapolation(const lattice_member_desc& member, const Scope& scope);
  bool check_priority(const lattice_member_desc& member, const Scope& scope);
  bool refuse_encoding(const lattice_member_desc& member, const Scope& scope);
  void add_motion(const lattice_member_desc& member, uint16_t first_leaf, const Scope& scope);
  void pair_motion();
  void collect_lines();
  void order_priorities();
  void measure();
  void plan_members();
  void plan_whole();
  void plan_word_masks();
  bool plan_packed(const LayoutNode& node, FlatMember* member);
  size_t max_members_bits(uint16_t first, uint16_t count) const;
  size_t max_changed_bits(const LayoutNode& node) const;
  size_t max_value_bits(const LayoutNode& node) const;
  void fill_zero_elements();
  void describe(const lattice_member_desc& member, const Scope& scope, uint16_t first_leaf);
  void line(unsigned depth, const std::string& text);
  std::string member_text(const lattice_member_desc& member) const;
  bool refuse(const Scope& scope, const std::string& what);
  void finish();

  Layout& layout_;
  std::string& error_;
  bool is_predicted_type_ = false;
  std::vector<float> priorities_;  // by top-level member
  unsigned silent_ = 0;  // above 0, the canonical text already describes the member that is being added
};

}  // namespace lattice::serialization
