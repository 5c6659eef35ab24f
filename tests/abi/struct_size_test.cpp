// Structures of another version meet this library (B-01): a shorter struct_size is an older caller, whose
// missing members take their defaults and whose memory is not touched beyond it; a longer one is a newer
// caller, accepted only while everything we do not know is zero.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include <lattice/lattice.h>

namespace lattice::test::struct_size_test {
namespace {

/// A structure followed by what a newer header might have appended.
template <class T>
struct Newer {
  T known{};
  std::array<unsigned char, 32> appended{};
};

class StructSize : public ::testing::Test {
 protected:
  void SetUp() override {
    netsim_ = lattice_netsim_create(7);
    ASSERT_EQ(lattice_issuer_generate(seed_.data(), public_key_.data()), LATTICE_OK);
  }
  void TearDown() override { lattice_netsim_destroy(netsim_); }

  lattice_world_config config() {
    lattice_world_config config;
    lattice_world_config_init(&config);
    config.netsim = netsim_;
    config.bind_address = "10.0.0.1:1000";
    config.issuer_public_keys = public_key_.data();
    config.issuer_public_key_count = 1;
    return config;
  }
  static lattice_world* create(const lattice_world_config* config) {
    lattice_role_context role;
    lattice_role_context_init(&role, LATTICE_ROLE_DEDICATED);
    return lattice_world_create(config, &role);
  }

  lattice_netsim* netsim_ = nullptr;
  std::array<uint8_t, LATTICE_KEY_BYTES> seed_{};
  std::array<uint8_t, LATTICE_KEY_BYTES> public_key_{};
};

TEST_F(StructSize, AnOlderConfigTakesDefaultsForWhatItDoesNotHave) {
  lattice_world_config older = config();
  older.struct_size = offsetof(lattice_world_config, max_half_open_per_prefix);
  // All of these would be refused if they were read.
  older.max_half_open_per_prefix = UINT32_MAX;
  older.smoothing_tau_ms = 0;
  older.snap_distance = -1.0;
  lattice_world* world = create(&older);
  ASSERT_NE(world, nullptr) << lattice_last_error();
  lattice_world_destroy(world);

  older.struct_size = sizeof older;
  EXPECT_EQ(create(&older), nullptr);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_CONFIG);
}

TEST_F(StructSize, AnInitialiserStaysWithinAnOlderStructure) {
  lattice_world_config older;
  std::memset(&older, 0xAB, sizeof older);
  constexpr uint32_t kOlderBytes = offsetof(lattice_world_config, connects_per_s_per_prefix);
  lattice_world_config_init_sized(&older, kOlderBytes);
  EXPECT_EQ(older.struct_size, kOlderBytes);
  EXPECT_EQ(older.tick_rate_hz, 60u);
  EXPECT_EQ(older.connects_per_s_per_prefix, 0xABABABABu);
}

TEST_F(StructSize, ANewerConfigIsTakenWhileItsUnknownPartIsZero) {
  Newer<lattice_world_config> newer;
  newer.known = config();
  newer.known.struct_size = sizeof newer;
  lattice_world* world = create(&newer.known);
  ASSERT_NE(world, nullptr) << lattice_last_error();
  lattice_world_destroy(world);
}

TEST_F(StructSize, ANewerConfigThatUsesAnUnknownMemberIsRefusedWhereverItIs) {
  for (size_t i = 0; i < Newer<lattice_world_config>{}.appended.size(); ++i) {
    Newer<lattice_world_config> newer;
    newer.known = config();
    newer.known.struct_size = sizeof newer;
    newer.appended[i] = 1;
    EXPECT_EQ(create(&newer.known), nullptr) << "appended byte " << i;
    EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(lattice_last_error()), "");
  }
}

TEST_F(StructSize, AConfigThatCannotHoldItsOwnSizeIsRefused) {
  for (uint32_t size = 0; size < sizeof(uint32_t); ++size) {
    lattice_world_config broken = config();
    broken.struct_size = size;
    EXPECT_EQ(create(&broken), nullptr) << "struct_size " << size;
    EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_INVALID_ARGUMENT);
  }
}

