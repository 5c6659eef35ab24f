// Real sockets on the loopback interface. Waits are for arrival, never for time to pass.
#include "platform/udp_socket.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "platform/clock.h"

namespace lattice::platform {
namespace {

constexpr size_t kBufferBytes = 1500;
constexpr uint64_t kWaitNs = 2'000'000'000;

/// Receive buffers with views over them.
struct Buffers {
  explicit Buffers(size_t count) : bytes(count * kBufferBytes), views(count) {
    for (size_t i = 0; i < count; ++i) views[i].data = bytes.data() + i * kBufferBytes;
  }
  std::vector<uint8_t> bytes;
  std::vector<UdpDatagram> views;
};

Address address(const char* text) {
  Address out;
  EXPECT_TRUE(parse_address(text, &out));
  return out;
}

std::string text_of(const UdpDatagram& datagram) {
  return std::string(reinterpret_cast<const char*>(datagram.data), datagram.size);
}

UdpDatagram message(std::string& text, const Address& to) {
  return {to, static_cast<uint32_t>(text.size()), reinterpret_cast<uint8_t*>(text.data()), 0};
}

class UdpSocketOn : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const UdpOpenResult opened = a_.open(address(GetParam()));
    if (!opened.ok()) GTEST_SKIP() << "cannot open " << GetParam() << ": " << opened.text;
    ASSERT_TRUE(b_.open(address(GetParam())).ok());
  }
  UdpSocket a_, b_;
};

TEST_P(UdpSocketOn, CarriesDatagramsWithTheSendersAddress) {
  std::string text = "one datagram";
  const UdpDatagram out = message(text, b_.local_address());
  const UdpSendResult sent = a_.send({&out, 1});
  EXPECT_EQ(sent.sent, 1u);
  EXPECT_EQ(sent.sent_bytes, text.size());
  ASSERT_TRUE(b_.wait_readable(kWaitNs));
  Buffers buffers(4);
  const UdpReceiveResult got = b_.receive(buffers.views, kBufferBytes);
  ASSERT_EQ(got.count, 1u);
  EXPECT_EQ(text_of(buffers.views[0]), text);
  EXPECT_EQ(buffers.views[0].peer, a_.local_address());
}

TEST_P(UdpSocketOn, SaysWhereNobodyListensAndLosesNothingOverIt) {
  UdpOptions options;
  options.report_unreachable = true;
  ASSERT_TRUE(a_.open(address(GetParam()), options).ok());
  if (!a_.capabilities().reports_unreachable) GTEST_SKIP() << "this system keeps no ICMP messages";
  const Address closed = b_.local_address();
  b_.close();
  std::string text = "is anybody there?";
  const UdpDatagram lost = message(text, closed);
  EXPECT_EQ(a_.send({&lost, 1}).sent, 1u);
  ASSERT_TRUE(b_.open(address(GetParam())).ok());

  // The report makes one call fail; what that call was to send goes all the same.
  const UdpDatagram kept = message(text, b_.local_address());
  EXPECT_EQ(a_.send({&kept, 1}).sent, 1u);
  ASSERT_TRUE(b_.wait_readable(kWaitNs));
  Buffers buffers(4);
  EXPECT_EQ(b_.receive(buffers.views, kBufferBytes).count, 1u);
  EXPECT_EQ(a_.receive(buffers.views, kBufferBytes).errors, 0u);
  Address about;
  ASSERT_TRUE(a_.take_unreachable(&about));
  EXPECT_EQ(about, closed);
  EXPECT_FALSE(a_.take_unreachable(&about));
}

