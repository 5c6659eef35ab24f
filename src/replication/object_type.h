// What replication knows about one registered type, and the table of the types by type_id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "serialization/word.h"

namespace lattice::serialization {
class Layout;
}

namespace lattice::replication {

/// One replicated type. Made by TypeTable::add; lives as long as its table.
struct ObjectType {
  uint32_t type_id = 0;
  uint32_t index = 0;                             // in the order of add()
  const serialization::Layout* layout = nullptr;  // borrowed, outlives the table
  float base_priority = 1.0f;                     // C-04: relative rate at which staleness becomes priority
  uint32_t word_count = 0;                        // words of one quantized state
  uint32_t max_entry_bytes = 0;                   // the changes of one entry take at most so many
  bool round_host = false;      // S-03: members are rounded to their wire value after each tick
  bool compare_always = false;  // every object is compared in each tick, as if it had been written
  bool predicted = false;       // its owner may predict it
  std::vector<serialization::Word> zero_words;  // the zero baseline
};

/// The types of a world, in ascending type_id. Filled before the first object; pointers handed out stay
/// valid until the table is destroyed.
class TypeTable {
 public:
  /// The members of ObjectType with these names.
  struct Traits {
    float base_priority = 1.0f;  // > 0
    bool round_host = false;
    bool compare_always = false;
    bool predicted = false;
  };

  TypeTable() = default;
  TypeTable(const TypeTable&) = delete;
  TypeTable& operator=(const TypeTable&) = delete;

  /// Registers a type. Returns the entry, or null for a repeated id.
  const ObjectType* add(uint32_t type_id, const serialization::Layout& layout, const Traits& traits);
  const ObjectType* add(uint32_t type_id, const serialization::Layout& layout) {
    return add(type_id, layout, {});
  }
  /// Null when there is no such type.
  const ObjectType* find(uint32_t type_id) const;
  size_t size() const { return types_.size(); }

 private:
  std::vector<std::unique_ptr<ObjectType>> types_;  // ascending type_id
};

}  // namespace lattice::replication
