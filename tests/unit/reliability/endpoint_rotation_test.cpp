// New keys under load, loss and reordering; on a quiet connection; on request; and what a peer may not say
// about them (K-05…K-09).
#include <gtest/gtest.h>

#include <set>

#include "raw_client.h"
#include "transport/wire/control_body.h"

namespace lattice::reliability {
namespace {

using test::Bytes;
using test::EndpointRig;
using test::kMs;
using test::kSecond;
using test::number_body;
using test::number_of;
using test::RawClient;

// As fast as the exchange allows: ten packets, no interval, and an overlap of 3 RTO even where that is short.
constexpr connection::RotationConfig kEveryTenPackets = {
    .packets = 10, .min_interval_ns = 0, .min_overlap_ns = 0, .max_overlap_ns = 5 * kSecond};

// Every session packet that was sent: numbers never repeat in a direction, and epochs never go back.
class NonceTap {
 public:
  static socket::TapVerdict see(void* context, socket::TappedDatagram& datagram) {
    static_cast<NonceTap*>(context)->note(datagram);
    return socket::TapVerdict::kPass;
  }

  uint64_t packets = 0;
  uint64_t repeated = 0;
  uint64_t epoch_steps = 0;

 private:
  void note(const socket::TappedDatagram& datagram) {
    wire::PacketHeader header;
    size_t bytes = 0;
    if (wire::parse_packet_header({datagram.data, datagram.size}, wire::kProtocolId, &header, &bytes) !=
            wire::HeaderStatus::kOk ||
        !wire::is_session_packet(header.type)) {
      return;
    }
    ++packets;
    auto& [last_seq, last_epoch] = last_[base::hash_path(datagram.from)];
    if (header.packet_seq <= last_seq) ++repeated;
    if (header.key_epoch != last_epoch) {
      EXPECT_EQ(header.key_epoch, static_cast<uint8_t>(last_epoch + 1));
      ++epoch_steps;
    }
    last_seq = header.packet_seq;
    last_epoch = header.key_epoch;
  }

  std::map<uint64_t, std::pair<uint64_t, uint8_t>> last_;
};

test::RigOptions rough_path(uint64_t seed) {
  test::RigOptions options;
  options.seed = seed;
  options.path.delay_ms = 30;
  options.path.jitter_ms = 25;
  options.path.jitter_reorders = true;
  options.path.loss = 0.3;
  options.path.duplicate = 0.05;
  options.server.rotation = kEveryTenPackets;
  options.client.rotation = kEveryTenPackets;
  return options;
}

TEST(EndpointRotation, EveryTenPacketsAt30PercentLossAndReordering) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    EndpointRig rig(rough_path(seed));
    NonceTap tap;
    rig.network.set_tap(&NonceTap::see, &tap);
    ASSERT_TRUE(rig.connect_all(30 * kSecond));
    constexpr uint64_t kMessages = 600;
    for (uint64_t i = 0; i < kMessages; ++i) {
      rig.client().endpoint->send(rig.client().connection, Channel::kReliableOrdered, {}, number_body(i));
      rig.server.endpoint->send(rig.server.connection, Channel::kReliableOrdered, {}, number_body(i));
      rig.run(50 * kMs);
    }
    const bool delivered = rig.run_until(20 * kSecond, [&] {
      return rig.server.handler.received.size() == kMessages &&
             rig.client().handler.received.size() == kMessages;
    });
    ASSERT_TRUE(delivered);
    for (const test::Node* node : {&rig.server, &rig.client()}) {
      for (uint64_t i = 0; i < kMessages; ++i) ASSERT_EQ(number_of(node->handler.received[i].body), i);
      EXPECT_TRUE(node->handler.ended.empty());
    }
    // An exchange takes a round trip, and two at this loss; an overlap three RTO.
    EXPECT_GE(rig.client_stats().key_epoch, 15u);
    // The server opens an epoch when it answers, the client when the answer arrives.
    EXPECT_LE(rig.server_stats().key_epoch - rig.client_stats().key_epoch, 1u);
    EXPECT_GE(tap.epoch_steps, 30u);
    EXPECT_EQ(tap.repeated, 0u);
    // Nothing was forged here: whatever did not open came too late for its key, or twice.
    EXPECT_EQ(rig.server_stats().refusals.get(Refusal::kNotAuthentic), 0u);
    EXPECT_EQ(rig.client_stats().refusals.get(Refusal::kNotAuthentic), 0u);
    EXPECT_EQ(rig.server_stats().refusals.get(Refusal::kLateOldEpoch), 0u);
    EXPECT_EQ(rig.client_stats().refusals.get(Refusal::kLateOldEpoch), 0u);
#if defined(LATTICE_VALIDATION)
    EXPECT_GT(crypto::nonce_ledger_count(), tap.packets) << "the ledger saw every seal, and aborts on a pair";
#endif
  }
}