TEST_P(UdpSocketOn, AFloodOfReportsCostsTheReportsAndNoDatagram) {
  UdpOptions options;
  options.report_unreachable = true;
  ASSERT_TRUE(a_.open(address(GetParam()), options).ok());
  if (!a_.capabilities().reports_unreachable) GTEST_SKIP() << "this system keeps no ICMP messages";
  const Address closed = b_.local_address();
  b_.close();
  std::string text = "is anybody there?";
  const UdpDatagram lost = message(text, closed);
  Buffers buffers(4);
  const auto hear_of = [&](int reports) {
    for (int i = 0; i < reports; ++i) EXPECT_EQ(a_.send({&lost, 1}).sent, 1u);
    EXPECT_EQ(a_.receive(buffers.views, kBufferBytes).count, 0u);
    Address about;
    return a_.take_unreachable(&about);
  };
  ASSERT_TRUE(hear_of(10)) << "few reports are taken together";
  Address about;
  EXPECT_FALSE(a_.take_unreachable(&about));
  ASSERT_TRUE(hear_of(40)) << "the first of many still count";
  EXPECT_FALSE(hear_of(1)) << "after a flood the kernel keeps none";

  ASSERT_TRUE(b_.open(address(GetParam())).ok());
  const UdpDatagram kept = message(text, a_.local_address());
  EXPECT_EQ(b_.send({&kept, 1}).sent, 1u);
  ASSERT_TRUE(a_.wait_readable(kWaitNs));
  EXPECT_EQ(a_.receive(buffers.views, kBufferBytes).count, 1u);
}

TEST_P(UdpSocketOn, WithoutAskingThereIsNoReport) {
  const Address closed = b_.local_address();
  b_.close();
  std::string text = "is anybody there?";
  const UdpDatagram lost = message(text, closed);
  EXPECT_EQ(a_.send({&lost, 1}).sent, 1u);
  Buffers buffers(4);
  EXPECT_EQ(a_.receive(buffers.views, kBufferBytes).errors, 0u);
  Address about;
  EXPECT_FALSE(a_.take_unreachable(&about));
}

TEST_P(UdpSocketOn, SendsMoreThanOneBatch) {
  constexpr size_t kCount = 3 * kUdpBatchDatagrams + 5;
  std::vector<std::string> texts(kCount);
  std::vector<UdpDatagram> out;
  for (size_t i = 0; i < kCount; ++i) {
    texts[i] = "datagram " + std::to_string(i);
    out.push_back(message(texts[i], b_.local_address()));
  }
  ASSERT_EQ(a_.send(out).sent, kCount);
  std::set<std::string> received;
  Buffers buffers(100);
  while (received.size() < kCount && b_.wait_readable(kWaitNs)) {
    const UdpReceiveResult got = b_.receive(buffers.views, kBufferBytes);
    EXPECT_LE(got.count, kUdpBatchDatagrams);
    for (size_t i = 0; i < got.count; ++i) received.insert(text_of(buffers.views[i]));
  }
  EXPECT_EQ(received, std::set<std::string>(texts.begin(), texts.end()));
}

TEST_P(UdpSocketOn, DropsOversizeDatagramsWholeAndKeepsTheOthers) {
  std::string small = "small";
  std::string large(kBufferBytes + 1, 'x');
  std::string exact(kBufferBytes, 'y');
  const Address& to = b_.local_address();
  const std::array<UdpDatagram, 4> out = {message(small, to), message(large, to), message(exact, to),
                                          message(small, to)};
  ASSERT_EQ(a_.send(out).sent, 4u);
  Buffers buffers(8);
  std::vector<uint8_t*> pointers;
  for (const UdpDatagram& view : buffers.views) pointers.push_back(view.data);
  ASSERT_TRUE(b_.wait_readable(kWaitNs));
  const UdpReceiveResult got = b_.receive(buffers.views, kBufferBytes);
  ASSERT_EQ(got.count, 3u);
  EXPECT_EQ(got.truncated, 1u);
  EXPECT_EQ(text_of(buffers.views[0]), small);
  EXPECT_EQ(text_of(buffers.views[1]), exact);
  EXPECT_EQ(text_of(buffers.views[2]), small);
  for (size_t i = 0; i < pointers.size(); ++i) EXPECT_EQ(buffers.views[i].data, pointers[i]);
}

