// A capture sees every datagram once, opened where it opened; a build without captures refuses to.
#include "reliability/endpoint/capture.h"

#include <gtest/gtest.h>

#include "traffic_record.h"

namespace lattice::reliability {
namespace {

using test::Bytes;
using test::EndpointRig;
using test::kMs;
using test::kSecond;

struct Seen {
  bool is_outgoing, is_opened;
  base::PathId peer;
  Bytes bytes;
};

class Collector final : public CaptureObserver {
 public:
  void on_captured(const CapturedDatagram& d) override {
    seen.push_back({d.is_outgoing, d.is_opened, d.peer, Bytes(d.bytes.begin(), d.bytes.end())});
  }
  size_t count(bool is_outgoing, bool is_opened) const {
    return static_cast<size_t>(std::count_if(seen.begin(), seen.end(), [&](const Seen& each) {
      return each.is_outgoing == is_outgoing && each.is_opened == is_opened;
    }));
  }
  std::vector<Seen> seen;
};

#if !defined(LATTICE_CAPTURE)

TEST(Capture, ABuildWithoutItRefuses) {
  EndpointRig rig;
  Collector collector;
  EXPECT_FALSE(rig.server.endpoint->set_capture(&collector));
  ASSERT_TRUE(rig.connect_all());
  EXPECT_TRUE(collector.seen.empty());
}

#else

bool contains(const Bytes& bytes, std::string_view text) {
  return std::search(bytes.begin(), bytes.end(), text.begin(), text.end()) != bytes.end();
}

class CaptureTest : public testing::Test {
 protected:
  CaptureTest() : rig_(options()) { EXPECT_TRUE(rig_.server.endpoint->set_capture(&server_)); }

  static test::RigOptions options() {
    test::RigOptions options;
    options.path.delay_ms = 10;
    return options;
  }
  static Bytes text(std::string_view words) { return Bytes(words.begin(), words.end()); }
  void say(std::string_view words) {
    rig_.client().endpoint->send(rig_.client().connection, Channel::kReliableOrdered, {}, text(words));
    rig_.run(100 * kMs);
  }

  Collector server_;
  EndpointRig rig_;
};

TEST_F(CaptureTest, EveryDatagramOnceAndOpened) {
  test::TrafficRecord record(rig_.network);
  ASSERT_TRUE(rig_.connect_all());
  say("spoken to the server");
  ASSERT_FALSE(server_.seen.empty());
  size_t from_server = 0;
  for (const test::RecordedDatagram& each : record.all()) from_server += each.from == rig_.server.address;
  EXPECT_EQ(server_.count(true, true) + server_.count(true, false), from_server);
  EXPECT_EQ(server_.count(true, false), 1u) << "of what it sent only the Challenge has nothing sealed";
  EXPECT_EQ(server_.count(false, false), 1u) << "of what it received only the ConnectionRequest";
  const auto spoken = std::count_if(server_.seen.begin(), server_.seen.end(), [](const Seen& each) {
    return !each.is_outgoing && each.is_opened && contains(each.bytes, "spoken to the server");
  });
  EXPECT_EQ(spoken, 1);
  for (const test::RecordedDatagram& each : record.all()) {
    EXPECT_FALSE(contains(each.bytes, "spoken")) << "on the wire it is sealed";
  }
}

TEST_F(CaptureTest, WhatIsRefusedIsShownAsItCame) {
  test::TrafficRecord record(rig_.network);
  ASSERT_TRUE(rig_.connect_all());
  say("spoken once");
  const Bytes genuine = record.session_packets(rig_.client().address).back().bytes;
  Bytes forged = genuine;
  forged[20] ^= 1;  // Its tag is still that of a packet which did open.
  server_.seen.clear();
  for (const Bytes& bytes : {genuine, forged, Bytes{1, 2, 3}, Bytes{}}) {
    ASSERT_TRUE(rig_.network.inject(rig_.client().address, rig_.server.address, bytes, rig_.now_ns));
  }
  rig_.server.endpoint->receive(rig_.now_ns, rig_.unix_s());
  ASSERT_EQ(server_.seen.size(), 4u);
  EXPECT_EQ(server_.count(false, false), 4u);
  EXPECT_EQ(server_.seen[0].bytes, genuine);
  EXPECT_EQ(server_.seen[1].bytes, forged);
}

TEST_F(CaptureTest, EndsWhenTold) {
  ASSERT_TRUE(rig_.connect_all());
  EXPECT_TRUE(rig_.server.endpoint->set_capture(nullptr));
  server_.seen.clear();
  say("unheard");
  EXPECT_TRUE(server_.seen.empty());
  EXPECT_FALSE(rig_.server.handler.received.empty());
}

TEST_F(CaptureTest, TwoEndpointsOfOneThreadDoNotMix) {
  Collector client;
  EXPECT_TRUE(rig_.client().endpoint->set_capture(&client));
  ASSERT_TRUE(rig_.connect_all());
  say("both hear this");
  for (const Collector* each : {&server_, &client}) {
    const auto heard = std::count_if(each->seen.begin(), each->seen.end(),
                                     [](const Seen& seen) { return contains(seen.bytes, "both hear"); });
    EXPECT_EQ(heard, 1);
  }
  EXPECT_EQ(client.count(true, false), 1u) << "the ConnectionRequest";
  EXPECT_EQ(client.count(false, false), 1u) << "the Challenge";
}

TEST_F(CaptureTest, TheHandshakesSealedPartsAreOpenedWheneverTheyAreRepeated) {
  // Message 4 is lost three times: what goes out again is stored bytes, and still captured opened.
  socket::Impairment lossy = options().path;
  lossy.blackout = true;
  ASSERT_TRUE(rig_.connect(rig_.client()) == ConnectResult::kOk);
  ASSERT_TRUE(rig_.run_until(kSecond, [&] { return rig_.server.endpoint->connection_count() == 1; }));
  rig_.network.set_direction(rig_.server.address, rig_.client().address, lossy);
  rig_.run(3 * kSecond);
  const auto answers = std::count_if(server_.seen.begin(), server_.seen.end(), [](const Seen& each) {
    return each.is_outgoing && each.is_opened && each.bytes[wire::kMinHeaderBytes] == 3;
  });
  const auto questions = std::count_if(server_.seen.begin(), server_.seen.end(), [](const Seen& each) {
    return !each.is_outgoing && each.is_opened &&
           each.bytes[4] == static_cast<uint8_t>(wire::PacketType::kChallengeResponse);
  });
  EXPECT_EQ(answers, questions);
  EXPECT_GE(answers, 1);
}

#endif

}  // namespace
}  // namespace lattice::reliability
