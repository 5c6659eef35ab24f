#include "transport/connection/secure_link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/byte_cursor.h"
#include "base/random.h"
#include "transport/crypto/nonce_ledger.h"
#include "unit/transport/connection/link_keys.h"

namespace lattice::connection {
namespace {

using Bytes = std::vector<uint8_t>;
using test::key_of;
using test::kId;
using wire::PacketType;

class LinkPair : public testing::Test {
 protected:
  LinkPair() { crypto::nonce_ledger_clear(); }

  static Bytes seal(SecureLink& link, std::string_view text, PacketType type = PacketType::kPayload) {
    Bytes buffer(1200);
    const size_t offset = 30;
    std::copy(text.begin(), text.end(), buffer.begin() + offset);
    const auto sealed = link.seal(type, buffer, offset, text.size());
    if (!sealed) return {};
    return Bytes(sealed->datagram.begin(), sealed->datagram.end());
  }
  static OpenRefusal refusal(SecureLink& link, Bytes datagram) { return link.open(datagram).refusal; }

  SecureLink client_{wire::kProtocolId, kId, crypto::Role::kClient, key_of(1)};
  SecureLink server_{wire::kProtocolId, kId, crypto::Role::kServer, key_of(1)};
};

TEST_F(LinkPair, RoundTripBothWaysEveryType) {
  uint64_t seq = 0;
  for (const PacketType type : {PacketType::kPayload, PacketType::kKeepalive, PacketType::kDisconnect}) {
    ++seq;
    for (auto [from, to] : {std::pair(&client_, &server_), std::pair(&server_, &client_)}) {
      EXPECT_EQ(from->next_packet_seq(), seq);
      Bytes datagram = seal(*from, "hello", type);
      EXPECT_EQ(datagram.size(), 15u + 5u + 16u);
      const SecureLink::Opened opened = to->open(datagram);
      ASSERT_TRUE(opened);
      EXPECT_EQ(opened.type, type);
      EXPECT_EQ(opened.packet_seq, seq);
      EXPECT_TRUE(opened.is_newest);
      EXPECT_EQ(std::string(opened.plaintext.begin(), opened.plaintext.end()), "hello");
    }
  }
}

TEST_F(LinkPair, EmptyPlaintextIsTheSmallestDatagram) {
  Bytes datagram = seal(client_, "");
  EXPECT_EQ(datagram.size(), wire::kMinSealedDatagramBytes);
  EXPECT_TRUE(server_.open(datagram));
}

TEST_F(LinkPair, HeaderGrowsWithTheNumber) {
  for (int i = 1; i < 128; ++i) seal(client_, "");
  EXPECT_EQ(client_.next_header_bytes(), 16u);
  EXPECT_EQ(client_.next_overhead_bytes(), 32u);
  Bytes datagram = seal(client_, "x");
  EXPECT_EQ(datagram.size(), 16u + 1u + 16u);
  EXPECT_EQ(server_.open(datagram).packet_seq, 128u);
}

TEST_F(LinkPair, EveryFlippedBitAndTruncationIsRefused) {
  const Bytes good = seal(client_, "payload");
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    Bytes bad = good;
    bad[bit / 8] = static_cast<uint8_t>(bad[bit / 8] ^ (1u << (bit % 8)));
    EXPECT_NE(refusal(server_, bad), OpenRefusal::kNone) << "bit " << bit;
  }
  for (size_t n = 0; n < good.size(); ++n) {
    EXPECT_NE(refusal(server_, Bytes(good.begin(), good.begin() + static_cast<ptrdiff_t>(n))),
              OpenRefusal::kNone);
  }
  EXPECT_EQ(server_.highest_received(), 0u);
  EXPECT_EQ(refusal(server_, good), OpenRefusal::kNone);
}

TEST_F(LinkPair, ReflectedPacketIsRefused) {
  EXPECT_EQ(refusal(client_, seal(client_, "to server")), OpenRefusal::kNotAuthentic);
}

TEST_F(LinkPair, RefusalsAreNamedAndCounted) {
  const Bytes good = seal(client_, "x");
  Bytes wrong_version = good, handshake = good, foreign = good, epoch = good;
  wrong_version[2] ^= 1;
  handshake[4] = 0x00;
  foreign[5] ^= 1;
  epoch[13] = 1;
  EXPECT_EQ(refusal(server_, wrong_version), OpenRefusal::kMalformed);
  EXPECT_EQ(refusal(server_, handshake), OpenRefusal::kNotSessionPacket);
  EXPECT_EQ(refusal(server_, foreign), OpenRefusal::kForeignConnection);
  EXPECT_EQ(refusal(server_, epoch), OpenRefusal::kUnknownEpoch);
  EXPECT_EQ(refusal(server_, good), OpenRefusal::kNone);
  EXPECT_EQ(refusal(server_, good), OpenRefusal::kDuplicate);
  Bytes zero = good;
  zero[14] = 0;
  EXPECT_EQ(refusal(server_, zero), OpenRefusal::kSequenceRange);
  for (int i = 0; i < 1024; ++i) server_.open(*std::make_unique<Bytes>(seal(client_, "x")));
  EXPECT_EQ(refusal(server_, good), OpenRefusal::kTooOld);
  for (const OpenRefusal each :
       {OpenRefusal::kNotSessionPacket, OpenRefusal::kForeignConnection, OpenRefusal::kUnknownEpoch,
        OpenRefusal::kDuplicate, OpenRefusal::kSequenceRange, OpenRefusal::kTooOld,
        OpenRefusal::kMalformed}) {
    EXPECT_EQ(server_.refusal_count(each), 1u) << static_cast<int>(each);
  }
}

TEST_F(LinkPair, OverlongNumberIsMalformed) {
  const Bytes good = seal(client_, "overlong");
  Bytes overlong(good.begin(), good.begin() + 14);
  overlong.push_back(0x81);
  overlong.push_back(0x00);
  overlong.insert(overlong.end(), good.begin() + 15, good.end());
  EXPECT_EQ(refusal(server_, overlong), OpenRefusal::kMalformed);
}

TEST_F(LinkPair, FloodOfForgedNumbersDoesNotDisturbALiveStream) {
  base::Random random(3);
  for (int i = 0; i < 200; ++i) {
    Bytes forged(15 + 8 + 30);
    wire::PacketHeader header;
    header.type = PacketType::kPayload;
    header.connection_id = kId;
    header.packet_seq = 1 + random.next_below(crypto::kPacketSeqLimit - 1);
    wire::encode_packet_header(header, forged);
    EXPECT_EQ(refusal(server_, forged), OpenRefusal::kNotAuthentic);
    EXPECT_EQ(refusal(server_, seal(client_, "live")), OpenRefusal::kNone);
  }
  EXPECT_EQ(server_.highest_received(), 200u);
}

TEST_F(LinkPair, ForgeryLimitClosesForReceivingOnly) {
  SecureLink limited(wire::kProtocolId, kId, crypto::Role::kServer, key_of(1), {.failed_opens = 3});
  const Bytes good = seal(client_, "x");
  Bytes bad = good;
  bad.back() ^= 1;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(limited.closed(), LinkClosed::kOpen);
    EXPECT_EQ(refusal(limited, bad), OpenRefusal::kNotAuthentic);
  }
  EXPECT_EQ(limited.closed(), LinkClosed::kForgeryLimit);
  EXPECT_EQ(refusal(limited, good), OpenRefusal::kForgeryLimit);
  EXPECT_FALSE(seal(limited, "goodbye").empty()) << "a Disconnect can still say why";
}