TEST_P(UdpSocketOn, OversizeDatagramsLeaveNoGapHoweverManyCome) {
  std::string large(kBufferBytes + 1, 'x');
  std::vector<std::string> texts;
  for (size_t i = 0; i < 40; ++i) texts.push_back("datagram " + std::to_string(i));
  std::vector<UdpDatagram> out;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i % 3 == 0) out.push_back(message(large, b_.local_address()));
    out.push_back(message(texts[i], b_.local_address()));
  }
  ASSERT_EQ(a_.send(out).sent, out.size());
  Buffers buffers(kUdpBatchDatagrams);
  std::vector<std::string> received;
  size_t truncated = 0;
  while (received.size() < texts.size() && b_.wait_readable(kWaitNs)) {
    const UdpReceiveResult got = b_.receive(buffers.views, kBufferBytes);
    truncated += got.truncated;
    for (size_t i = 0; i < got.count; ++i) received.push_back(text_of(buffers.views[i]));
  }
  EXPECT_EQ(received, texts);
  EXPECT_EQ(truncated, 14u);
}

/// Everything that comes within `count` datagrams, in order of arrival.
std::vector<std::string> receive_all(UdpSocket& socket, size_t count) {
  std::vector<std::string> out;
  Buffers buffers(kUdpBatchDatagrams);
  while (out.size() < count && socket.wait_readable(kWaitNs)) {
    const UdpReceiveResult got = socket.receive(buffers.views, kBufferBytes);
    EXPECT_EQ(got.truncated, 0u);
    for (size_t i = 0; i < got.count; ++i) out.push_back(text_of(buffers.views[i]));
  }
  return out;
}

// Neighbours of one size leave as one run where the kernel can; a shorter one ends a run, a longer one and
// another destination begin one. What arrives must not show any of it.
TEST_P(UdpSocketOn, RunsOfOneSizeArriveAsTheyWereSent) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < 300; ++i) {
    const size_t size = i % 50 == 49 ? 10 + i : (i < 150 ? 1200 : 100);
    texts.push_back(std::string(size, static_cast<char>('a' + i % 26)));
  }
  texts[70].clear();  // An empty datagram has no size to cut by.
  std::vector<UdpDatagram> out;
  for (std::string& text : texts) out.push_back(message(text, b_.local_address()));
  // The first flood may switch the receiver to runs, the later ones then come in them.
  for (int round = 0; round < 4; ++round) {
    ASSERT_EQ(a_.send(out).sent, texts.size());
    ASSERT_EQ(receive_all(b_, texts.size()), texts) << "round " << round;
  }
}

TEST_P(UdpSocketOn, RunsAreCutBetweenDestinations) {
  UdpSocket c;
  ASSERT_TRUE(c.open(address(GetParam())).ok());
  std::vector<std::string> texts;
  std::vector<UdpDatagram> out;
  std::vector<std::string> for_b, for_c;
  for (size_t i = 0; i < 40; ++i) texts.push_back(std::string(200, static_cast<char>('A' + i % 26)));
  for (size_t i = 0; i < texts.size(); ++i) {
    const bool to_b = i % 7 < 4;
    out.push_back(message(texts[i], to_b ? b_.local_address() : c.local_address()));
    (to_b ? for_b : for_c).push_back(texts[i]);
  }
  ASSERT_EQ(a_.send(out).sent, texts.size());
  EXPECT_EQ(receive_all(b_, for_b.size()), for_b);
  EXPECT_EQ(receive_all(c, for_c.size()), for_c);
}

TEST_P(UdpSocketOn, ASocketThatSawRunsStillTakesSingleDatagrams) {
  std::vector<std::string> texts(32, std::string(500, 'r'));
  std::vector<UdpDatagram> run;
  for (std::string& text : texts) run.push_back(message(text, b_.local_address()));
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(a_.send(run).sent, run.size());
    ASSERT_EQ(receive_all(b_, run.size()), texts);
  }
  // Longer than the socket's patience with runs that do not come.
  for (int i = 0; i < 200; ++i) {
    std::string text = "single " + std::to_string(i);
    const UdpDatagram single = message(text, b_.local_address());
    ASSERT_EQ(a_.send({&single, 1}).sent, 1u);
    ASSERT_EQ(receive_all(b_, 1), std::vector<std::string>{text});
  }
  ASSERT_EQ(a_.send(run).sent, run.size());
  EXPECT_EQ(receive_all(b_, run.size()), texts);
}

