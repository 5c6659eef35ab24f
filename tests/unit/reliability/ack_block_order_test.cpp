// When the 16 bits of an acknowledgement block are certain to mean one number.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "reliability/recovery/ack_block_order.h"
#include "reliability/recovery/sent_packet_history.h"

namespace lattice::reliability {
namespace {

TEST(AckBlockOrder, NotOfAPacketFarBehind) {
  const AckBlockOrder order;
  EXPECT_TRUE(order.is_certain(100, 164, 0, 200));
  EXPECT_FALSE(order.is_certain(99, 164, 0, 200));
}

TEST(AckBlockOrder, WhatCouldNameTwoIsNotRead) {
  AckBlockOrder order;
  order.on_newest(100, 1000);
  order.on_newest(163, 5000);  // Too near for a mark of its own.
  order.on_newest(164, 6000);
  EXPECT_TRUE(order.is_certain(150, 200, 6000, 1000 + 0xFFFF));
  EXPECT_FALSE(order.is_certain(150, 200, 6000, 1000 + 0x10000));
  EXPECT_TRUE(order.is_certain(200, 200, 6000, 6000 + 0xFFFF));
  EXPECT_FALSE(order.is_certain(200, 200, 6000, 6000 + 0x10000));
  order.on_newest(228, 30'000);
  EXPECT_TRUE(order.is_certain(200, 228, 30'000, 6000 + 0xFFFF));
}

TEST(AckBlockOrder, AnEchoSaysWhatItsBlockCanName) {
  const AckBlockOrder order;
  EXPECT_FALSE(order.is_certain(300, 300, 0, 0x10000));
  EXPECT_TRUE(order.is_certain(300, 300, 0, 0x10000, 1));
  EXPECT_TRUE(order.is_certain(100, 300, 0, 0x10000, 1)) << "however late";
  EXPECT_FALSE(order.is_certain(300, 300, 0, 0x10001, 1));
}

// A peer that hears a random part of what is sent, echoes some probes, and whose blocks arrive late, in any
// order, or never: what is read of a block that is certain is what it was written for. And whatever came
// before, the next block beside an echo is read.
TEST(AckBlockOrderProperty, WhatIsReadIsWhatWasMeant) {
  EXPECT_TRUE(rc::check("blocks late, in any order, or never", [] {
    AckBlockOrder order;
    uint64_t last_sent = 1, largest_acked = 0, newest = 0, heard = 0;
    std::vector<uint64_t> meant(1, 0), echoed(1, 0);  // By packet of the peer.
    const auto packets = *rc::gen::inRange<uint64_t>(100, 600);
    for (uint64_t i = 0; i < packets; ++i) {
      // Messages up to the bound, and now and then what knows none.
      const uint64_t bound = std::max(largest_acked + kMaxUnacked, last_sent);
      last_sent += *rc::gen::inRange<uint64_t>(0, bound - last_sent + 1);
      last_sent += *rc::gen::weightedElement<uint64_t>({{5, 0}, {2, 7}, {1, 200}, {1, 40'000}});
      heard =
          std::max(heard, last_sent - *rc::gen::inRange<uint64_t>(0, std::min<uint64_t>(last_sent, 40'000)));
      meant.push_back(heard);
      // The probe was heard, so the highest number heard is its packet's or a later one.
      const bool has_echo = *rc::gen::weightedElement<bool>({{4, false}, {1, true}});
      echoed.push_back(has_echo && heard != 0 ? *rc::gen::inRange<uint64_t>(1, heard + 1) : 0);
      const uint64_t latest = meant.size() - 1;
      for (const uint64_t back :
           *rc::gen::container<std::vector<uint64_t>>(rc::gen::inRange<uint64_t>(0, 200))) {
        if (back >= latest) continue;
        const uint64_t seq = latest - back;
        newest = std::max(newest, seq);
        if (!order.is_certain(seq, newest, largest_acked, last_sent, echoed[seq])) continue;
        const uint64_t read = SentPacketHistory::expand(static_cast<uint16_t>(meant[seq]), last_sent);
        RC_ASSERT(read == meant[seq]);
        largest_acked = std::max(largest_acked, read);
        if (seq == newest) order.on_newest(seq, largest_acked);
      }
    }
    // All numbers pass unheard, with acknowledgements only. Then a probe arrives, and is echoed.
    last_sent += 0x20000;
    const uint64_t seq = meant.size(), probe = last_sent;
    last_sent += *rc::gen::inRange<uint64_t>(0, 0x10000);
    RC_ASSERT(!order.is_certain(seq, seq, largest_acked, last_sent));
    RC_ASSERT(order.is_certain(seq, seq, largest_acked, last_sent, probe));
    RC_ASSERT(SentPacketHistory::expand(static_cast<uint16_t>(probe), last_sent) == probe);
  }));
}

}  // namespace
}  // namespace lattice::reliability