TEST_F(LinkPair, PacketNumbersEnd) {
  SecureLink limited(wire::kProtocolId, kId, crypto::Role::kServer, key_of(2), {.packet_seq = 4});
  for (int i = 1; i < 4; ++i) EXPECT_FALSE(seal(limited, "x").empty());
  EXPECT_EQ(limited.closed(), LinkClosed::kPacketNumbersExhausted);
  EXPECT_TRUE(seal(limited, "x").empty());
}

TEST_F(LinkPair, EpochsOverlapAndNumbersContinue) {
  const Bytes before = seal(client_, "old 1"), late = seal(client_, "old 2");
  for (SecureLink* link : {&client_, &server_}) link->install_epoch(key_of(9));
  EXPECT_EQ(refusal(server_, before), OpenRefusal::kNone);
  const Bytes still_old = seal(client_, "old 3");  // Installed for receiving, not yet for sending.
  client_.send_in_newest_epoch();
  const Bytes fresh = seal(client_, "new 4");
  EXPECT_EQ(fresh[13], 1);
  EXPECT_EQ(refusal(server_, fresh), OpenRefusal::kNone);
  EXPECT_EQ(refusal(server_, still_old), OpenRefusal::kNone);
  EXPECT_EQ(refusal(server_, fresh), OpenRefusal::kDuplicate) << "one window for both epochs";
  server_.send_in_newest_epoch();
  server_.retire_old_epoch();
  EXPECT_EQ(refusal(server_, late), OpenRefusal::kUnknownEpoch);
  client_.retire_old_epoch();
  for (SecureLink* link : {&client_, &server_}) {
    link->install_epoch(key_of(10));
    link->send_in_newest_epoch();
  }
  Bytes third = seal(client_, "epoch 2");
  EXPECT_TRUE(server_.open(third));
  EXPECT_EQ(server_.newest_epoch(), 2u);
}

