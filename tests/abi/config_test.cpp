// Every member of lattice_world_config: its range is kept, and a value outside is refused with a message that
// names member, value and bound. The list of members is read from the header, so that a new one without a row
// here fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <lattice/lattice.h>

namespace lattice::test::config_test {
namespace {

/// One integer member: where it is, and its range while all others have their defaults.
struct Ranged {
  const char* name;
  size_t offset;
  size_t bytes;
  uint64_t min;
  uint64_t max;
  uint64_t fallback;
};

#define ROW(name, min, max, fallback)                                                                   \
  Ranged {                                                                                              \
#name, offsetof(lattice_world_config, name), sizeof(lattice_world_config::name), min, max, fallback \
  }

const std::vector<Ranged>& ranged_members() {
  static const std::vector<Ranged> members = {
      ROW(tick_rate_hz, 1, 240, 60),
      ROW(snapshot_rate_hz, 0, 60, 0),
      ROW(max_objects, 1, 1048576, 4096),
      ROW(quantize_simulation, 0, 1, 1),
      ROW(max_connections, 1, 16384, 64),
      ROW(socket_buffer_bytes, 4096, 1u << 30, 4u << 20),
      ROW(connect_budget_ms, 1000, 60000, 10000),
      ROW(connection_timeout_ms, 4000, 600000, 10000),  // at least four default keepalives
      ROW(snapshot_budget_bytes, 0, 1u << 20, 0),
      ROW(connects_per_s_per_prefix, 1, 100000, 100),
      ROW(max_half_open_per_prefix, 1, 16384, 16),
      ROW(interpolation_delay_ms, 0, 1000, 100),
      ROW(extrapolation_max_ms, 0, 1000, 250),
      ROW(smoothing_tau_ms, 1, 1000, 60),
      ROW(congestion_mode, 0, 2, 0),
      ROW(max_transfer_bytes, 1, uint64_t{1} << 34, 256u << 20),
      ROW(development_tokens, 0, 1, 0),
      ROW(rto_min_ms, 5, 1000, 50),
      ROW(rto_max_ms, 50, 5000, 1000),
      ROW(keepalive_interval_ms, 100, 2500, 1000),
      ROW(connect_retry_ms, 50, 1000, 250),
      ROW(replay_window_packets, 64, 1024, 1024),
      ROW(rekey_interval_s, 10, 86400, 900),
      ROW(rekey_bytes, 1u << 20, uint64_t{1} << 32, 1u << 30),
      ROW(initial_datagram_bytes, 1200, 1472, 1200),
      ROW(max_datagram_bytes, 1200, 1472, 1472),
      ROW(prediction_window_ticks, 8, 256, 64),
      ROW(history_ticks, 8, 64, 64),
      ROW(input_redundancy, 0, 31, 31),
      ROW(resimulation_budget_ticks, 0, 256, 0),
      ROW(interest_kind, 0, 3, 0),
      ROW(interest_stay_ms, 0, 60000, 1000),
      ROW(interest_far_rate_hz, 0, 30, 0),
      ROW(transport_only, 0, 1, 0),
      ROW(record_events, 0, 1, 0),
      ROW(predicted_set_bytes, 1, 65536, 32),
  };
  return members;
}

/// Members whose range is not one interval of integers, and where they are tested.
const std::set<std::string> kOthers = {
    "struct_size",              // struct_size_test.cpp
    "seed",                     // any value
    "bind_address",             // BadAddressesAreRefused
    "netsim",                   // system tests
    "issuer_public_keys",       // KeysAndTheirCount
    "issuer_public_key_count",  // KeysAndTheirCount
    "snap_distance",            // SnapDistance
    "interest_radius",          // InterestDistances
    "interest_leave_radius",    // InterestDistances
    "interest_cell",            // InterestDistances
    "clock",
    "clock_ctx",
    "unix_seconds",
    "unix_seconds_ctx",
    "log",
    "log_ctx",
    "max_send_bytes_per_s",  // SendCeiling
    "transfer_channel",      // TransferChannel
    "reserved_transfer",
    "worker_count",  // Workers
    "enqueue_tasks",
    "finish_tasks",
    "tasks_ctx",
    "server_identity",  // tests/system/identity_test.cpp
    "reserved_development",
    "interest_near_radius",  // InterestDistances
    "reserved_interest",
    "backends",       // backend_test.cpp
    "backend_count",  // backend_test.cpp
    "without_udp",    // backend_test.cpp
};

class WorldConfig : public ::testing::Test {
 protected:
  void SetUp() override {
    netsim_ = lattice_netsim_create(7);
    ASSERT_EQ(lattice_issuer_generate(seed_, key_), LATTICE_OK);
    lattice_world_config_init(&config_);
    config_.netsim = netsim_;
    config_.bind_address = "10.0.0.1:1000";
    config_.issuer_public_keys = key_;
    config_.issuer_public_key_count = 1;
  }
  void TearDown() override { lattice_netsim_destroy(netsim_); }

