// Two sides joined without a network: who is told what, in every order of ends, and what a peer may not say.
#include "transfer/transfers.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <deque>

#include "unit/transfer/transfer_app.h"
#include "unit/transport/hex.h"

namespace lattice::transfer {
namespace {

using test::from_hex;
using test::TransferApp;
using Bytes = std::vector<uint8_t>;
using Refusal = TransferRefusal;

constexpr ConnectionHandle kPeer{0, 1};
constexpr uint8_t kChannel = 13;

TransferConfig config_of(uint64_t max_size_bytes) {
  TransferConfig config;
  config.max_connections = 2;
  config.channel = kChannel;
  config.max_size_bytes = max_size_bytes;
  return config;
}

/// One side, and the control messages it has sent.
struct Side final : TransferLink {
  explicit Side(uint64_t max_size_bytes = 1u << 20) : transfers(config_of(max_size_bytes), *this, app) {
    app.transfers = &transfers;
  }
  bool send_control(ConnectionHandle, std::span<const uint8_t> body) override {
    if (full) return false;
    control.emplace_back(body.begin(), body.end());
    return true;
  }
  void close(ConnectionHandle) override { closed = true; }
  void wake(ConnectionHandle) override { ++wakes; }

  TransferApp app;
  Transfers transfers;
  std::deque<Bytes> control;
  bool full = false;
  bool closed = false;
  int wakes = 0;
  size_t room_bytes = reliability::kMaxUnreliableBody;  ///< What its datagrams have for a chunk.
};

struct Flying {
  uint32_t chunk;
  Bytes body;
};

class TransfersTest : public testing::Test {
 protected:
  /// Moves control messages both ways until none is left.
  void exchange() {
    while (!a.control.empty() || !b.control.empty()) {
      exchange_from(a, b);
      exchange_from(b, a);
    }
  }
  static void exchange_from(Side& from, Side& to) {
    while (!from.control.empty()) {
      const Bytes body = from.control.front();
      from.control.pop_front();
      EXPECT_EQ(to.transfers.on_control(kPeer, body), Refusal::kNone);
    }
  }
  static bool take(Side& from, Flying* out) {
    if (!from.transfers.has_chunk(kPeer)) return false;
    Transfers::Taken taken;
    out->body.resize(from.room_bytes);
    const size_t bytes = from.transfers.take_chunk(kPeer, out->body, reliability::kMaxUnreliableBody, &taken);
    if (bytes == 0) return false;
    out->body.resize(bytes);
    EXPECT_EQ(taken.channel, kChannel);
    out->chunk = taken.chunk;
    return true;
  }
  static Refusal arrive(Side& from, Side& to, const Flying& flying) {
    const Refusal refusal = to.transfers.on_chunk(kPeer, flying.body);
    from.transfers.on_chunk_receipt(kPeer, flying.chunk, true);
    return refusal;
  }
  TransferId start(uint64_t size_bytes) {
    TransferId id;
    EXPECT_EQ(a.transfers.start(kPeer, size_bytes, nullptr, {}, &id), TransferResult::kOk);
    return id;
  }
  /// Everything a has to send arrives.
  void run() {
    Flying flying;
    exchange();
    while (take(a, &flying)) {
      EXPECT_EQ(arrive(a, b, flying), Refusal::kNone);
      exchange();
    }
    a.transfers.update();
    b.transfers.update();
  }
  /// The same with chunks b may refuse, and without updates.
  void run_whatever_b_says() {
    Flying flying;
    while (take(a, &flying)) {
      arrive(a, b, flying);
      exchange();
    }
  }
  void expect_both_failed() {
    for (Side* side : {&a, &b}) {
      ASSERT_EQ(side->app.ended.size(), 1u);
      EXPECT_EQ(side->app.ended[0].ending, TransferEnding::kFailed);
    }
  }
  Side a, b;
};

TEST_F(TransfersTest, EveryByteOnceAndBothSidesAreToldTheEnd) {
  const auto label = from_hex("6d6170");
  TransferId id;
  ASSERT_EQ(a.transfers.start(kPeer, 10'000, nullptr, label, &id), TransferResult::kOk);
  EXPECT_EQ(id, (TransferId{1, false}));
  EXPECT_FALSE(a.transfers.has_chunk(kPeer));  // not accepted
  run();
  EXPECT_EQ(b.app.labels.at(0), "map");
  EXPECT_EQ(b.app.sizes[1], 10'000u);
  EXPECT_EQ(b.app.written_bytes, 10'000u);
  EXPECT_EQ(b.app.wrong_bytes, 0u);
  for (Side* side : {&a, &b}) {
    ASSERT_EQ(side->app.ended.size(), 1u);
    EXPECT_EQ(side->app.ended[0].ending, TransferEnding::kDone);
    EXPECT_EQ(side->app.progress[1], 10'000u);
  }
  uint64_t done = 0, size = 0;
  EXPECT_EQ(a.transfers.progress(kPeer, id, &done, &size), TransferResult::kNotFound);
}

TEST_F(TransfersTest, ProgressOncePerUpdateAndOnlyWhenItChanged) {
  const TransferId id = start(100'000);
  exchange();
  Flying flying;
  uint64_t sent = 0;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(take(a, &flying));
    arrive(a, b, flying);
    sent += flying.body.size() - (i == 0 ? 3 : 4);  // an offset of one byte, then of two
  }
  uint64_t done = 0, size = 0;
  ASSERT_EQ(a.transfers.progress(kPeer, id, &done, &size), TransferResult::kOk);
  EXPECT_EQ(done, sent);
  EXPECT_EQ(size, 100'000u);
  done = size = 0;
  ASSERT_EQ(b.transfers.progress(kPeer, {id.number, true}, &done, &size), TransferResult::kOk);
  EXPECT_EQ(done, sent) << "received, as the sender has it acknowledged";
  EXPECT_EQ(size, 100'000u);
  EXPECT_EQ(b.transfers.progress(kPeer, {uint16_t{9}, true}, &done, &size), TransferResult::kNotFound);
  for (int i = 0; i < 3; ++i) {
    a.transfers.update();
    b.transfers.update();
  }
  EXPECT_EQ(a.app.progress_calls, 1u);
  EXPECT_EQ(b.app.progress_calls, 1u);
  EXPECT_EQ(b.app.progress[1], sent);
}

TEST_F(TransfersTest, FromMemoryIntoMemory) {
  Bytes from(5000), into(5000);
  for (size_t i = 0; i < from.size(); ++i) from[i] = test::transfer_byte(9, i);
  b.app.accepts = false;
  TransferId id;
  ASSERT_EQ(a.transfers.start(kPeer, from.size(), from.data(), {}, &id), TransferResult::kOk);
  exchange();
  EXPECT_EQ(b.transfers.accept(kPeer, {id.number, true}, std::span(into).first(4999)),
            TransferResult::kBadSize);
  EXPECT_EQ(b.transfers.accept(kPeer, id, into), TransferResult::kBadState);  // not an incoming one
  ASSERT_EQ(b.transfers.accept(kPeer, {id.number, true}, into), TransferResult::kOk);
  run();
  EXPECT_EQ(into, from);
  EXPECT_EQ(b.app.writes, 0u);
  EXPECT_EQ(b.app.ended.size(), 1u);
}

TEST_F(TransfersTest, ALostChunkComesInHalvesAndTheWholeMayStillArrive) {
  a.room_bytes = reliability::kMaxBulkBody;
  start(10'000);
  exchange();
  Flying whole, first, second;
  ASSERT_TRUE(take(a, &whole));
  EXPECT_EQ(whole.body.size(), reliability::kMaxBulkBody);
  a.transfers.on_chunk_receipt(kPeer, whole.chunk, false);
  ASSERT_TRUE(take(a, &first));
  EXPECT_LE(first.body.size(), reliability::kMaxUnreliableBody);
  EXPECT_EQ(arrive(a, b, first), Refusal::kNone);
  EXPECT_EQ(b.transfers.on_chunk(kPeer, whole.body), Refusal::kNone) << "late, and half of it new";
  EXPECT_EQ(b.app.writes, 2u);
  EXPECT_EQ(b.app.written_bytes, whole.body.size() - 3);
  ASSERT_TRUE(take(a, &second));
  EXPECT_EQ(arrive(a, b, second), Refusal::kDuplicate);
  run();
  EXPECT_EQ(b.app.written_bytes, 10'000u);
  EXPECT_EQ(b.app.wrong_bytes, 0u);
}

TEST_F(TransfersTest, RefusedWithoutAChunk) {
  b.app.accepts = false;
  const TransferId id = start(10'000);
  exchange();
  EXPECT_EQ(b.transfers.cancel(kPeer, {id.number, true}), TransferResult::kOk);
  exchange();
  ASSERT_EQ(a.app.ended.size(), 1u);
  EXPECT_EQ(a.app.ended[0].ending, TransferEnding::kRefused);
  EXPECT_TRUE(b.app.ended.empty());  // its own doing
  EXPECT_EQ(b.transfers.accept(kPeer, {id.number, true}, {}), TransferResult::kNotFound);
}

TEST_F(TransfersTest, CancelledByEitherSideHalfway) {
  for (const bool by_sender : {true, false}) {
    const TransferId id = start(10'000);
    exchange();
    Flying first, second;
    ASSERT_TRUE(take(a, &first));
    ASSERT_TRUE(take(a, &second));
    EXPECT_EQ(arrive(a, b, first), Refusal::kNone);
    Side& here = by_sender ? a : b;
    Side& there = by_sender ? b : a;
    EXPECT_EQ(here.transfers.cancel(kPeer, {id.number, !by_sender}), TransferResult::kOk);
    exchange();
    ASSERT_EQ(there.app.ended.size(), 1u);
    EXPECT_EQ(there.app.ended[0].ending, TransferEnding::kCancelled);
    EXPECT_TRUE(here.app.ended.empty());
    EXPECT_EQ(arrive(a, b, second), Refusal::kLate);
    EXPECT_FALSE(take(a, &first));
    a.transfers.update();
    there.app.ended.clear();
  }
}

TEST_F(TransfersTest, CancelAndDoneCross) {
  const TransferId id = start(256);
  exchange();
  Flying flying;
  ASSERT_TRUE(take(a, &flying));
  arrive(a, b, flying);  // b is done, and says so
  EXPECT_EQ(a.transfers.cancel(kPeer, id), TransferResult::kOk);
  exchange();
  EXPECT_TRUE(a.app.ended.empty());
  ASSERT_EQ(b.app.ended.size(), 1u);
  EXPECT_EQ(b.app.ended[0].ending, TransferEnding::kDone);
}

TEST_F(TransfersTest, HeldBySenderAndByReceiver) {
  const TransferId id = start(100'000);
  exchange();
  Flying flying;
  EXPECT_EQ(a.transfers.hold(kPeer, id, true), TransferResult::kOk);
  EXPECT_FALSE(take(a, &flying));
  EXPECT_EQ(a.wakes, 0);
  EXPECT_EQ(a.transfers.hold(kPeer, id, false), TransferResult::kOk);
  EXPECT_EQ(a.wakes, 1);
  EXPECT_TRUE(take(a, &flying));
  EXPECT_EQ(b.transfers.hold(kPeer, {id.number, true}, true), TransferResult::kOk);
  EXPECT_EQ(b.transfers.hold(kPeer, {id.number, true}, true), TransferResult::kOk);
  EXPECT_EQ(b.control.size(), 1u);  // the second changed nothing
  exchange();
  Flying none;
  EXPECT_FALSE(take(a, &none));
  EXPECT_EQ(b.transfers.hold(kPeer, {id.number, true}, false), TransferResult::kOk);
  EXPECT_EQ(arrive(a, b, flying), Refusal::kNone);
  run();
  EXPECT_EQ(b.app.written_bytes, 100'000u);
}

TEST_F(TransfersTest, WriteThatFailsEndsBothSides) {
  b.app.disk_bytes = 1000;
  start(10'000);
  exchange();
  run_whatever_b_says();
  expect_both_failed();
}

TEST_F(TransfersTest, ReadThatFailsEndsBothSides) {
  a.app.unreadable_from = 1000;
  start(10'000);
  run();
  exchange();
  expect_both_failed();
}

TEST_F(TransfersTest, WriteMayCancel) {
  b.app.cancel_at_write = 3;
  start(10'000);
  exchange();
  run_whatever_b_says();
  EXPECT_EQ(b.app.writes, 3u);
  ASSERT_EQ(a.app.ended.size(), 1u);
  EXPECT_EQ(a.app.ended[0].ending, TransferEnding::kCancelled);
}

TEST_F(TransfersTest, EightAtATimeTakeTurns) {
  for (size_t i = 0; i < kMaxTransfers; ++i) start(10'000);
  TransferId id;
  EXPECT_EQ(a.transfers.start(kPeer, 1, nullptr, {}, &id), TransferResult::kTooMany);
  exchange();
  std::map<uint16_t, int> sent;
  Flying flying;
  for (size_t i = 0; i < 2 * kMaxTransfers; ++i) {
    ASSERT_TRUE(take(a, &flying));
    ++sent[static_cast<uint16_t>(flying.body[0] | flying.body[1] << 8)];
    arrive(a, b, flying);
  }
  for (const auto& [number, count] : sent) EXPECT_EQ(count, 2) << number;
  run();
  EXPECT_EQ(b.app.ended.size(), kMaxTransfers);
  start(1);  // places are free again
}

TEST_F(TransfersTest, PlaceIsTakenUntilEveryChunkIsTold) {
  const TransferId id = start(10'000);
  exchange();
  Flying flying;
  ASSERT_TRUE(take(a, &flying));
  a.transfers.cancel(kPeer, id);
  for (size_t i = 1; i < kMaxTransfers; ++i) start(256);
  TransferId none;
  a.transfers.update();
  EXPECT_EQ(a.transfers.start(kPeer, 1, nullptr, {}, &none), TransferResult::kTooMany);
  a.transfers.on_chunk_receipt(kPeer, flying.chunk, false);
  a.transfers.update();
  EXPECT_EQ(a.transfers.start(kPeer, 1, nullptr, {}, &none), TransferResult::kOk);
}

TEST_F(TransfersTest, BothDirectionsHaveNumbersOfTheirOwn) {
  start(1000);
  TransferId back;
  ASSERT_EQ(b.transfers.start(kPeer, 2000, nullptr, {}, &back), TransferResult::kOk);
  EXPECT_EQ(back, (TransferId{1, false}));
  exchange();
  EXPECT_EQ(b.transfers.cancel(kPeer, {1, true}), TransferResult::kOk);
  exchange();
  Flying flying;
  while (take(b, &flying)) EXPECT_EQ(arrive(b, a, flying), Refusal::kNone);
  EXPECT_EQ(a.app.written_bytes, 2000u);
}

TEST_F(TransfersTest, LargerThanTheReceiverAllows) {
  TransferId id;
  EXPECT_EQ(a.transfers.start(kPeer, 0, nullptr, {}, &id), TransferResult::kBadSize);
  EXPECT_EQ(a.transfers.start(kPeer, (1u << 20) + 1, nullptr, {}, &id), TransferResult::kBadSize);
  Side small(5000);
  start(5001);
  EXPECT_EQ(small.transfers.on_control(kPeer, a.control.front()), Refusal::kTooLarge);
  EXPECT_FALSE(closes(Refusal::kTooLarge));
  EXPECT_TRUE(small.app.offers.empty());
  exchange_from(small, a);
  ASSERT_EQ(a.app.ended.size(), 1u);
  EXPECT_EQ(a.app.ended[0].ending, TransferEnding::kTooLarge);
}

TEST_F(TransfersTest, NothingHappensWhileTheControlChannelIsFull) {
  const TransferId id = start(1000);
  exchange_from(a, b);
  b.control.clear();  // its acceptance, below again
  a.full = b.full = true;
  TransferId other;
  EXPECT_EQ(a.transfers.start(kPeer, 1000, nullptr, {}, &other), TransferResult::kWouldBlock);
  EXPECT_EQ(a.transfers.cancel(kPeer, id), TransferResult::kWouldBlock);
  EXPECT_EQ(b.transfers.cancel(kPeer, {id.number, true}), TransferResult::kWouldBlock);
  EXPECT_EQ(b.transfers.hold(kPeer, {id.number, true}, true), TransferResult::kWouldBlock);
  EXPECT_FALSE(a.closed || b.closed);
  a.full = b.full = false;
  EXPECT_EQ(a.transfers.start(kPeer, 1000, nullptr, {}, &other), TransferResult::kOk);
  EXPECT_EQ(other.number, 2);  // the refused one used no number
}

TEST_F(TransfersTest, AnEndThatCannotBeToldClosesTheConnection) {
  start(256);
  exchange();
  Flying flying;
  ASSERT_TRUE(take(a, &flying));
  b.full = true;
  arrive(a, b, flying);
  EXPECT_TRUE(b.closed);
}

TEST_F(TransfersTest, AnOfferThatNobodyAnswersIsRefusedOrTheConnectionCloses) {
  b.app.never_answers = true;
  start(256);
  exchange();
  ASSERT_EQ(a.app.ended.size(), 1u);
  EXPECT_EQ(a.app.ended[0].ending, TransferEnding::kRefused);
  EXPECT_FALSE(b.closed);
  start(256);
  b.full = true;
  exchange_from(a, b);
  EXPECT_TRUE(b.closed);
  EXPECT_EQ(b.transfers.accept(kPeer, {2, true}, {}), TransferResult::kNotFound);
}

TEST_F(TransfersTest, RefusingTouchesNothingButOpenOffers) {
  const TransferId id = start(10'000);
  exchange();
  b.transfers.refuse(kPeer, {id.number, true});
  a.transfers.refuse(kPeer, id);
  run();
  EXPECT_EQ(b.app.written_bytes, 10'000u);
}

TEST_F(TransfersTest, ConnectionThatEndsEndsThemAll) {
  start(10'000);
  exchange();
  Flying flying;
  ASSERT_TRUE(take(a, &flying));
  a.transfers.on_chunk_receipt(kPeer, flying.chunk, false);
  for (Side* side : {&a, &b}) {
    side->transfers.on_disconnected(kPeer);
    side->transfers.on_disconnected(kPeer);
    ASSERT_EQ(side->app.ended.size(), 1u);
    EXPECT_EQ(side->app.ended[0].ending, TransferEnding::kConnectionLost);
  }
  // The next connection of the slot starts afresh.
  TransferId id;
  ASSERT_EQ(a.transfers.start({0, 2}, 10, nullptr, {}, &id), TransferResult::kOk);
  EXPECT_EQ(id.number, 1);
}

// --- What a peer may not say

class HostilePeer : public TransfersTest {
 protected:
  Refusal say(const char* hex) { return b.transfers.on_control(kPeer, from_hex(hex)); }
  Refusal chunk(const std::string& hex) { return b.transfers.on_chunk(kPeer, from_hex(hex)); }
  static std::string zeros(size_t bytes) { return std::string(2 * bytes, '0'); }
};

constexpr const char* kOffer600 = "1001005802000000000000";

TEST_F(HostilePeer, OffersOutOfSequenceOrTooMany) {
  b.app.accepts = false;
  EXPECT_EQ(say("1002005802000000000000"), Refusal::kBadId);
  EXPECT_EQ(say(kOffer600), Refusal::kNone);
  EXPECT_EQ(say(kOffer600), Refusal::kBadId);
  for (int id = 2; id <= 8; ++id) {
    const std::string offer = "100" + std::to_string(id) + "005802000000000000";
    EXPECT_EQ(say(offer.c_str()), Refusal::kNone);
  }
  EXPECT_EQ(say("1009005802000000000000"), Refusal::kTooMany);
  EXPECT_TRUE(closes(Refusal::kTooMany));
  EXPECT_EQ(say("1000"), Refusal::kMalformed);
}

TEST_F(HostilePeer, ControlForWhatNobodyOffered) {
  EXPECT_EQ(say("110100"), Refusal::kUnknown);
  EXPECT_EQ(say("12010001"), Refusal::kUnknown);
  EXPECT_EQ(say("1301000002"), Refusal::kUnknown);
  EXPECT_EQ(say("1301000102"), Refusal::kUnknown);
  EXPECT_EQ(say(kOffer600), Refusal::kNone);
  EXPECT_EQ(say("110100"), Refusal::kUnknown);  // its own, which it may not accept
  EXPECT_EQ(say("1302000002"), Refusal::kUnknown);
  EXPECT_EQ(b.transfers.refused(Refusal::kUnknown), 6u);
}

TEST_F(HostilePeer, AnswersOutOfOrder) {
  TransferId id;
  ASSERT_EQ(b.transfers.start(kPeer, 3000, nullptr, {}, &id), TransferResult::kOk);
  EXPECT_EQ(say("12010001"), Refusal::kBadState);    // held before it was accepted
  EXPECT_EQ(say("1301000100"), Refusal::kBadState);  // done before a chunk left
  EXPECT_EQ(say("110100"), Refusal::kNone);
  EXPECT_EQ(say("110100"), Refusal::kBadState);
  EXPECT_EQ(say("1301000101"), Refusal::kBadState);  // refused after it was accepted
  Flying flying;
  ASSERT_TRUE(take(b, &flying));
  EXPECT_EQ(say("1301000100"), Refusal::kBadState);  // two chunks have not left
  EXPECT_EQ(say("1301000102"), Refusal::kNone);
  EXPECT_EQ(say("1301000102"), Refusal::kNone);  // ends may cross
}

TEST_F(HostilePeer, ChunksThatFitNothing) {
  EXPECT_EQ(chunk("010000" + zeros(256)), Refusal::kUnknown);
  b.app.accepts = false;
  ASSERT_EQ(say(kOffer600), Refusal::kNone);
  EXPECT_EQ(chunk("010000" + zeros(256)), Refusal::kBadState);
  ASSERT_EQ(b.transfers.accept(kPeer, {1, true}, {}), TransferResult::kOk);
  EXPECT_EQ(b.transfers.accept(kPeer, {1, true}, {}), TransferResult::kBadState);
  EXPECT_EQ(chunk("010000"), Refusal::kMalformed);
  EXPECT_EQ(chunk("01008000" + zeros(256)), Refusal::kMalformed);  // 0, but not the shortest form
  EXPECT_EQ(chunk("010000" + zeros(255)), Refusal::kTooShort);
  EXPECT_EQ(chunk("010000" + zeros(601)), Refusal::kPastEnd);
  EXPECT_EQ(chunk("0100d704" + zeros(2)), Refusal::kPastEnd);
  EXPECT_EQ(chunk("0100d804" + zeros(1)), Refusal::kPastEnd);
  EXPECT_EQ(chunk("0100ffffffffffffffffff" + zeros(256)), Refusal::kPastEnd);
  EXPECT_EQ(chunk("020000" + zeros(256)), Refusal::kUnknown);
  EXPECT_EQ(b.app.writes, 0u);
  EXPECT_EQ(chunk("01008004" + zeros(88)), Refusal::kNone);  // 512 on
  EXPECT_EQ(chunk("01008004" + zeros(88)), Refusal::kDuplicate);
  EXPECT_FALSE(closes(Refusal::kDuplicate) || closes(Refusal::kLate));
  EXPECT_EQ(b.app.writes, 1u);
}

TEST_F(HostilePeer, ChunksThatLeaveTooManyGaps) {
  ASSERT_EQ(say("1001000000100000000000"), Refusal::kNone);  // a megabyte
  const auto scattered = [this](uint64_t offset) {
    Bytes body(wire::kMaxChunkHeaderBytes);
    body.resize(wire::encode_transfer_chunk_header(1, offset, body) + wire::kMinChunkBytes);
    return b.transfers.on_chunk(kPeer, body);
  };
  uint64_t offset = 1;
  for (size_t gaps = 1; gaps < kMaxMissingRanges; ++gaps, offset += wire::kMinChunkBytes + 1) {
    ASSERT_EQ(scattered(offset), Refusal::kNone) << gaps;
  }
  EXPECT_EQ(scattered(offset), Refusal::kTooScattered);
  EXPECT_TRUE(closes(Refusal::kTooScattered));
}

TEST_F(HostilePeer, NothingWithoutAChannel) {
  TransferConfig config = config_of(1000);
  config.channel = 0;
  Transfers off(config, b, b.app);
  EXPECT_EQ(off.on_control(kPeer, from_hex(kOffer600)), Refusal::kNoChannel);
  TransferId id;
  EXPECT_EQ(off.start(kPeer, 10, nullptr, {}, &id), TransferResult::kNoChannel);
}

TEST(TransferRefusals, HaveNames) {
  for (int i = 1; i < static_cast<int>(Refusal::kCount); ++i) {
    const std::string name = transfer_refusal_name(static_cast<Refusal>(i));
    EXPECT_EQ(name.rfind("transfer_", 0), 0u) << i;
  }
}

/// Takes one number of a's.
void offer_and_cancel(Side& a, Side& b) {
  TransferId id;
  ASSERT_EQ(a.transfers.start(kPeer, 1, nullptr, {}, &id), TransferResult::kOk);
  ASSERT_EQ(b.transfers.on_control(kPeer, a.control.front()), Refusal::kNone);
  ASSERT_EQ(a.transfers.cancel(kPeer, id), TransferResult::kOk);
  ASSERT_EQ(b.transfers.on_control(kPeer, a.control.back()), Refusal::kNone);
  a.control.clear();
  b.control.clear();
  b.app.offers.clear();
  b.app.labels.clear();
  b.app.ended.clear();
  a.transfers.update();
}

TEST(TransferNumbers, AnOpenTransferKeepsItsNumber) {
  Side a, b;
  b.app.accepts = false;
  TransferId open;
  ASSERT_EQ(a.transfers.start(kPeer, 1, nullptr, {}, &open), TransferResult::kOk);
  const Bytes offer = a.control.front();
  ASSERT_EQ(b.transfers.on_control(kPeer, offer), Refusal::kNone);
  a.control.clear();
  for (int i = 0; i < 65'535; ++i) ASSERT_NO_FATAL_FAILURE(offer_and_cancel(a, b));
  TransferId id;
  EXPECT_EQ(a.transfers.start(kPeer, 1, nullptr, {}, &id), TransferResult::kTooMany);
  EXPECT_TRUE(a.control.empty());
  EXPECT_EQ(b.transfers.on_control(kPeer, offer), Refusal::kBadId) << "a hostile peer goes on";
  ASSERT_EQ(a.transfers.cancel(kPeer, open), TransferResult::kOk);
  ASSERT_EQ(b.transfers.on_control(kPeer, a.control.back()), Refusal::kNone);
  a.transfers.update();
  ASSERT_EQ(a.transfers.start(kPeer, 1, nullptr, {}, &id), TransferResult::kOk);
  EXPECT_EQ(id.number, open.number);
  EXPECT_EQ(b.transfers.on_control(kPeer, a.control.back()), Refusal::kNone);
}

TEST(TransferNumbers, WrapAround) {
  Side a, b;
  for (int i = 0; i < 70'000; ++i) ASSERT_NO_FATAL_FAILURE(offer_and_cancel(a, b));
}

}  // namespace
}  // namespace lattice::transfer
