// Members that do not travel to everyone, or not always, and those that hurry their object (§21).
#include <algorithm>
#include <cstring>

#include "serialization/layout.h"

namespace lattice::serialization {
namespace {

void copy_words(const LayoutNode& node, const Word* from, Word* to) {
  std::memcpy(to + node.first_word, from + node.first_word, node.word_count * sizeof(Word));
}

}  // namespace

bool Layout::hides(unsigned conditions, Sight sight) {
  // Today a client predicts what it owns.
  constexpr unsigned kOwner = LATTICE_MEMBER_OWNER_ONLY | LATTICE_MEMBER_PREDICTED_ONLY;
  if ((conditions & kOwner) != 0 && !sight.is_owner) return true;
  if ((conditions & LATTICE_MEMBER_SKIP_OWNER) != 0 && sight.is_owner) return true;
  return (conditions & LATTICE_MEMBER_INITIAL_ONLY) != 0 && sight.has_baseline;
}

const Word* Layout::seen(Sight sight, const Word* base, const Word* words, std::vector<Word>* scratch) const {
  if (!has_conditions()) return words;
  scratch->assign(words, words + word_count());
  for (const uint16_t index : conditional_) {
    if (hides(nodes_[index].conditions, sight)) copy_words(nodes_[index], base, scratch->data());
  }
  return scratch->data();
}

float Layout::change_priority(Sight sight, const Word* base, const Word* words) const {
  const float largest = priorities_[by_priority_.front()], smallest = priorities_[by_priority_.back()];
  if (base == nullptr) return sight.has_baseline ? std::clamp(1.0f, smallest, largest) : largest;
  for (const uint16_t index : by_priority_) {
    const LayoutNode& node = nodes_[members_[index].node];
    if (!same_words(base, words, node) && !hides(node.conditions, sight)) return priorities_[index];
  }
  return smallest;
}

void Layout::keep_unsent(const Word* own, Word* words) const {
  for (const uint16_t index : conditional_) {
    const LayoutNode& node = nodes_[index];
    if ((node.conditions & LATTICE_MEMBER_SKIP_OWNER) != 0) copy_words(node, own, words);
  }
}

}  // namespace lattice::serialization
