// The objects that both sides place before a session: the doors of a level. Each side tells the library their
// keys, types and states, and the handshake compares a summary (S-41). So a snapshot only tells what is no
// longer as it was placed (D-51).
//
// True once it is in order: the i-th object by ascending key has network_id i + 1, and the authority has it
// in slot i. The order in which the game placed them does not matter.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/hash_index.h"
#include "replication/object_type.h"
#include "transport/wire/handshake_bodies.h"

namespace lattice::world {

class PlacedSet {
 public:
  struct Object {
    uint64_t key = 0;
    const replication::ObjectType* type = nullptr;
    uint32_t first_word = 0;
  };
  enum class Result : uint8_t {
    kOk,
    kDuplicate,   // the key is taken
    kDoesNotFit,  // a value does not fit its member
  };

  /// `states` has one host structure for each behaviour of the type. They are read here and not kept.
  Result add(uint64_t key, const replication::ObjectType& type, const void* const* states);
  void clear();
  /// Puts the objects in ascending order of their keys.
  void put_in_order();

  std::span<const Object> objects() const { return objects_; }
  uint32_t size() const { return static_cast<uint32_t>(objects_.size()); }
  /// Valid until the next add() or clear().
  const serialization::Word* words(const Object& object) const { return words_.data() + object.first_word; }

  // --- Once the set is in order
  /// 0 for an unknown key.
  uint64_t network_id(uint64_t key) const;
  bool has(uint64_t network_id) const { return network_id - 1 < objects_.size(); }
  /// 0 for an object that was not placed.
  uint64_t key_of(uint64_t network_id) const {
    return has(network_id) ? objects_[static_cast<size_t>(network_id - 1)].key : 0;
  }
  /// The digest is the first 8 bytes of the SHA-256 of all objects: key varint, type_id varint, the changes
  /// from the zero baseline as D-8 has them, padded with zero bits to a byte.
  wire::PlacedSummary summary() const;

 private:
  std::vector<Object> objects_;
  std::vector<serialization::Word> words_;
  base::HashIndex keys_{64, base::HashIndex::Growth::kDoubling};  // key -> place in objects_
};

}  // namespace lattice::world
