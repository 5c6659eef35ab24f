#include "replication/rpc_codec.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

struct RpcCodecTest : testing::Test {
  RpcCodecTest() {
    const std::vector<lattice_member_desc> members = {
        member("lit", LATTICE_WIRE_BOOL, offsetof(Lamp, lit)),
        ranged("level", LATTICE_WIRE_UINT8, offsetof(Lamp, level), 0, 15)};
    std::string error;
    EXPECT_TRUE(
        serialization::Layout::compile_structure(structure<Lamp>("Lamp", members), false, &layout, &error))
        << error;
  }
  std::vector<uint8_t> encode(const RpcHeader& header, const Lamp* arguments) {
    std::array<uint8_t, 64> out;
    const size_t n = codec.encode(header, arguments ? &layout : nullptr, arguments, out);
    return {out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n)};
  }
  serialization::Layout layout;
  RpcCodec codec;
};

TEST_F(RpcCodecTest, golden_bytes) {
  const RpcHeader header{300, 2, 1000, LATTICE_RPC_TO_PEER, 5};
  const Lamp lamp{1, 10};
  EXPECT_EQ(encode(header, &lamp),
            (std::vector<uint8_t>{0xAC, 0x02, 0x02, 0xE8, 0x03, 0x00, 0x00, 0xC1, 0x74}));
}

TEST_F(RpcCodecTest, round_trip) {
  EXPECT_TRUE(rc::check("rpc round trip", [&] {
    RpcHeader header;
    header.network_id = *rc::gen::suchThat<uint64_t>([](uint64_t id) { return id != 0; });
    header.rpc_id = *rc::gen::arbitrary<uint16_t>();
    header.tick = *rc::gen::arbitrary<uint32_t>();
    header.target = static_cast<lattice_rpc_target>(*rc::gen::inRange(0, 4));
    if (header.target == LATTICE_RPC_TO_PEER) header.peer = *rc::gen::arbitrary<uint64_t>();
    const Lamp lamp{static_cast<uint8_t>(*rc::gen::inRange(0, 2)),
                    static_cast<uint8_t>(*rc::gen::inRange(0, 16))};
    const auto bytes = encode(header, &lamp);
    RpcHeader read;
    size_t at = 0;
    RC_ASSERT(RpcCodec::decode_header(bytes, &read, &at) == RpcRefusal::kNone);
    RC_ASSERT(read.network_id == header.network_id && read.rpc_id == header.rpc_id &&
              read.tick == header.tick);
    RC_ASSERT(read.target == header.target && read.peer == header.peer);
    Lamp got;
    RC_ASSERT(codec.decode_arguments(bytes, at, &layout, &got) == RpcRefusal::kNone);
    RC_ASSERT(got.lit == lamp.lit && got.level == lamp.level);
  }));
}

TEST_F(RpcCodecTest, every_truncation_and_any_surplus_is_refused) {
  const Lamp lamp{1, 10};
  const auto bytes = encode(RpcHeader{300, 200, 1000, LATTICE_RPC_TO_PEER, 1000}, &lamp);
  for (size_t n = 0; n < bytes.size(); ++n) {
    RpcHeader header;
    size_t at = 0;
    Lamp got{7, 7};
    const std::span<const uint8_t> cut = std::span(bytes).first(n);
    const RpcRefusal head = RpcCodec::decode_header(cut, &header, &at);
    if (head == RpcRefusal::kNone) {
      EXPECT_EQ(codec.decode_arguments(cut, at, &layout, &got), RpcRefusal::kArguments) << n;
    }
    EXPECT_EQ(got.level, 7) << n;
  }
  auto longer = bytes;
  longer.push_back(0);
  RpcHeader header;
  size_t at = 0;
  Lamp got;
  ASSERT_EQ(RpcCodec::decode_header(longer, &header, &at), RpcRefusal::kNone);
  EXPECT_EQ(codec.decode_arguments(longer, at, &layout, &got), RpcRefusal::kArguments);
  EXPECT_EQ(codec.decode_arguments(bytes, at, nullptr, nullptr), RpcRefusal::kArguments);  // takes none
}

TEST_F(RpcCodecTest, refuses_object_zero_and_wide_rpc_ids) {
  RpcHeader header;
  size_t at = 0;
  const std::vector<uint8_t> zero = {0x00, 0x02, 1, 0, 0, 0, 0};
  EXPECT_EQ(RpcCodec::decode_header(zero, &header, &at), RpcRefusal::kMalformed);
  const std::vector<uint8_t> wide = {0x01, 0x80, 0x80, 0x04, 1, 0, 0, 0, 0};
  EXPECT_EQ(RpcCodec::decode_header(wide, &header, &at), RpcRefusal::kMalformed);
}

TEST_F(RpcCodecTest, a_buffer_that_is_too_small_gives_zero) {
  std::array<uint8_t, 4> out;
  EXPECT_EQ(codec.encode(RpcHeader{300, 2, 1000, LATTICE_RPC_TO_SERVER, 0}, nullptr, nullptr, out), 0u);
}

}  // namespace
}  // namespace lattice::replication::test