TEST_F(StructSize, TokenRequestsFollowTheSameRules) {
  Newer<lattice_token_request> request;
  lattice_token_request_init(&request.known);
  request.known.server_public_key[0] = request.known.client_public_key[0] = 1;
  std::array<uint8_t, LATTICE_TOKEN_MAX_BYTES> token{};
  size_t bytes = 0;
  const auto issue = [&] {
    return lattice_token_issue(seed_.data(), &request.known, token.data(), token.size(), &bytes);
  };
  EXPECT_EQ(issue(), LATTICE_OK);

  // Before user_data existed: what lies there now must not be followed.
  request.known.struct_size = offsetof(lattice_token_request, user_data);
  request.known.user_data = nullptr;
  request.known.user_data_bytes = 99999;
  EXPECT_EQ(issue(), LATTICE_OK) << lattice_last_error();

  request.known.struct_size = sizeof request;
  request.known.user_data_bytes = 0;
  EXPECT_EQ(issue(), LATTICE_OK) << lattice_last_error();
  request.appended.back() = 1;
  EXPECT_EQ(issue(), LATTICE_ERROR_INVALID_ARGUMENT);
}

TEST_F(StructSize, ImpairmentsFollowTheSameRules) {
  Newer<lattice_impairment> impairment;
  lattice_impairment_init(&impairment.known);
  impairment.known.struct_size = offsetof(lattice_impairment, loss_percent);
  impairment.known.loss_percent = 900.0;  // beyond what this caller's version has
  EXPECT_EQ(lattice_netsim_set_impairment(netsim_, &impairment.known), LATTICE_OK) << lattice_last_error();

  lattice_impairment_init(&impairment.known);
  impairment.known.struct_size = sizeof impairment;
  EXPECT_EQ(lattice_netsim_set_impairment(netsim_, &impairment.known), LATTICE_OK) << lattice_last_error();
  impairment.appended.front() = 1;
  EXPECT_NE(lattice_netsim_set_impairment(netsim_, &impairment.known), LATTICE_OK);
}

TEST_F(StructSize, CallbacksFollowTheSameRules) {
  const lattice_world_config given = config();
  lattice_world* world = create(&given);
  ASSERT_NE(world, nullptr) << lattice_last_error();
  Newer<lattice_callbacks> callbacks;
  callbacks.known.struct_size = offsetof(lattice_callbacks, on_admit);
  EXPECT_EQ(lattice_set_callbacks(world, &callbacks.known, nullptr), LATTICE_OK);
  callbacks.known.struct_size = sizeof callbacks;
  EXPECT_EQ(lattice_set_callbacks(world, &callbacks.known, nullptr), LATTICE_OK);
  callbacks.appended.front() = 1;
  EXPECT_NE(lattice_set_callbacks(world, &callbacks.known, nullptr), LATTICE_OK);
  lattice_world_destroy(world);
}

/// Registers a type of one behaviour whose member descriptions are `Member`s, walked by their struct_size.
template <class Member>
lattice_result register_type_of(lattice_world* world, const std::array<Member, 2>& members) {
  lattice_struct_desc structure;
  lattice_struct_desc_init(&structure);
  structure.name = "Pair";
  structure.host_bytes = 2;
  structure.host_align = 1;
  structure.members = reinterpret_cast<const lattice_member_desc*>(members.data());
  structure.member_count = 2;
  lattice_behaviour_desc behaviour;
  lattice_behaviour_desc_init(&behaviour);
  behaviour.structure = &structure;
  lattice_type_desc type;
  lattice_type_desc_init(&type);
  type.name = "Pair";
  type.behaviours = &behaviour;
  type.behaviour_count = 1;
  return lattice_register_type(world, &type);
}