  static lattice_role_context role_of(lattice_role kind) {
    lattice_role_context role;
    lattice_role_context_init(&role, kind);
    return role;
  }
  bool accepted(lattice_role kind = LATTICE_ROLE_DEDICATED) const {
    const lattice_role_context role = role_of(kind);
    lattice_world* world = lattice_world_create(&config_, &role);
    if (world == nullptr) return false;
    lattice_world_destroy(world);
    return true;
  }
  void set(const Ranged& member, uint64_t value) {
    auto* at = reinterpret_cast<unsigned char*>(&config_) + member.offset;
    if (member.bytes == sizeof(uint64_t)) {
      std::memcpy(at, &value, sizeof value);
    } else {
      const auto narrow = static_cast<uint32_t>(value);
      std::memcpy(at, &narrow, sizeof narrow);
    }
  }
  uint64_t get(const Ranged& member) const {
    const auto* at = reinterpret_cast<const unsigned char*>(&config_) + member.offset;
    if (member.bytes == sizeof(uint64_t)) {
      uint64_t value;
      std::memcpy(&value, at, sizeof value);
      return value;
    }
    uint32_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  /// Refused, with a text that has all of `words`.
  void expect_refused(const std::vector<std::string>& words, lattice_role kind = LATTICE_ROLE_DEDICATED) {
    EXPECT_FALSE(accepted(kind)) << words.front();
    EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_CONFIG) << words.front();
    const std::string text = lattice_last_error();
    for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << text;
  }