TEST_P(UdpSocketOn, RunsOfOversizeDatagramsAreDroppedWhole) {
  std::vector<std::string> fitting(32, std::string(500, 'f'));
  std::vector<std::string> oversize(16, std::string(kBufferBytes + 1, 'o'));
  std::vector<UdpDatagram> first, second;
  for (std::string& text : fitting) first.push_back(message(text, b_.local_address()));
  for (std::string& text : oversize) second.push_back(message(text, b_.local_address()));
  second.push_back(first[0]);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(a_.send(first).sent, first.size());
    ASSERT_EQ(receive_all(b_, first.size()), fitting);
  }
  ASSERT_EQ(a_.send(second).sent, second.size());
  Buffers buffers(kUdpBatchDatagrams);
  size_t truncated = 0, came = 0;
  while (came == 0 && b_.wait_readable(kWaitNs)) {
    const UdpReceiveResult got = b_.receive(buffers.views, kBufferBytes);
    truncated += got.truncated;
    came += got.count;
  }
  EXPECT_EQ(came, 1u);
  EXPECT_EQ(truncated, oversize.size());
}

/// The kernel begins to stamp datagrams a moment after it was asked.
bool awaits_stamps(UdpSocket& from, UdpSocket& to) {
  std::string text = "when did I come?";
  const UdpDatagram sent = message(text, to.local_address());
  Buffers buffers(1);
  for (const uint64_t until_ns = monotonic_ns() + kWaitNs; monotonic_ns() < until_ns;) {
    if (from.send({&sent, 1}).sent != 1 || !to.wait_readable(kWaitNs)) return false;
    constexpr uint64_t kLeastNs = 1'000'000;
    sleep_until_ns(monotonic_ns() + kLeastNs);
    if (to.receive(buffers.views, kBufferBytes).count != 1) return false;
    if (buffers.views[0].waited_ns >= kLeastNs * 9 / 10) return true;
  }
  return false;
}

// Single datagrams first, and then runs, which the kernel stamps once.
TEST_P(UdpSocketOn, TellsHowLongDatagramsWaited) {
  UdpOptions options;
  options.tell_arrivals = true;
  ASSERT_TRUE(b_.open(address(GetParam()), options).ok());
  if (!b_.capabilities().tells_arrivals) GTEST_SKIP() << "this system does not say when datagrams came";
  std::vector<std::string> texts(32, std::string(500, 'r'));
  std::vector<UdpDatagram> run;
  for (std::string& text : texts) run.push_back(message(text, b_.local_address()));
  ASSERT_TRUE(awaits_stamps(a_, b_));
  Buffers buffers(kUdpBatchDatagrams);
  for (int round = 0; round < 4; ++round) {
    constexpr uint64_t kLeastNs = 5'000'000;
    const uint64_t before_ns = monotonic_ns();
    ASSERT_EQ(a_.send(run).sent, run.size());
    ASSERT_TRUE(b_.wait_readable(kWaitNs));
    const uint64_t there_ns = monotonic_ns();
    sleep_until_ns(there_ns + kLeastNs);
    const UdpReceiveResult got = b_.receive(buffers.views, kBufferBytes);
    // The clock of the day may run a little faster or slower than this one.
    const uint64_t most_ns = monotonic_ns() - before_ns + kLeastNs;
    ASSERT_EQ(got.count, run.size());
    for (size_t i = 0; i < got.count; ++i) {
      EXPECT_GE(buffers.views[i].waited_ns, kLeastNs * 9 / 10) << "round " << round;
      EXPECT_LE(buffers.views[i].waited_ns, most_ns) << "round " << round;
    }
  }
}

TEST_P(UdpSocketOn, WithoutAskingNoWaitIsTold) {
  std::string text = "when did I come?";
  const UdpDatagram sent = message(text, b_.local_address());
  ASSERT_EQ(a_.send({&sent, 1}).sent, 1u);
  ASSERT_TRUE(b_.wait_readable(kWaitNs));
  EXPECT_FALSE(b_.capabilities().tells_arrivals);
  Buffers buffers(1);
  buffers.views[0].waited_ns = 7;
  ASSERT_EQ(b_.receive(buffers.views, kBufferBytes).count, 1u);
  EXPECT_EQ(buffers.views[0].waited_ns, 0u);
}