TEST(EndpointRotation, QuietConnectionsRotateByTimeAndBothSidesFollow) {
  test::RigOptions options;
  options.path.delay_ms = 20;
  options.client.rotation.period_ns = 30 * kSecond;
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  rig.run(29 * kSecond);
  EXPECT_EQ(rig.client_stats().key_epoch, 0u);
  NonceTap tap;
  rig.network.set_tap(&NonceTap::see, &tap);
  rig.run(2 * kSecond);
  EXPECT_EQ(rig.client_stats().key_epoch, 1u);
  EXPECT_EQ(rig.server_stats().key_epoch, 1u);
  EXPECT_EQ(tap.epoch_steps, 2u) << "each side seals under the new epoch";
  rig.run(30 * kSecond);
  EXPECT_EQ(rig.server_stats().key_epoch, 2u);
  EXPECT_EQ(rig.server.endpoint->stats().refusals.total(), 0u);
}

TEST(EndpointRotation, AServerThatWantsOneGetsIt) {
  test::RigOptions options;
  options.path.delay_ms = 20;
  options.server.rotation.period_ns = 40 * kSecond;
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  rig.run(44 * kSecond);
  EXPECT_EQ(rig.server_stats().key_epoch, 0u);
  rig.run(3 * kSecond);
  EXPECT_EQ(rig.server_stats().key_epoch, 1u);
  EXPECT_EQ(rig.client_stats().key_epoch, 1u);
}

TEST(EndpointRotation, AFullControlQueueOnlyDelaysIt) {
  test::RigOptions options;
  options.path.delay_ms = 20;
  options.client.rotation.period_ns = 20 * kSecond;
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  rig.run(19 * kSecond);
  // Nothing is acknowledged while the rotation becomes due, so that the queue stays full.
  socket::Impairment dark;
  dark.blackout = true;
  rig.network.set_default(dark);
  const Bytes body = {200};
  uint64_t queued = 0;
  while (rig.client().endpoint->send(rig.client().connection, Channel::kControl, {}, body) ==
         SendResult::kOk) {
    ++queued;
  }
  rig.run(3 * kSecond);
  rig.network.set_default(rig.options.path);
  EXPECT_TRUE(rig.run_until(5 * kSecond, [&] { return rig.client_stats().key_epoch == 1; }));
  EXPECT_EQ(rig.server_stats().key_epoch, 1u);
  EXPECT_EQ(rig.server.handler.message_count, queued);
}