  lattice_netsim* netsim_ = nullptr;
  uint8_t seed_[LATTICE_KEY_BYTES];
  uint8_t key_[LATTICE_KEY_BYTES];
  lattice_world_config config_;
};

/// The names of the structure's members, from the text of the header.
std::set<std::string> members_in_header() {
  std::ifstream file(LATTICE_CONFIG_HEADER);
  std::stringstream all;
  all << file.rdbuf();
  std::string text = all.str();
  text = text.substr(text.find("typedef struct lattice_world_config {"));
  text = text.substr(text.find('{') + 1, text.find("} lattice_world_config;") - text.find('{') - 1);
  for (size_t comment = text.find("//"); comment != std::string::npos; comment = text.find("//")) {
    text.erase(comment, text.find('\n', comment) - comment);
  }
  // A member's name is the word in front of its semicolon.
  std::set<std::string> names;
  for (size_t end = text.find(';'); end != std::string::npos; end = text.find(';', end + 1)) {
    size_t begin = end;
    while (begin > 0 &&
           (std::isalnum(static_cast<unsigned char>(text[begin - 1])) != 0 || text[begin - 1] == '_')) {
      --begin;
    }
    names.insert(text.substr(begin, end - begin));
  }
  return names;
}

TEST_F(WorldConfig, EveryMemberOfTheHeaderHasARangeTest) {
  std::set<std::string> tested = kOthers;
  for (const Ranged& member : ranged_members()) tested.insert(member.name);
  EXPECT_EQ(members_in_header(), tested);
}

TEST_F(WorldConfig, DefaultsAreInRangeAndAsDocumented) {
  for (const Ranged& member : ranged_members()) EXPECT_EQ(get(member), member.fallback) << member.name;
  EXPECT_TRUE(accepted()) << lattice_last_error();
}

TEST_F(WorldConfig, BothEndsOfEveryRangeAreAccepted) {
  for (const Ranged& member : ranged_members()) {
    for (const uint64_t value : {member.min, member.max}) {
      set(member, value);
      EXPECT_TRUE(accepted()) << member.name << " = " << value << ": " << lattice_last_error();
    }
    set(member, member.fallback);
  }
}

TEST_F(WorldConfig, OnePastEveryRangeIsRefusedByName) {
  for (const Ranged& member : ranged_members()) {
    std::vector<uint64_t> outside = {member.max + 1, member.bytes == 8 ? UINT64_MAX : UINT32_MAX};
    if (member.min != 0) outside.insert(outside.end(), {member.min - 1, 0});
    for (const uint64_t value : outside) {
      set(member, value);
      // A member that bounds another one may be in range itself, and then the other one is named.
      const bool bounds_another =
          &member == &ranged_members()[0] || std::strcmp(member.name, "connection_timeout_ms") == 0;
      EXPECT_FALSE(accepted()) << member.name << " = " << value;
      EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_CONFIG) << member.name;
      if (bounds_another && value != 0 && value < member.min) continue;
      const std::string name = "lattice_world_config." + std::string(member.name) + " is ";
      expect_refused({name + std::to_string(value) + ".", std::to_string(member.max)});
    }
    set(member, member.fallback);
  }
}

TEST_F(WorldConfig, BoundsThatFollowAnotherMemberAreToldAsNumbers) {
  config_.connection_timeout_ms = 3999;
  expect_refused({"lattice_world_config.keepalive_interval_ms is 1000.", "100..999"});
  config_.connection_timeout_ms = 2000;
  expect_refused({"keepalive_interval_ms is 1000.", "100..500", "raise connection_timeout_ms"});
  config_.connection_timeout_ms = 3999;
  config_.keepalive_interval_ms = 999;
  EXPECT_TRUE(accepted()) << lattice_last_error();
  config_.connection_timeout_ms = 600000;
  config_.keepalive_interval_ms = 30001;
  expect_refused({"lattice_world_config.keepalive_interval_ms is 30001.", "100..30000"});
  config_.keepalive_interval_ms = 1000;

  config_.rto_min_ms = 1000;
  config_.rto_max_ms = 999;
  expect_refused({"lattice_world_config.rto_max_ms is 999.", "1000..5000"});
  config_.rto_max_ms = 1000;

  config_.max_datagram_bytes = 1300;
  config_.initial_datagram_bytes = 1301;
  expect_refused({"lattice_world_config.initial_datagram_bytes is 1301.", "1200..1300"});
  config_.initial_datagram_bytes = 1200;

  config_.connect_budget_ms = 1000;
  config_.connect_retry_ms = 251;
  expect_refused({"lattice_world_config.connect_retry_ms is 251.", "50..250"});
  config_.connect_retry_ms = 250;

  config_.tick_rate_hz = 20;
  EXPECT_TRUE(accepted()) << lattice_last_error();  // the default follows
  config_.snapshot_rate_hz = 30;
  expect_refused({"lattice_world_config.snapshot_rate_hz is 30.", "0..20"});
}

TEST_F(WorldConfig, KeysAndTheirCount) {
  config_.issuer_public_key_count = 3;
  expect_refused({"lattice_world_config.issuer_public_key_count is 3.", "0..2"});
  config_.issuer_public_key_count = 0;
  expect_refused({"lattice_world_config.issuer_public_keys"});
  config_.issuer_public_key_count = 1;
  config_.issuer_public_keys = nullptr;
  expect_refused({"lattice_world_config.issuer_public_keys"});
  uint8_t two[2 * LATTICE_KEY_BYTES] = {1};
  config_.issuer_public_keys = two;
  EXPECT_TRUE(accepted()) << lattice_last_error();
  config_.issuer_public_key_count = 2;
  expect_refused({"lattice_world_config.issuer_public_keys", "key 1 ", "all zero"});
  two[LATTICE_KEY_BYTES] = 1;
  EXPECT_TRUE(accepted()) << lattice_last_error();
}

TEST_F(WorldConfig, InterestDistances) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {0.0, -1.0, 1.1e6, nan}) {
    config_.interest_radius = bad;
    expect_refused({"lattice_world_config.interest_radius is ", "1e+06"});
  }
  config_.interest_radius = 100;
  for (const double bad : {99.0, -1.0, 2.1e6, nan}) {
    config_.interest_leave_radius = bad;
    expect_refused({"lattice_world_config.interest_leave_radius is ", "100..2e+06"});
  }
  config_.interest_leave_radius = 160;
  for (const double bad : {9.0, -1.0, 2.1e6, nan}) {
    config_.interest_cell = bad;
    expect_refused({"lattice_world_config.interest_cell is ", "10..2e+06"});
  }
  config_.interest_cell = 10;
  for (const double bad : {-1.0, 101.0, nan}) {
    config_.interest_near_radius = bad;
    expect_refused({"lattice_world_config.interest_near_radius is ", "0..100"});
  }
  config_.interest_near_radius = 100;
  EXPECT_TRUE(accepted()) << lattice_last_error();
}

TEST_F(WorldConfig, SnapDistance) {
  for (const double bad : {0.0, -1.0, 1.1e9, std::numeric_limits<double>::quiet_NaN()}) {
    config_.snap_distance = bad;
    expect_refused({"lattice_world_config.snap_distance is ", "(0, 1e9]"});
  }
  config_.snap_distance = 1e9;
  EXPECT_TRUE(accepted()) << lattice_last_error();
}

