// Members that do not travel to everyone, or not always, and those that hurry their object (§21).
#include <cstring>

#include "serialization/layout.h"

namespace lattice::serialization {
namespace {

void copy_words(const LayoutNode& node, const Word* from, Word* to) {
  std::memcpy(to + node.first_word, from + node.first_word, node.word_count * sizeof(Word));
}

bool is_hidden(const LayoutNode& node, Layout::Sight sight) {
  // Today a client predicts what it owns.
  constexpr unsigned kOwner = LATTICE_MEMBER_OWNER_ONLY | LATTICE_MEMBER_PREDICTED_ONLY;
  if ((node.conditions & kOwner) != 0 && !sight.is_owner) return true;
  if ((node.conditions & LATTICE_MEMBER_SKIP_OWNER) != 0 && sight.is_owner) return true;
  return (node.conditions & LATTICE_MEMBER_INITIAL_ONLY) != 0 && sight.has_baseline;
}

}  // namespace

const Word* Layout::seen(Sight sight, const Word* base, const Word* words, std::vector<Word>* scratch) const {
  if (!has_conditions()) return words;
  scratch->assign(words, words + word_count());
  for (const uint16_t index : conditional_) {
    if (is_hidden(nodes_[index], sight)) copy_words(nodes_[index], base, scratch->data());
  }
  return scratch->data();
}

float Layout::change_priority(Sight sight, const Word* base, const Word* words) const {
  if (base == nullptr) return priorities_[by_priority_.front()];
  for (const uint16_t index : by_priority_) {
    const LayoutNode& node = nodes_[members_[index].node];
    if (!same_words(base, words, node) && !is_hidden(node, sight)) return priorities_[index];
  }
  return priorities_[by_priority_.back()];
}

void Layout::keep_unsent(const Word* own, Word* words) const {
  for (const uint16_t index : conditional_) {
    const LayoutNode& node = nodes_[index];
    if ((node.conditions & LATTICE_MEMBER_SKIP_OWNER) != 0) copy_words(node, own, words);
  }
}

}  // namespace lattice::serialization