TEST(EndpointRotation, RepeatedSealsOfAnOldEpochAreNothingNew) {
  // Everything the client ever sent is delivered again after three rotations: only counters move.
  struct Recorder {
    static socket::TapVerdict see(void* context, socket::TappedDatagram& datagram) {
      static_cast<Recorder*>(context)->sent.push_back(
          {datagram.from, Bytes(datagram.data, datagram.data + datagram.size)});
      return socket::TapVerdict::kPass;
    }
    std::vector<std::pair<base::PathId, Bytes>> sent;
  } recorder;
  test::RigOptions options;
  options.path.delay_ms = 5;
  options.client.rotation = kEveryTenPackets;
  options.server.rotation = kEveryTenPackets;
  EndpointRig rig(std::move(options));
  rig.network.set_tap(&Recorder::see, &recorder);
  ASSERT_TRUE(rig.connect_all());
  for (uint64_t i = 0; i < 100; ++i) {
    rig.client().endpoint->send(rig.client().connection, Channel::kReliableOrdered, {}, number_body(i));
    rig.run(20 * kMs);
  }
  rig.network.set_tap(nullptr, nullptr);
  rig.run(kSecond);
  ASSERT_GE(rig.server_stats().key_epoch, 3u);
  const uint64_t opened = rig.server_stats().traffic.packets_received;
  for (const auto& [from, bytes] : recorder.sent) {
    if (from == rig.client().address) rig.network.inject(from, rig.server.address, bytes, rig.now_ns);
  }
  rig.server.endpoint->receive(rig.now_ns, rig.unix_s());
  EXPECT_EQ(rig.server_stats().traffic.packets_received, opened);
  EXPECT_GT(rig.server_stats().refusals.get(Refusal::kUnknownEpoch), 0u);
  EXPECT_EQ(rig.server.handler.received.size(), 100u);
}

// A client with valid keys, against the server.
void expect_closed(const std::vector<Bytes>& bodies, Refusal refusal, uint64_t after_ns) {
  SCOPED_TRACE(refusal_name(refusal));
  test::RigOptions options;
  options.client_count = 0;
  EndpointRig rig(std::move(options));
  RawClient peer(rig);
  ASSERT_TRUE(peer.connect());
  const auto send = [&](uint8_t id, const Bytes& body) {
    Bytes plaintext = {0xe0, 0x00, 0x18, 0,  0, 0, 0,
                       0,    0,    0xf8, id, 0, 0, static_cast<uint8_t>(body.size() << 2)};
    plaintext.insert(plaintext.end(), body.begin(), body.end());
    peer.send(wire::PacketType::kPayload, plaintext);
    rig.run(20 * kMs);
  };
  for (uint64_t waited = 0; waited < after_ns; waited += kSecond) {
    peer.send(wire::PacketType::kPayload, Bytes{0xe0, 0x00, 0x18, 0, 0, 0, 0, 0, 0});
    rig.run(kSecond);
  }
  uint8_t id = 0;
  for (const Bytes& body : bodies) send(id++, body);
  ASSERT_EQ(rig.server.handler.ended.size(), 1u);
  EXPECT_EQ(rig.server.handler.ended[0].reason, connection::DisconnectReason::kProtocolError);
  EXPECT_EQ(rig.server.endpoint->stats().refusals.get(refusal), 1u);
  EXPECT_TRUE(rig.server.handler.received.empty());
}

Bytes rekey(wire::ControlType type, uint32_t epoch, uint8_t key_byte) {
  Bytes body(wire::kRekeyBodyBytes);
  wire::RekeyBody rekey;
  rekey.type = type;
  rekey.epoch = epoch;
  rekey.public_key.fill(key_byte);
  wire::encode_rekey(rekey, body);
  return body;
}

TEST(EndpointRotation, WhatAClientMayNotSay) {
  using enum wire::ControlType;
  const uint64_t late = 6 * kSecond;
  expect_closed({{13}}, Refusal::kRekeyWrongRole, 0);
  expect_closed({rekey(kRekeyResponse, 1, 9)}, Refusal::kRekeyWrongRole, late);
  expect_closed({{1, 2, 3}}, Refusal::kRekeyMalformed, late);
  expect_closed({rekey(kRekeyInit, 2, 9)}, Refusal::kRekeyWrongEpoch, late);
  expect_closed({rekey(kRekeyInit, 1, 9)}, Refusal::kRekeyTooSoon, 0);
  expect_closed({rekey(kRekeyInit, 1, 0)}, Refusal::kRekeyWeakKey, late);
  // The second one cannot have opened under the keys of the first.
  expect_closed({rekey(kRekeyInit, 1, 9), rekey(kRekeyInit, 2, 9)}, Refusal::kRekeyWrongEpoch, late);
}

}  // namespace
}  // namespace lattice::reliability
