// One receipt for a message in several fragments: acked when the last fragment is acked, lost when the first
// fragment is lost.
//
// The endpoint below knows only fragments, so each fragment carries a number of this table in place of the
// message's receipt. These numbers have the top bit set; receipts of the layer above do not.
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

  /// Returns the number that the `count` fragments of a message with `receipt` carry. `receipt` is not 0 and
  /// does not have kGroupBit.
  uint32_t open(uint32_t receipt, size_t count);
  /// Undoes open(): none of the fragments was queued.
  void cancel(uint32_t number);

  struct Told {
    uint32_t receipt;
    bool acked;
  };
  /// One fragment was acked or lost. Returns the receipt of the whole message, at most once.
  std::optional<Told> on_receipt(uint32_t number, bool acked);

  /// Messages with fragments that were not reported yet.
  size_t open_count() const { return entries_.size() - free_.size(); }

 private:
  struct Entry {
    uint32_t receipt;
    uint16_t untold;  ///< Fragments that were not reported yet.
    bool is_told;
  };
  void close(uint32_t index) { free_.push_back(index); }

  // As long as the most messages that were open at once. The bounds of the queues bound that number.
  std::vector<Entry> entries_;
  std::vector<uint32_t> free_;
};

}  // namespace lattice::fragment
