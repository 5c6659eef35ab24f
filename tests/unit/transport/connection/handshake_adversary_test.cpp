// The attacker of the threat model as a program: it owns the network between honest players, a dishonest one
// and two servers, holds a valid token and key of its own, remembers every datagram ever sent, and in each
// step does one thing from a list (drop, replay, reflect, swap keys, swap tokens, another server, a restart,
// ...). After each step nothing may have been accepted but what an honest pair agreed on; when it stops, the
// honest pairs connect.
//
// Safety holds in every run. Progress is asked for only where an attacker on the path cannot deny it: within
// one life of a server and one bucket of its cookies.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>

#include "base/random.h"
#include "unit/transport/connection/handshake_rig.h"

namespace lattice::connection {
namespace {

using test::Bytes;
using test::kBody;
using test::kMs;
using test::kSecond;

constexpr size_t kServers = 2;

#define LATTICE_ATTACKS(X)                                 \
  X(kDeliver, "delivered") /* the attacker lets it pass */ \
  X(kDrop, "dropped")                                      \
  X(kDelay, "delayed behind others")                       \
  X(kDuplicate, "delivered twice")                         \
  X(kReplay, "replayed from any time before")              \
  X(kReflect, "reflected to its sender")                   \
  X(kOtherServer, "led to another server")                 \
  X(kOtherAddress, "sent from another address")            \
  X(kSwapClientKey, "client key swapped")                  \
  X(kSwapBucketKey, "bucket key swapped")                  \
  X(kSwapToken, "token swapped")                           \
  X(kSpliceSeals, "sealed parts exchanged")                \
  X(kOtherVersion, "version lowered")                      \
  X(kFlipBit, "bit flipped")                               \
  X(kForgeChallenge, "Challenge forged")                   \
  X(kForgeDenial, "denial forged")                         \
  X(kRestart, "server restarted")                          \
  X(kJump, "seconds passed")

enum class Attack : uint8_t {
#define LATTICE_X(name, text) name,
  LATTICE_ATTACKS(LATTICE_X)
#undef LATTICE_X
      kCount,
};
constexpr size_t kAttackCount = static_cast<size_t>(Attack::kCount);
constexpr std::array<const char*, kAttackCount> kAttackNames = {
#define LATTICE_X(name, text) text,
    LATTICE_ATTACKS(LATTICE_X)
#undef LATTICE_X
};

using AttackCounts = std::array<uint64_t, kAttackCount>;

/// What one side derived when it accepted.
struct Agreement {
  uint64_t connection_id = 0, peer_id = 0;
  std::array<uint8_t, 32> master{};
  crypto::PublicKey client{};
  size_t server = 0;
  uint32_t life = 0;  ///< Of the server process.

  friend bool operator==(const Agreement&, const Agreement&) = default;
};

struct Player {
  crypto::KeyPair key;
  wire::Id16 token_id{};
  Bytes token;
  size_t server = 0;
  uint32_t life = 0;  ///< Of the server process the token is for.
  base::PathId address;
  std::unique_ptr<ClientHandshake> handshake;
  bool ended = false;
  std::unique_ptr<Agreement> accepted;
};

struct Flight {
  base::PathId from, to;
  Bytes bytes;
};

class Battlefield {
 public:
  /// `disruptive`: servers restart and buckets age, after which progress is not asked for.
  Battlefield(uint64_t seed, bool disruptive)
      : random_(seed),
        disruptive_(disruptive),
        entropy_(seed),
        issuer_(crypto::SigningKeyPair::generate(entropy_)) {
    crypto::nonce_ledger_clear();
    for (size_t i = 0; i < kServers; ++i) start_server(i);
    for (size_t i = 0; i < 4; ++i) players_.push_back(make_player(i, i == 3 ? 1 : 0));
    mallory_ = make_player(99, 0);  // Has an account like anybody else.
  }

  void run(AttackCounts* counts) {
    for (Player& player : players_) begin(player);
    begin(mallory_);
    const int steps = 250;
    for (int i = 0; i < steps && !testing::Test::HasFatalFailure(); ++i) {
      now_ns_ += 4'000 * kMs / steps;
      pump();
      const auto attack = static_cast<Attack>(random_.next_below(kAttackCount));
      if (perform(attack)) ++(*counts)[static_cast<size_t>(attack)];
    }
    retreat();
  }

  size_t connected_count() const {
    return static_cast<size_t>(std::count_if(players_.begin(), players_.end(),
                                             [](const Player& p) { return p.accepted != nullptr; }));
  }
  size_t player_count() const { return players_.size(); }