TEST_F(LinkPair, OldEpochNumberedAboveTheNewIsRefused) {
  // A sender never goes back: two sender links stand in for one whose old key leaked.
  SecureLink thief(wire::kProtocolId, kId, crypto::Role::kClient, key_of(1));
  client_.install_epoch(key_of(9));
  server_.install_epoch(key_of(9));
  client_.send_in_newest_epoch();
  EXPECT_EQ(refusal(server_, seal(client_, "new 1")), OpenRefusal::kNone);
  seal(thief, "1");
  const Bytes above = seal(thief, "old key, number 2");
  EXPECT_EQ(refusal(server_, above), OpenRefusal::kLateOldEpoch);
}

TEST_F(LinkPair, SealedInTwoHalvesThePacketIsTheSame) {
  crypto::nonce_ledger_clear();
  SecureLink twin(wire::kProtocolId, kId, crypto::Role::kClient, key_of(1));
  const std::array<std::string, 3> texts = {"one", "two", "three"};
  std::vector<Bytes> whole;
  for (const std::string& text : texts) whole.push_back(seal(client_, text));
  crypto::nonce_ledger_clear();  // The twin seals the same under the same numbers.

  std::array<Bytes, 3> buffers;
  std::vector<SecureLink::Unsealed> begun;
  for (size_t i = 0; i < texts.size(); ++i) {
    buffers[i].assign(100, 0);
    std::copy(texts[i].begin(), texts[i].end(), buffers[i].begin() + 30);
    begun.push_back(*twin.begin_seal(PacketType::kPayload, buffers[i], 30, texts[i].size()));
    EXPECT_EQ(begun[i].packet_seq, i + 1);
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    twin.finish_seal(begun[i]);
    EXPECT_EQ(Bytes(begun[i].datagram.begin(), begun[i].datagram.end()), whole[i]);
  }
}

TEST_F(LinkPair, KeysDoNotChangeUnderAPacketThatWaitsToBeSealed) {
  Bytes buffer(100);
  client_.install_epoch(key_of(9));
  ASSERT_TRUE(client_.begin_seal(PacketType::kPayload, buffer, 30, 5));
  EXPECT_DEATH(client_.send_in_newest_epoch(), "unsealed_count_ == 0");
}

