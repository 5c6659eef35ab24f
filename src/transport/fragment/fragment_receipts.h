// One receipt for a message in several fragments: told acked when the last of them is, lost when the first
// is.
//
// The endpoint below knows fragments only, so each carries a number of this table in place of the message's
// own receipt. Such numbers have the top bit; receipts of the layer above have not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace lattice::fragment {

class FragmentReceipts {
 public:
  static constexpr uint32_t kGroupBit = 1u << 31;

  static bool is_group(uint32_t receipt) { return (receipt & kGroupBit) != 0; }

  /// The number `count` fragments carry for a message with `receipt`, which is not 0 and has no kGroupBit.
  uint32_t open(uint32_t receipt, size_t count);
  /// None of the fragments was queued after all.
  void cancel(uint32_t number);

  struct Told {
    uint32_t receipt;
    bool acked;
  };
  /// One fragment was acked or lost. Returns the receipt of the whole message, at most once.
  std::optional<Told> on_receipt(uint32_t number, bool acked);

  /// Messages whose fragments are not all told.
  size_t open_count() const { return entries_.size() - free_.size(); }

 private:
  struct Entry {
    uint32_t receipt;
    uint16_t untold;  ///< Fragments.
    bool is_told;
  };
  void close(uint32_t index) { free_.push_back(index); }

  // As long as the most that were open at once, which the bounds of the queues bound.
  std::vector<Entry> entries_;
  std::vector<uint32_t> free_;
};

}  // namespace lattice::fragment