 private:
  // ---- The honest world -----------------------------------------------------------------------------

  static base::PathId server_address(size_t index) {
    return base::ipv4_path(198, 51, 100, static_cast<uint8_t>(1 + index), 27015);
  }

  void start_server(size_t index) {
    ServerHandshakeConfig config;
    config.max_half_open = config.max_half_open_per_prefix = 4096;
    config.requests_per_s = config.request_burst = config.responses_per_s = config.response_burst = 1'000'000;
    config.verified_per_s = config.verified_burst = 1'000'000;
    ++lives_[index];
    servers_[index] =
        std::make_unique<test::ServerProcess>(random_.next_u64() | 1, issuer_.public_key(), config);
  }

  Player make_player(size_t index, size_t server) {
    Player player;
    player.key = crypto::KeyPair::generate(entropy_);
    player.server = server;
    player.life = lives_[server];
    player.address = base::ipv4_path(192, 0, 2, static_cast<uint8_t>(index + 1), 40000);
    wire::TokenFields fields;
    entropy_.fill(fields.token_id);
    player.token_id = fields.token_id;
    fields.issued_s = test::moment_at(now_ns_).unix_s;
    fields.expires_s = fields.issued_s + 600;
    fields.aud = servers_[server]->handshake.identity();
    fields.cnf = player.key.public_key();
    player.token = test::Rig::sign(fields, issuer_);
    return player;
  }

  void begin(Player& player) {
    ClientHandshakeConfig config;
    config.budget_ns = 60 * kSecond;
    config.jitter_seed = random_.next_u64();
    player.handshake = std::make_unique<ClientHandshake>(config, server_address(player.server), player.token,
                                                         player.key.clone());
    ASSERT_EQ(player.handshake->start(now_ns_, sink_), DisconnectReason::kNone);
    take_off(player.address);
  }

  /// What was just emitted is in the attacker's hands.
  void take_off(const base::PathId& from) {
    for (test::Sent& sent : sink_.take()) {
      seen_.push_back({from, sent.to, sent.bytes});
      under_way_.push_back(seen_.back());
    }
  }

  void pump() {
    for (Player& player : players_) pump(player);
    pump(mallory_);
    for (auto& server : servers_) server->handshake.update(test::moment_at(now_ns_));
  }
  void pump(Player& player) {
    if (player.ended) return;
    settle(player, player.handshake->update(now_ns_, test::moment_at(now_ns_).unix_s, sink_));
    take_off(player.address);
  }

  void deliver(const Flight& flight) {
    for (size_t i = 0; i < kServers; ++i) {
      if (flight.to == server_address(i)) deliver_to_server(i, flight);
    }
    for (Player& player : players_) deliver_to_player(player, flight);
    deliver_to_player(mallory_, flight);
  }

  void deliver_to_server(size_t index, const Flight& flight) {
    const size_t before = under_way_.size();
    ServerResult result =
        test::deliver(servers_[index]->handshake, flight.from, flight.bytes, test::moment_at(now_ns_), sink_);
    take_off(server_address(index));
    ASSERT_LE(under_way_.size(), before + 1);
    if (under_way_.size() > before) {
      ASSERT_EQ(under_way_.back().to, flight.from) << "an answer to somebody else";
      ASSERT_LE(under_way_.back().bytes.size(), flight.bytes.size()) << "amplified";
    }
    if (result.accepted) check_admission(index, *result.accepted);
  }

  void deliver_to_player(Player& player, const Flight& flight) {
    if (player.ended || flight.to != player.address) return;
    settle(player, player.handshake->on_datagram(flight.from, flight.bytes, now_ns_, sink_));
    take_off(player.address);
  }

  // ---- What must hold -------------------------------------------------------------------------------

  const Player* owner_of(const crypto::PublicKey& key) const {
    if (key == mallory_.key.public_key()) return &mallory_;
    for (const Player& player : players_) {
      if (key == player.key.public_key()) return &player;
    }
    return nullptr;
  }

  /// A server lets in the bearer of a token, for itself, in this life, once.
  void check_admission(size_t server, ServerAccepted& accepted) {
    const Player* owner = owner_of(accepted.client);
    ASSERT_NE(owner, nullptr) << "a key nobody issued a token to";
    ASSERT_EQ(accepted.token_id, owner->token_id) << "admitted under another's token";
    // The attacker is a NAT to the server if all of a handshake goes over its address.
    ASSERT_TRUE(accepted.address == owner->address || accepted.address == mallory_.address)
        << "admitted at an address that no cookie was for";
    ASSERT_EQ(server, owner->server);
    ASSERT_EQ(lives_[server], owner->life);
    ASSERT_TRUE(admitted_tokens_.insert(accepted.token_id).second) << "a token admitted twice";
    admissions_[accepted.connection_id] = agreement(accepted, accepted.client, server, lives_[server]);
  }