TEST_F(LinkPair, OpenedAheadNothingIsBelievedBeforeItsTurn) {
  Bytes first = seal(client_, "first"), forged = seal(client_, "second"), copy = first;
  forged.back() ^= 1;
  const SecureLink& look = server_;
  const OpenedAhead first_ahead = look.open_ahead(first);
  const OpenedAhead copy_ahead = look.open_ahead(copy);
  const OpenedAhead forged_ahead = look.open_ahead(forged);
  EXPECT_EQ(first_ahead, OpenedAhead::kAuthentic);
  EXPECT_EQ(copy_ahead, OpenedAhead::kAuthentic);
  EXPECT_EQ(forged_ahead, OpenedAhead::kForged);
  EXPECT_EQ(server_.highest_received(), 0u);
  EXPECT_EQ(server_.refusal_count(OpenRefusal::kNotAuthentic), 0u);

  const SecureLink::Opened opened = server_.open(first, first_ahead);
  ASSERT_TRUE(opened);
  EXPECT_EQ(std::string(opened.plaintext.begin(), opened.plaintext.end()), "first");
  EXPECT_EQ(server_.open(copy, copy_ahead).refusal, OpenRefusal::kDuplicate);
  EXPECT_EQ(server_.open(forged, forged_ahead).refusal, OpenRefusal::kNotAuthentic);
  EXPECT_EQ(server_.refusal_count(OpenRefusal::kNotAuthentic), 1u);
  EXPECT_EQ(server_.highest_received(), 1u);
}

TEST_F(LinkPair, OpenedAheadOfItsKeyOrAfterItsEndAPacketIsJudgedInItsTurn) {
  Bytes last_old = seal(client_, "old 1");
  for (SecureLink* link : {&client_, &server_}) link->install_epoch(key_of(9));
  client_.send_in_newest_epoch();
  Bytes first_new = seal(client_, "new 2"), early = first_new;
  SecureLink behind(wire::kProtocolId, kId, crypto::Role::kServer, key_of(1));
  EXPECT_EQ(behind.open_ahead(early), OpenedAhead::kNotTried) << "an epoch that has not begun";
  behind.install_epoch(key_of(9));
  EXPECT_TRUE(behind.open(early, OpenedAhead::kNotTried)) << "begun since";

  const OpenedAhead old_ahead = server_.open_ahead(last_old);
  EXPECT_EQ(old_ahead, OpenedAhead::kAuthentic);
  EXPECT_TRUE(server_.open(first_new));
  server_.send_in_newest_epoch();
  server_.retire_old_epoch();
  EXPECT_EQ(server_.open(last_old, old_ahead).refusal, OpenRefusal::kUnknownEpoch);
}

TEST_F(LinkPair, TheForgeryLimitHoldsWithinABatchOpenedAhead) {
  SecureLink limited(wire::kProtocolId, kId, crypto::Role::kServer, key_of(1), {.failed_opens = 2});
  std::vector<Bytes> batch;
  for (int i = 0; i < 4; ++i) batch.push_back(seal(client_, "x"));
  for (size_t i = 0; i < 3; ++i) batch[i].back() ^= 1;
  std::vector<OpenedAhead> ahead;
  for (Bytes& datagram : batch) ahead.push_back(limited.open_ahead(datagram));
  EXPECT_EQ(ahead, (std::vector<OpenedAhead>{OpenedAhead::kForged, OpenedAhead::kForged, OpenedAhead::kForged,
                                             OpenedAhead::kAuthentic}));
  EXPECT_EQ(limited.open(batch[0], ahead[0]).refusal, OpenRefusal::kNotAuthentic);
  EXPECT_EQ(limited.open(batch[1], ahead[1]).refusal, OpenRefusal::kNotAuthentic);
  EXPECT_EQ(limited.open(batch[2], ahead[2]).refusal, OpenRefusal::kForgeryLimit);
  EXPECT_EQ(limited.open(batch[3], ahead[3]).refusal, OpenRefusal::kForgeryLimit);
  EXPECT_EQ(limited.open_ahead(batch[3]), OpenedAhead::kNotTried) << "no work for a closed link";
}

}  // namespace
}  // namespace lattice::connection
