#include "replication/object_type.h"

#include <algorithm>

#include "base/assert.h"
#include "serialization/layout.h"

namespace lattice::replication {

const ObjectType* TypeTable::add(uint32_t type_id, const serialization::Layout& layout,
                                 const Traits& traits) {
  LATTICE_ASSERT(traits.base_priority > 0.0f);
  if (find(type_id) != nullptr) return nullptr;
  auto type = std::make_unique<ObjectType>();
  type->type_id = type_id;
  type->index = static_cast<uint32_t>(types_.size());
  type->layout = &layout;
  type->base_priority = traits.base_priority;
  type->word_count = static_cast<uint32_t>(layout.word_count());
  type->max_entry_bytes = static_cast<uint32_t>((layout.max_delta_bits() + 7) / 8);
  type->round_host = traits.round_host;
  type->compare_always = traits.compare_always;
  type->predicted = traits.predicted;
  type->zero_words.resize(layout.word_count());
  layout.zero_baseline(type->zero_words.data());
  const auto place =
      std::find_if(types_.begin(), types_.end(), [&](const auto& other) { return other->type_id > type_id; });
  return types_.insert(place, std::move(type))->get();
}

const ObjectType* TypeTable::find(uint32_t type_id) const {
  const auto place = std::lower_bound(types_.begin(), types_.end(), type_id,
                                      [](const auto& type, uint32_t id) { return type->type_id < id; });
  return place != types_.end() && (*place)->type_id == type_id ? place->get() : nullptr;
}

}  // namespace lattice::replication