  template <class Accepted>
  static Agreement agreement(const Accepted& accepted, const crypto::PublicKey& client, size_t server,
                             uint32_t life) {
    Agreement out{accepted.connection_id, accepted.peer_id, {}, client, server, life};
    std::copy(accepted.master.bytes().begin(), accepted.master.bytes().end(), out.master.begin());
    return out;
  }

  /// A client that believes it is connected shares keys, ids and names with the server it meant.
  void settle(Player& player, const ClientResult& result) {
    if (result.outcome == ClientOutcome::kPending) return;
    player.ended = true;
    ASSERT_NE(result.outcome, ClientOutcome::kRefused) << "no server refuses here";
    if (!result.accepted) return;
    player.accepted = std::make_unique<Agreement>(
        agreement(*result.accepted, player.key.public_key(), player.server, player.life));
    const auto found = admissions_.find(player.accepted->connection_id);
    ASSERT_NE(found, admissions_.end()) << "accepted by nobody";
    ASSERT_TRUE(found->second == *player.accepted) << "two ends that disagree";
  }

  // ---- The attacker ---------------------------------------------------------------------------------

  /// False when there is nothing to do it to.
  bool perform(Attack attack) {
    switch (attack) {
      case Attack::kForgeChallenge:
        return forge(wire::kChallengeBodyBytes, wire::HandshakeMessage::kChallenge);
      case Attack::kForgeDenial:
        return forge(7, wire::HandshakeMessage::kConnectionDenied);
      case Attack::kReplay:
        if (seen_.empty()) return false;
        deliver(Flight(seen_[random_.next_below(seen_.size())]));
        return true;
      case Attack::kRestart:
        if (!disruptive_ || !random_.chance(0.1)) return false;
        start_server(random_.next_below(kServers));
        return true;
      case Attack::kJump:
        if (!disruptive_ || !random_.chance(0.2)) return false;
        now_ns_ += random_.next_below(12 * kSecond);
        return true;
      default:
        return !under_way_.empty() && perform_on(attack, take_under_way());
    }
  }

  Flight take_under_way() {
    const size_t i = random_.next_below(under_way_.size());
    Flight flight = std::move(under_way_[i]);
    under_way_.erase(under_way_.begin() + static_cast<ptrdiff_t>(i));
    return flight;
  }

  /// The changed datagram goes first, then, as often as not, the original: both races are run.
  bool perform_on(Attack attack, Flight flight) {
    if (attack == Attack::kDrop) return true;
    if (attack == Attack::kDelay) {
      under_way_.push_back(std::move(flight));
      return true;
    }
    Flight changed = flight;
    const bool applies = change(attack, changed);
    if (applies) deliver(changed);
    if (!applies || attack == Attack::kDuplicate || attack == Attack::kDeliver || random_.chance(0.5)) {
      if (attack != Attack::kDeliver || !applies) deliver(flight);
    }
    return applies;
  }

  bool change(Attack attack, Flight& flight) {
    Bytes& bytes = flight.bytes;
    const uint8_t type = bytes[4];
    const bool is_response = type == static_cast<uint8_t>(wire::PacketType::kChallengeResponse);
    const uint8_t message = is_response ? 0 : bytes[kBody];
    const bool is_request = message == static_cast<uint8_t>(wire::HandshakeMessage::kConnectionRequest);
    switch (attack) {
      case Attack::kReflect:
        std::swap(flight.from, flight.to);
        return true;
      case Attack::kOtherServer:
        if (!is_request && !is_response) return false;
        flight.to = server_address(flight.to == server_address(0) ? 1 : 0);
        return true;
      case Attack::kOtherAddress:
        flight.from = mallory_.address;
        return true;
      case Attack::kSwapClientKey:
        if (!is_request && !is_response) return false;
        put(bytes, kBody + (is_request ? 1 : 0), mallory_.key.public_key());
        return true;
      case Attack::kSwapBucketKey:
        if (message != static_cast<uint8_t>(wire::HandshakeMessage::kChallenge)) return false;
        put(bytes, kBody + 1 + wire::kTokenEchoBytes, mallory_.key.public_key());
        return true;
      case Attack::kSwapToken:
        if (!is_request && !is_response) return false;
        put(bytes, kBody + (is_request ? 35 : 51), random_.chance(0.5) ? mallory_.token : players_[0].token);
        return true;
      case Attack::kSpliceSeals:
        return splice(bytes);
      case Attack::kOtherVersion:
        bytes[2 + random_.next_below(2)] ^= 1;
        return true;
      case Attack::kFlipBit:
        bytes[random_.next_below(bytes.size())] ^= static_cast<uint8_t>(1u << random_.next_below(8));
        return true;
      default:
        return true;  // Delivered as it is.
    }
  }

