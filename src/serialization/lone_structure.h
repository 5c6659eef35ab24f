// The structure of a behaviour as one that stands alone: without send conditions and priorities, which only
// the members of objects have. They change no bits.
#pragma once

#include <vector>

#include "lattice/schema.h"

namespace lattice::serialization {

inline constexpr uint32_t kSendConditions = LATTICE_MEMBER_OWNER_ONLY | LATTICE_MEMBER_SKIP_OWNER |
                                            LATTICE_MEMBER_PREDICTED_ONLY | LATTICE_MEMBER_INITIAL_ONLY;

class LoneStructure {
 public:
  /// What `desc` points at outlives this.
  explicit LoneStructure(const lattice_struct_desc& desc)
      : members_(desc.members, desc.members + desc.member_count), desc_(desc) {
    for (lattice_member_desc& member : members_) {
      member.flags &= ~kSendConditions;
      member.priority = 0.0f;
    }
    desc_.members = members_.data();
  }
  LoneStructure(const LoneStructure&) = delete;
  LoneStructure& operator=(const LoneStructure&) = delete;
  const lattice_struct_desc& desc() const { return desc_; }

 private:
  std::vector<lattice_member_desc> members_;
  lattice_struct_desc desc_;
};

}  // namespace lattice::serialization
