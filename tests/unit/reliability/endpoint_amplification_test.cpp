// What an accepting endpoint sends to addresses that have proved nothing (H-01): never more bytes than it was
// sent from there, counted per address, whatever arrives and however much time passes. A copied session
// packet may start a path validation, which has a factor of three (L-04).
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "base/random.h"
#include "traffic_record.h"

namespace lattice::reliability {
namespace {

using test::Bytes;
using test::EndpointRig;
using test::kMs;
using test::kSecond;
using test::RecordedDatagram;
using test::TrafficRecord;

struct Account {
  uint64_t bytes_in = 0, bytes_out = 0;
  bool sent_a_session_packet = false;
};

class Ledger {
 public:
  explicit Ledger(EndpointRig& rig) : rig_(rig) {}

  /// From `from`, which is nobody's address, to the server.
  void send(const base::PathId& from, const Bytes& bytes, bool is_session_packet) {
    Account& account = accounts_[key_of(from)];
    account.bytes_in += bytes.size();
    account.sent_a_session_packet = account.sent_a_session_packet || is_session_packet;
    ASSERT_TRUE(rig_.network.inject(from, rig_.server.address, bytes, rig_.now_ns));
  }

  /// Everything the server has sent must be within its bound.
  void check(const TrafficRecord& record) {
    for (; checked_ < record.all().size(); ++checked_) {
      const RecordedDatagram& each = record.all()[checked_];
      const auto account = accounts_.find(key_of(each.to));
      if (each.from != rig_.server.address || account == accounts_.end()) continue;
      Account& a = account->second;
      a.bytes_out += each.bytes.size();
      total_out_ += each.bytes.size();
      ASSERT_LE(a.bytes_out, a.bytes_in * (a.sent_a_session_packet ? 3 : 1));
    }
  }

  uint64_t total_out() const { return total_out_; }
  size_t address_count() const { return accounts_.size(); }

 private:
  using Key = std::pair<std::array<uint8_t, 16>, uint16_t>;
  static Key key_of(const base::PathId& address) { return {address.bytes, address.number}; }

  EndpointRig& rig_;
  std::map<Key, Account> accounts_;
  size_t checked_ = 0;
  uint64_t total_out_ = 0;
};

base::PathId stranger(base::Random& random) {
  // Few enough that many get several datagrams.
  return base::ipv4_path(203, 0, static_cast<uint8_t>(random.next_below(4)),
                         static_cast<uint8_t>(random.next_below(64)), 5000);
}

/// A datagram as it was recorded, or damaged, cut, lengthened, or of another version.
Bytes variation(base::Random& random, Bytes bytes) {
  switch (random.next_below(6)) {
    case 0:
      for (int i = 0; i < 4; ++i)
        bytes[random.next_below(bytes.size())] ^= static_cast<uint8_t>(random.next_u64());
      break;
    case 1:
      bytes.resize(1 + random.next_below(bytes.size()));
      break;
    case 2:
      bytes.resize(1200);
      break;
    case 3:
      bytes[2] ^= 1;  // Minor version: a request may be answered by a denial.
      break;
    default:
      break;
  }
  return bytes;
}

TEST(EndpointAmplification, NoAddressGetsMoreThanItSent) {
  test::RigOptions options;
  options.client_count = 2;
  options.path.delay_ms = 10;
  options.server.requests_per_s = options.server.responses_per_s = options.server.verified_per_s = 100'000;
  EndpointRig rig(std::move(options));
  TrafficRecord record(rig.network);
  ASSERT_TRUE(rig.connect_all());
  for (uint64_t i = 0; i < 20; ++i) {
    rig.client().endpoint->send(rig.client().connection, Channel::kReliableOrdered, {}, test::number_body(i));
    rig.run(20 * kMs);
  }
  const std::vector<RecordedDatagram> recorded = record.all();
  base::Random random(5);
  Ledger ledger(rig);
  for (int i = 0; i < 100'000 && !HasFatalFailure(); ++i) {
    const RecordedDatagram& each = recorded[random.next_below(recorded.size())];
    ledger.send(stranger(random), variation(random, each.bytes), each.is_session_packet());
    if (i % 50 == 0) {
      // Time passes too: no timer may send to somebody who has proved nothing.
      rig.now_ns += random.next_below(40 * kMs);
      rig.pump(rig.server);
      ledger.check(record);
    }
  }
  rig.run(20 * kSecond);
  ledger.check(record);
  EXPECT_EQ(ledger.address_count(), 256u);
  EXPECT_GT(ledger.total_out(), 0u) << "nothing was answered at all: no test";
  EXPECT_EQ(rig.server.handler.connected.size(), 2u);
}

TEST(EndpointAmplification, AHalfOpenConnectionCostsOneAnswerPerQuestion) {
  // Message 4 went to the client's address; the client then says nothing. The server does not try again by
  // itself.
  test::RigOptions options;
  options.path.delay_ms = 10;
  EndpointRig rig(std::move(options));
  TrafficRecord record(rig.network);
  ASSERT_EQ(rig.connect(rig.client()), ConnectResult::kOk);
  ASSERT_TRUE(rig.run_until(kSecond, [&] { return rig.server.endpoint->connection_count() == 1; }));
  rig.client().endpoint.reset();
  const size_t before = record.all().size();
  rig.run(20 * kSecond);
  EXPECT_EQ(record.all().size(), before);
  EXPECT_EQ(rig.server.endpoint->connection_count(), 0u) << "forgotten after its five seconds";
}

}  // namespace
}  // namespace lattice::reliability