lattice_member_desc bool_member(const char* name, uint32_t offset, size_t struct_size) {
  lattice_member_desc member;
  lattice_member_desc_init(&member);
  member.struct_size = static_cast<uint32_t>(struct_size);
  member.name = name;
  member.type = LATTICE_WIRE_BOOL;
  member.offset = offset;
  return member;
}

TEST_F(StructSize, ArraysOfDescriptionsAreWalkedByTheirOwnElementSize) {
  const lattice_world_config given = config();
  lattice_world* same = create(&given);
  ASSERT_NE(same, nullptr) << lattice_last_error();
  const std::array<lattice_member_desc, 2> current = {bool_member("a", 0, sizeof(lattice_member_desc)),
                                                      bool_member("b", 1, sizeof(lattice_member_desc))};
  ASSERT_EQ(register_type_of(same, current), LATTICE_OK) << lattice_last_error();
  const uint64_t schema = lattice_world_schema_id(same);
  lattice_world_destroy(same);

  using NewerMember = Newer<lattice_member_desc>;
  std::array<NewerMember, 2> newer{};
  newer[0].known = bool_member("a", 0, sizeof(NewerMember));
  newer[1].known = bool_member("b", 1, sizeof(NewerMember));
  lattice_world* with_newer = create(&given);
  ASSERT_NE(with_newer, nullptr) << lattice_last_error();
  // Descriptions have had one version so far, so anything shorter was never a description.
  newer[1].known.struct_size = sizeof(lattice_member_desc) - 1;
  EXPECT_EQ(register_type_of(with_newer, newer), LATTICE_ERROR_SCHEMA);
  newer[1].known.struct_size = sizeof(NewerMember);
  reinterpret_cast<unsigned char*>(&newer[1])[sizeof(NewerMember) - 1] = 1;
  EXPECT_EQ(register_type_of(with_newer, newer), LATTICE_ERROR_SCHEMA);
  reinterpret_cast<unsigned char*>(&newer[1])[sizeof(NewerMember) - 1] = 0;
  EXPECT_EQ(register_type_of(with_newer, newer), LATTICE_OK) << lattice_last_error();
  EXPECT_EQ(lattice_world_schema_id(with_newer), schema);
  lattice_world_destroy(with_newer);
}

TEST_F(StructSize, AnswersStayWithinTheCallersStructure) {
  const lattice_world_config given = config();
  lattice_world* world = create(&given);
  ASSERT_NE(world, nullptr) << lattice_last_error();
  lattice_world_stats full{};
  full.struct_size = sizeof full;
  ASSERT_EQ(lattice_world_get_stats(world, &full), LATTICE_OK);

  for (uint32_t size = sizeof(uint32_t); size <= sizeof(lattice_world_stats); size += sizeof(uint32_t)) {
    lattice_world_stats stats;
    std::memset(&stats, 0xab, sizeof stats);
    stats.struct_size = size;
    ASSERT_EQ(lattice_world_get_stats(world, &stats), LATTICE_OK) << "struct_size " << size;
    EXPECT_EQ(stats.struct_size, size);
    std::array<unsigned char, sizeof stats> bytes{};
    std::memcpy(bytes.data(), &stats, sizeof stats);
    for (size_t i = size; i < bytes.size(); ++i) {
      ASSERT_EQ(bytes[i], 0xab) << "struct_size " << size << " but byte " << i << " was written";
    }
  }
  lattice_world_stats stats{};
  stats.struct_size = 3;
  EXPECT_NE(lattice_world_get_stats(world, &stats), LATTICE_OK);

  Newer<lattice_world_stats> newer;
  newer.known.struct_size = sizeof newer;
  newer.appended.fill(0xab);
  EXPECT_EQ(lattice_world_get_stats(world, &newer.known), LATTICE_OK);
  EXPECT_EQ(newer.known.struct_size, sizeof newer);
  for (const unsigned char byte : newer.appended) EXPECT_EQ(byte, 0xab);
  lattice_world_destroy(world);
}

}  // namespace
}  // namespace lattice::test::struct_size_test
