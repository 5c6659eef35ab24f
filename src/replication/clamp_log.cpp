#include "replication/clamp_log.h"

#include <utility>

#include "base/assert.h"
#include "serialization/layout.h"

namespace lattice::replication {

void ClampLog::add_type(const ObjectType& type) {
  if (type.index >= reported_.size()) reported_.resize(type.index + 1);
  if (!reported_[type.index].empty()) return;
  size_t count = 0;
  for (const serialization::LayoutBehaviour& behaviour : type.layout->behaviours()) {
    count += behaviour.node_count;
  }
  reported_[type.index].resize(count);
  reports_.reserve(reports_.capacity() + count);
}

void ClampLog::count(const ObjectType& type, uint32_t slot, base::Tick tick, const void* const* host,
                     serialization::Word* words) {
  LATTICE_ASSERT(type.index < reported_.size());
  std::vector<uint8_t>& reported = reported_[type.index];
  const serialization::Layout& layout = *type.layout;
  size_t member = 0;
  for (size_t behaviour = 0; behaviour < layout.behaviour_count(); ++behaviour) {
    for (unsigned i = 0; i < layout.behaviours()[behaviour].node_count; ++i, ++member) {
      const auto prop_id = static_cast<uint16_t>(behaviour << 8 | i);
      if (layout.quantize_member(*layout.member(prop_id), host, words)) continue;
      LATTICE_ASSERT(member < reported.size());
      ++values_;
      if (std::exchange(reported[member], uint8_t{1}) == 0) reports_.push_back({slot, prop_id, tick});
    }
  }
}

}  // namespace lattice::replication