TEST_F(WorldConfig, SnapshotBudget) {
  config_.snapshot_budget_bytes = 127;
  expect_refused({"lattice_world_config.snapshot_budget_bytes is 127", "128..1048576"});
  for (const uint32_t good : {0u, 128u}) {
    config_.snapshot_budget_bytes = good;
    EXPECT_TRUE(accepted()) << lattice_last_error();
  }
  config_.predicted_set_bytes = 100;
  config_.snapshot_budget_bytes = 263;
  expect_refused(
      {"lattice_world_config.snapshot_budget_bytes is 263", "264..1048576", "predicted_set_bytes"});
}

TEST_F(WorldConfig, SendCeiling) {
  for (const uint32_t bad : {1u, 5959u, 4'000'000'001u, UINT32_MAX}) {
    config_.max_send_bytes_per_s = bad;
    expect_refused({"lattice_world_config.max_send_bytes_per_s is " + std::to_string(bad), "5960..4000000000",
                    "40 packets per second of 53 bytes", "30 snapshots (snapshot_rate_hz)", "128 bytes"});
  }
  for (const uint32_t good : {0u, 5960u, 4'000'000'000u}) {
    config_.max_send_bytes_per_s = good;
    EXPECT_TRUE(accepted()) << lattice_last_error();
  }
}

TEST_F(WorldConfig, SendCeilingFollowsFromRatesAndThePredictedSet) {
  config_.max_send_bytes_per_s = 1;
  config_.snapshot_rate_hz = 60;
  config_.predicted_set_bytes = 200;
  expect_refused({std::to_string(60 * 53 + 60 * (64 + 2 * 200)) + "..4000000000"});
  config_.tick_rate_hz = 10;
  config_.snapshot_rate_hz = 0;
  expect_refused({std::to_string(40 * 53 + 10 * (64 + 2 * 200)) + "..4000000000"});
}

TEST_F(WorldConfig, SendCeilingOfAClientFollowsFromItsInputs) {
  config_.max_send_bytes_per_s = 4139;
  expect_refused({"4140..4000000000", "60 inputs (tick_rate_hz)"}, LATTICE_ROLE_CLIENT);
  config_.max_send_bytes_per_s = 4140;
  EXPECT_TRUE(accepted(LATTICE_ROLE_CLIENT)) << lattice_last_error();
}

TEST_F(WorldConfig, TransferChannel) {
  for (const uint32_t bad : {1u, 3u, 14u, UINT32_MAX}) {
    config_.transfer_channel = bad;
    expect_refused({"lattice_world_config.transfer_channel is " + std::to_string(bad), "4..13"});
  }
  for (const uint32_t good : {0u, 4u, 13u}) {
    config_.transfer_channel = good;
    EXPECT_TRUE(accepted()) << lattice_last_error();
  }
}

TEST_F(WorldConfig, Workers) {
  for (const uint32_t bad : {0u, 65u}) {
    config_.worker_count = bad;
    expect_refused({"lattice_world_config.worker_count is " + std::to_string(bad), "1..64"});
  }
  config_.worker_count = 2;
  expect_refused({"lattice_world_config.worker_count is 2 without enqueue_tasks and finish_tasks"});
}

TEST_F(WorldConfig, BadAddressesAreRefused) {
  config_.bind_address = "nowhere";
  EXPECT_FALSE(accepted());
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_ADDRESS);
  EXPECT_NE(std::string(lattice_last_error()).find("lattice_world_config.bind_address"), std::string::npos);
}

/// A world is whole after its first pump: settings that create() takes must be good for everything below.
TEST_F(WorldConfig, WhatIsAcceptedRuns) {
  const auto runs = [this] {
    for (const lattice_role kind : {LATTICE_ROLE_DEDICATED, LATTICE_ROLE_CLIENT}) {
      const lattice_role_context role = role_of(kind);
      lattice_world* world = lattice_world_create(&config_, &role);
      ASSERT_NE(world, nullptr) << lattice_last_error();
      lattice_world_pump(world);
      lattice_world_destroy(world);
    }
  };
  for (const Ranged& member : ranged_members()) {
    if (std::strcmp(member.name, "max_connections") == 0) continue;     // 16384 take their time
    if (std::strcmp(member.name, "development_tokens") == 0) continue;  // an authority's only
    for (const uint64_t value : {member.min, member.max}) {
      set(member, value);
      runs();
    }
    set(member, member.fallback);
  }
  config_.connection_timeout_ms = 1000;
  config_.keepalive_interval_ms = 250;
  runs();
}

}  // namespace
}  // namespace lattice::test::config_test