  template <class Source>
  static void put(Bytes& bytes, size_t at, const Source& source) {
    ASSERT_LE(at + source.size(), bytes.size());
    std::copy(source.begin(), source.end(), bytes.begin() + static_cast<ptrdiff_t>(at));
  }

  /// The end of another datagram of the same length and type.
  bool splice(Bytes& bytes) {
    for (size_t tries = 0; tries < 16; ++tries) {
      const Bytes& other = seen_[random_.next_below(seen_.size())].bytes;
      if (other.size() != bytes.size() || other[4] != bytes[4] || other == bytes || other.size() == 1200)
        continue;
      const auto sealed = static_cast<ptrdiff_t>(std::min<size_t>(bytes.size() - kBody, 52));
      std::copy(other.end() - sealed, other.end(), bytes.end() - sealed);
      return true;
    }
    return false;
  }

  bool forge(size_t body_bytes, wire::HandshakeMessage message) {
    const Player& victim = players_[random_.next_below(players_.size())];
    Bytes bytes(kBody + body_bytes);
    wire::encode_packet_header({}, bytes);
    bytes[kBody] = static_cast<uint8_t>(message);
    for (size_t i = kBody + 1; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(random_.next_u64());
    if (message == wire::HandshakeMessage::kChallenge) put(bytes, kBody + 1, test::echo_of(victim.token));
    deliver({server_address(victim.server), victim.address, bytes});
    return true;
  }

  /// The attacker is gone, and with it what it held back.
  void retreat() {
    under_way_.clear();
    for (int i = 0; i < 800; ++i) {
      now_ns_ += 10 * kMs;
      pump();
      while (!under_way_.empty()) deliver(take_under_way());
    }
  }

  base::Random random_;
  bool disruptive_;
  test::ScriptedEntropy entropy_;
  crypto::SigningKeyPair issuer_;
  uint64_t now_ns_ = 80 * kSecond;  // A bucket begins.
  std::array<std::unique_ptr<test::ServerProcess>, kServers> servers_;
  std::array<uint32_t, kServers> lives_{};
  std::vector<Player> players_;
  Player mallory_;
  test::RecordingSink sink_;
  std::vector<Flight> under_way_, seen_;
  std::set<wire::Id16> admitted_tokens_;
  std::map<uint64_t, Agreement> admissions_;
};

uint64_t seed_count() {
  return std::getenv("LATTICE_TEST_LONG") != nullptr ? 5000 : 24;
}

void print(const AttackCounts& counts) {
  for (size_t i = 0; i < kAttackCount; ++i) {
    std::printf("  %8llu %s\n", static_cast<unsigned long long>(counts[i]), kAttackNames[i]);
  }
}

TEST(HandshakeAdversary, HonestPairsConnectOnceItStops) {
  AttackCounts counts{};
  for (uint64_t seed = 1; seed <= seed_count(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Battlefield battlefield(seed, false);
    battlefield.run(&counts);
    ASSERT_FALSE(HasFatalFailure());
    ASSERT_EQ(battlefield.connected_count(), battlefield.player_count());
  }
  print(counts);
  for (size_t i = 0; i < kAttackCount; ++i) {
    const bool never = i == static_cast<size_t>(Attack::kRestart) || i == static_cast<size_t>(Attack::kJump);
    EXPECT_EQ(counts[i] == 0, never) << kAttackNames[i];
  }
}

TEST(HandshakeAdversary, NobodyElseIsEverAcceptedThroughRestartsAndAgeing) {
  AttackCounts counts{};
  size_t connected = 0;
  for (uint64_t seed = 1; seed <= seed_count(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Battlefield battlefield(seed, true);
    battlefield.run(&counts);
    ASSERT_FALSE(HasFatalFailure());
    connected += battlefield.connected_count();
  }
  print(counts);
  EXPECT_GT(connected, seed_count()) << "a battlefield on which nothing ever connects proves nothing";
  for (size_t i = 0; i < kAttackCount; ++i) EXPECT_GT(counts[i], 0u) << kAttackNames[i];
}

}  // namespace
}  // namespace lattice::connection
