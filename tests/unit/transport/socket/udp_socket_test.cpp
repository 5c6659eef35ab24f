#include "transport/socket/udp_socket.h"

#include <gtest/gtest.h>

#include <set>

#include "transport/socket/impaired_socket.h"
#include "unit/transport/socket/datagram_buffers.h"

namespace lattice::socket {
namespace {

constexpr uint64_t kWaitNs = 2'000'000'000;

class UdpOn : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    platform::Address bind_address;
    ASSERT_TRUE(platform::parse_address(GetParam(), &bind_address));
    platform::UdpOpenResult opened;
    a_ = UdpSocket::open(bind_address, &opened);
    if (a_ == nullptr) GTEST_SKIP() << "cannot open " << GetParam() << ": " << opened.text;
    b_ = UdpSocket::open(bind_address);
    ASSERT_NE(b_, nullptr);
  }
  std::unique_ptr<UdpSocket> a_, b_;
};

TEST_P(UdpOn, TheLargestDatagramIsThatOfEthernet) {
  const base::PathId own = a_->local_path();
  EXPECT_EQ(a_->largest_datagram(own), own.form == base::PathForm::kIpv6 ? 1452u : 1472u);
  base::PathId other = own;
  other.route = 1;
  EXPECT_EQ(a_->largest_datagram(other), 0u) << "another route";
  EXPECT_EQ(a_->largest_datagram({0, base::PathForm::kOpaque, 7, {}}), 0u) << "UDP has addresses only";
}

TEST_P(UdpOn, CarriesBatchesAndCounts) {
  constexpr size_t kCount = 150;
  std::vector<std::string> texts;
  for (size_t i = 0; i < kCount; ++i) texts.push_back("datagram " + std::to_string(i));
  std::vector<Datagram> out;
  uint64_t bytes = 0;
  for (std::string& text : texts) {
    out.push_back(
        {b_->local_path(), static_cast<uint32_t>(text.size()), reinterpret_cast<uint8_t*>(text.data())});
    bytes += text.size();
  }
  EXPECT_EQ(a_->send(out, 0), kCount);
  std::set<std::string> received;
  while (received.size() < kCount && b_->wait_readable(kWaitNs)) {
    for (const Received& datagram : receive_all(*b_, 0)) {
      EXPECT_EQ(datagram.peer, a_->local_path());
      received.insert(datagram.text);
    }
  }
  EXPECT_EQ(received, std::set<std::string>(texts.begin(), texts.end()));
  EXPECT_EQ(a_->stats().datagrams_sent, kCount);
  EXPECT_EQ(a_->stats().bytes_sent, bytes);
  EXPECT_EQ(b_->stats().datagrams_received, kCount);
  EXPECT_EQ(b_->stats().bytes_received, bytes);
}

TEST_P(UdpOn, OversizeIsLeftOutAndTheRestIsSent) {
  std::string good = "good";
  std::string large(kMaxDatagramBytes + 1, 'x');
  const auto view = [&](std::string& text) {
    return Datagram{b_->local_path(), static_cast<uint32_t>(text.size()),
                    reinterpret_cast<uint8_t*>(text.data())};
  };
  const std::vector<Datagram> out = {view(good), view(large), view(good)};
  EXPECT_EQ(a_->send(out, 0), 2u);
  EXPECT_EQ(a_->stats().send_oversize, 1u);
  EXPECT_EQ(a_->stats().bytes_sent, 8u);
}

TEST_P(UdpOn, RefusedDatagramsDoNotHideThoseBehindThem) {
  constexpr size_t kRefused = 100;
  platform::Address bind = address_of(a_->local_path());
  bind.port = 0;
  platform::UdpSocket stranger;
  ASSERT_TRUE(stranger.open(bind, {}).ok());
  std::string large(kMaxDatagramBytes + 1, 'x');
  const platform::UdpDatagram datagram{address_of(b_->local_path()), static_cast<uint32_t>(large.size()),
                                       reinterpret_cast<uint8_t*>(large.data())};
  for (size_t i = 0; i < kRefused; ++i) ASSERT_EQ(stranger.send({&datagram, 1}).sent, 1u);
  ASSERT_TRUE(send_text(*a_, b_->local_path(), "behind", 0));
  ASSERT_TRUE(b_->wait_readable(kWaitNs));
  // In small pieces, as a socket of several routes asks for them.
  DatagramBuffers buffers(8);
  size_t count = 0, refused = 0, calls = 0;
  for (bool has_more = true; has_more; ++calls) {
    const Reading reading = b_->receive(buffers.views, 0);
    EXPECT_LE(reading.count + reading.refused, 8u);
    count += reading.count, refused += reading.refused;
    has_more = reading.may_have_more;
  }
  EXPECT_EQ(refused, kRefused);
  EXPECT_EQ(count, 1u);
  EXPECT_LE(calls, kRefused / 8 + 2);
  EXPECT_EQ(b_->stats().receive_truncated, kRefused);
}

TEST_P(UdpOn, ImpairmentWorksOverRealSockets) {
  const base::PathId to = b_->local_path();
  ImpairedSocket impaired(std::move(a_), {.send = {.delay_ms = 3}, .seed = 1});
  // The decorator knows only the time it is told, so a real socket can be driven by virtual time.
  EXPECT_TRUE(send_text(impaired, to, "delayed", 0));
  EXPECT_FALSE(b_->wait_readable(0));
  impaired.flush(3 * kMs);
  ASSERT_TRUE(b_->wait_readable(kWaitNs));
  EXPECT_EQ(receive_all(*b_, 0), (std::vector<Received>{{impaired.local_path(), "delayed"}}));
}

INSTANTIATE_TEST_SUITE_P(Loopback, UdpOn, testing::Values("127.0.0.1:0", "[::1]:0"),
                         [](const auto& instance) { return instance.index == 0 ? "Ipv4" : "Ipv6"; });

TEST(UdpSocket, OpenFailureSaysWhy) {
  const auto first = UdpSocket::open(platform::make_ipv4(127, 0, 0, 1, 0));
  ASSERT_NE(first, nullptr);
  platform::UdpOpenResult opened;
  EXPECT_EQ(UdpSocket::open(address_of(first->local_path()), &opened), nullptr);
  EXPECT_EQ(opened.error, platform::UdpOpenError::kAddressInUse);
  EXPECT_STREQ(platform::udp_open_error_name(opened.error), "address_in_use");
}

}  // namespace
}  // namespace lattice::socket
