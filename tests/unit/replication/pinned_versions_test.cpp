#include "replication/pinned_versions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.h"

namespace lattice::replication {
namespace {

using serialization::Word;

// Any order of pins, releases and ends.
TEST(PinnedVersions, finds_what_somebody_holds_and_nothing_else) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    base::Random random(seed);
    PinnedVersions pinned;
    std::map<std::pair<uint32_t, uint32_t>, std::shared_ptr<const PinnedVersion>> held;
    size_t most = 0;
    for (int i = 0; i < 5000; ++i) {
      const auto slot = static_cast<uint32_t>(random.next_below(40));
      const auto version = static_cast<uint32_t>(random.next_below(6)) + 1;
      const auto key = std::pair(slot, version);
      const uint64_t act = random.next_below(100);
      if (act < 50) {
        const Word words[2] = {slot, version};
        const auto pin = pinned.pin(slot, version, words);
        EXPECT_TRUE(!held.contains(key) || held[key] == pin);
        held[key] = pin;
      } else if (act < 98) {
        held.erase(key);
      } else {
        pinned.forget(slot);
        std::erase_if(held, [&](const auto& each) { return each.first.first == slot; });
      }
      most = std::max(most, held.size());
      const Word* words = pinned.find(slot, version);
      ASSERT_EQ(words != nullptr, held.contains(key)) << seed << " " << i;
      EXPECT_TRUE(words == nullptr || (words[0] == slot && words[1] == version));
    }
    for (const auto& [key, pin] : held) EXPECT_EQ(pinned.find(key.first, key.second), pin->words.data());
    EXPECT_LE(pinned.memory(), 2 * most);
  }
}

// Some are held for long, side by side, and those of many versions only for a moment.
TEST(PinnedVersions, take_no_more_memory_with_time) {
  constexpr uint32_t kLong = 1280, kShort = 320, kPins = 1'000'000;
  PinnedVersions pinned;
  const Word word[1] = {7};
  std::vector<std::shared_ptr<const PinnedVersion>> held(kLong), moving(kShort);
  uint32_t version = 0;
  for (auto& pin : held) {
    ++version;
    pin = pinned.pin(version % 1000, version, word);
  }
  for (uint32_t i = 0; i < kPins; ++i) {
    ++version;
    moving[i % kShort] = pinned.pin(version % 1000, version, word);
  }
  EXPECT_LE(pinned.memory(), 2 * (kLong + kShort));
}

TEST(PinnedVersions, a_version_outlives_its_object_while_it_is_held) {
  PinnedVersions pinned;
  const Word word[1] = {7};
  const auto pin = pinned.pin(3, 1, word);
  pinned.forget(3);
  EXPECT_EQ(pinned.find(3, 1), nullptr);
  EXPECT_EQ(pin->words[0], 7u);
  const auto other = pinned.pin(3, 1, word);  // of another object in the slot
  EXPECT_NE(pin, other);
  EXPECT_EQ(pinned.find(3, 1), other->words.data());
}

}  // namespace
}  // namespace lattice::replication