TEST_P(UdpSocketOn, EmptyDatagramsAndEmptyQueues) {
  Buffers buffers(2);
  EXPECT_EQ(b_.receive(buffers.views, kBufferBytes).count, 0u);
  EXPECT_FALSE(b_.wait_readable(0));
  std::string nothing;
  const UdpDatagram out = message(nothing, b_.local_address());
  ASSERT_EQ(a_.send({&out, 1}).sent, 1u);
  ASSERT_TRUE(b_.wait_readable(kWaitNs));
  ASSERT_EQ(b_.receive(buffers.views, kBufferBytes).count, 1u);
  EXPECT_EQ(buffers.views[0].size, 0u);
}

TEST_P(UdpSocketOn, OneRefusedDatagramDoesNotStopTheOthers) {
  std::string good = "good";
  std::string too_large(70000, 'z');
  const Address& to = b_.local_address();
  const std::array<UdpDatagram, 3> out = {message(good, to), message(too_large, to), message(good, to)};
  const UdpSendResult sent = a_.send(out);
  EXPECT_EQ(sent.sent, 2u);
  EXPECT_EQ(sent.refused, 1u);
  EXPECT_EQ(sent.full, 0u);
}

TEST_P(UdpSocketOn, ReportsAddressInUse) {
  UdpSocket third;
  const UdpOpenResult opened = third.open(a_.local_address());
  EXPECT_EQ(opened.error, UdpOpenError::kAddressInUse);
  EXPECT_STRNE(opened.text, "");
  EXPECT_FALSE(third.is_open());
}

TEST_P(UdpSocketOn, ReportsGrantedBuffers) {
  EXPECT_GT(a_.capabilities().receive_buffer_bytes, 0u);
  EXPECT_GT(a_.capabilities().send_buffer_bytes, 0u);
  UdpSocket small;
  UdpOptions options;
  options.receive_buffer_bytes = 32768;
  ASSERT_TRUE(small.open(address(GetParam()), options).ok());
  EXPECT_EQ(small.capabilities().receive_buffer_bytes, 32768u);
}

INSTANTIATE_TEST_SUITE_P(Loopback, UdpSocketOn, testing::Values("127.0.0.1:0", "[::1]:0"),
                         [](const auto& instance) { return instance.index == 0 ? "Ipv4" : "Ipv6"; });

TEST(UdpSocket, SaysWhatTheSystemRefused) {
  UdpSocket socket;
  EXPECT_EQ(socket.open(Address{}).error, UdpOpenError::kUnsupported);
  // TEST-NET-1 belongs to no interface of this machine.
  const UdpOpenResult elsewhere = socket.open(address("192.0.2.1:0"));
  EXPECT_EQ(elsewhere.error, UdpOpenError::kUnsupported);
  EXPECT_EQ(std::string(elsewhere.text).rfind("bind: ", 0), 0u) << elsewhere.text;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const UdpOpenResult opened = socket.open(address("127.0.0.1:0"));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(opened.error, UdpOpenError::kOther);
  EXPECT_EQ(opened.os_error, EMFILE);
  EXPECT_EQ(std::string(opened.text).rfind("socket: ", 0), 0u) << opened.text;
  EXPECT_FALSE(socket.is_open());
  EXPECT_TRUE(socket.open(address("127.0.0.1:0")).ok()) << "and nothing is left of that";
}

TEST(UdpSocket, AClosedSocketRefusesWithoutASystemCall) {
  UdpSocket socket;
  std::string text = "nowhere";
  const UdpDatagram out = message(text, address("127.0.0.1:9"));
  EXPECT_EQ(socket.send({&out, 1}).refused, 1u);
  Buffers buffers(1);
  EXPECT_EQ(socket.receive(buffers.views, kBufferBytes).count, 0u);
  EXPECT_FALSE(socket.wait_readable(0));
}

