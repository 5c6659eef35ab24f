#include "world/clamped_arguments.h"

#include <algorithm>

namespace lattice::world {

void ClampedArguments::note(const serialization::Layout& layout, const void* host,
                            std::optional<uint16_t> rpc_id) {
  scratch_.resize(layout.word_count());
  const unsigned members = layout.behaviours()[0].node_count;
  for (uint16_t i = 0; i < members; ++i) {
    const serialization::LayoutNode& member = *layout.member(i);
    if (layout.quantize_member(member, &host, scratch_.data())) continue;
    ++values_;
    if (std::ranges::find(told_, &member) != told_.end()) continue;
    told_.push_back(&member);
    observer_.on_argument_clamped(rpc_id, member.name);
  }
}

}  // namespace lattice::world
