// How much of one reading of the socket a connection may fill. What a datagram costs follows from its
// messages, and a datagram has room for hundreds that are empty: who sends thousands of such datagrams at
// once must not keep the others waiting for long.
//
// Must stay true: a connection that used less than its share of the work of a reading is never refused, and
// none is before all of that work was done. So one reading does at most twice that work. A connection that is
// alone is not refused: its datagrams wait for the next reading.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace lattice::reliability {

class ReadingShares {
 public:
  /// The work of a reading that is done for everybody, in messages: some 7 ms. A link of 1 Gbit/s that is
  /// read 60 times a second brings a third of it in full datagrams.
  static constexpr uint32_t kWork = 65'536;
  /// What a datagram costs besides its messages, in messages.
  static constexpr uint32_t kDatagramWork = 8;

  /// What one connection used. The connection owns it.
  struct Used {
    uint32_t reading = 0;
    uint32_t work = 0;
  };

  /// Another reading begins, with so many connections.
  void begin(size_t connections) {
    ++reading_;
    work_ = 0;
    is_alone_ = connections < 2;
    share_ = kWork / static_cast<uint32_t>(std::clamp<size_t>(connections, 1, kWork));
  }
  /// True when the rest can wait for the next reading.
  bool is_enough() const { return is_alone_ && work_ >= kWork; }
  /// True when the work is done and this connection had its share.
  bool is_over(const Used& used) const {
    return !is_alone_ && work_ >= kWork && used.reading == reading_ && used.work >= share_;
  }
  /// A datagram with so many messages was read.
  void spend(Used* used, uint32_t messages) {
    if (used->reading != reading_) *used = {reading_, 0};
    used->work += kDatagramWork + messages;
    work_ += kDatagramWork + messages;
  }

 private:
  uint32_t reading_ = 0;
  uint32_t work_ = 0;
  uint32_t share_ = kWork;
  bool is_alone_ = true;
};

}  // namespace lattice::reliability