TEST(UdpSocket, DualStackTalksToBothFamilies) {
  UdpSocket server;
  const UdpOpenResult opened = server.open(address("[::]:0"));
  if (!opened.ok()) GTEST_SKIP() << "cannot open [::]: " << opened.text;
  EXPECT_TRUE(server.capabilities().dual_stack);

  for (const char* client_text : {"127.0.0.1:0", "[::1]:0"}) {
    UdpSocket client;
    if (!client.open(address(client_text)).ok()) continue;
    Address to = client.local_address();
    to.port = server.local_address().port;
    std::string text = "to the dual-stack socket";
    const UdpDatagram out = message(text, to);
    ASSERT_EQ(client.send({&out, 1}).sent, 1u) << client_text;
    ASSERT_TRUE(server.wait_readable(kWaitNs)) << client_text;
    Buffers buffers(1);
    ASSERT_EQ(server.receive(buffers.views, kBufferBytes).count, 1u);
    EXPECT_EQ(buffers.views[0].peer, client.local_address());
    // And back, to the address as received.
    ASSERT_EQ(server.send({buffers.views.data(), 1}).sent, 1u) << client_text;
    ASSERT_TRUE(client.wait_readable(kWaitNs)) << client_text;
    ASSERT_EQ(client.receive(buffers.views, kBufferBytes).count, 1u);
    EXPECT_EQ(text_of(buffers.views[0]), text);
  }
}

TEST(UdpSocket, TooLargeForTheInterfaceIsRefusedAndNotCutUp) {
  UdpSocket socket;
  if (!socket.open(address("[::1]:0")).ok()) GTEST_SKIP() << "no [::1]";
  if (!socket.capabilities().forbids_fragmentation) GTEST_SKIP() << "this system cannot set DF";
  // Loopback carries 65536 bytes; with headers these are 65536 and 65537.
  for (const size_t bytes : {65488u, 65489u}) {
    std::string text(bytes, 'x');
    const UdpDatagram out = message(text, socket.local_address());
    EXPECT_EQ(socket.send({&out, 1}).refused, bytes == 65488u ? 0u : 1u) << bytes;
  }
}

TEST(UdpSocket, OpenErrorsAreTyped) {
  UdpSocket socket;
  EXPECT_EQ(socket.open(Address{}).error, UdpOpenError::kUnsupported);
  // 192.0.2.0/24 is for documentation (RFC 5737): no machine has it.
  const UdpOpenResult opened = socket.open(address("192.0.2.1:0"));
  EXPECT_EQ(opened.error, UdpOpenError::kUnsupported);
  EXPECT_NE(opened.os_error, 0);
  EXPECT_STREQ(udp_open_error_name(opened.error), "unsupported");
}

TEST(UdpSocket, ClosedSocketDoesNothing) {
  UdpSocket socket;
  Buffers buffers(1);
  EXPECT_EQ(socket.receive(buffers.views, kBufferBytes).count, 0u);
  buffers.views[0].peer = make_ipv4(127, 0, 0, 1, 9);
  EXPECT_EQ(socket.send(buffers.views).refused, 1u);
  EXPECT_FALSE(socket.wait_readable(0));
  EXPECT_EQ(socket.local_address().family, 0);
}

TEST(UdpSocket, MoveTakesTheSocketAlong) {
  UdpSocket a;
  ASSERT_TRUE(a.open(make_ipv4(127, 0, 0, 1, 0)).ok());
  const Address bound = a.local_address();
  UdpSocket b = std::move(a);
  EXPECT_TRUE(b.is_open());
  EXPECT_EQ(b.local_address(), bound);
  b.close();
  UdpSocket again;
  EXPECT_TRUE(again.open(bound).ok());
}

TEST(UdpSocket, WrongFamilyIsRefusedNotSent) {
  UdpSocket v4;
  ASSERT_TRUE(v4.open(make_ipv4(127, 0, 0, 1, 0)).ok());
  std::string text = "x";
  const UdpDatagram out = message(text, address("[::1]:9"));
  const UdpSendResult sent = v4.send({&out, 1});
  EXPECT_EQ(sent.sent, 0u);
  EXPECT_EQ(sent.refused, 1u);
}

}  // namespace
}  // namespace lattice::platform
