// One seeded run of the transport under every fault and attack a network can commit: a server and two clients
// that send numbered messages both ways on all four channels, long ones among them, while faults of every
// kind follow each other in an order the seed decides. Virtual time; nothing here reads a clock.
//
// Checked at every message: reliable-ordered arrives in order without a gap, reliable-unordered once,
// unreliable at most once, sequenced only forward, every byte as it was sent. Checked at the end: every
// reliable message arrived, each receipt was reported exactly once, and only faults ended connections.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "fragment/fragmenting_endpoint.h"
#include "unit/reliability/endpoint_rig.h"

namespace lattice::test {

// One list for the enumerators and the printed texts. Counts are datagrams unless the text says otherwise.
#define LATTICE_FAULTS(X)                                             \
  X(kLoss, "lost at random")                                          \
  X(kBurst, "lost in bursts")                                         \
  X(kDuplication, "duplicated")                                       \
  X(kReordering, "held back or overtaking")                           \
  X(kBlackout, "lost in blackouts both ways")                         \
  X(kOneWayBlackout, "lost in blackouts one way")                     \
  X(kBlackHole, "lost for their size in black holes")                 \
  X(kForged, "forged")                                                \
  X(kReplayed, "replayed from the sender's address")                  \
  X(kReflected, "replayed from another address, or to who sent them") \
  X(kRebind, "rebinds (times a client's address changed)")            \
  X(kPathMove, "path moves (times a server followed)")                \
  X(kClockJump, "clock jumps (times all clocks leapt ahead)")         \
  X(kStall, "stalls (times one peer stood still)")                    \
  X(kRestart, "restarts (times a client forgot everything)")          \
  X(kRekey, "rekeys (key epochs begun)")

enum class Fault : uint8_t {
#define LATTICE_X(name, text) name,
  LATTICE_FAULTS(LATTICE_X)
#undef LATTICE_X
      kCount,
};
inline constexpr size_t kFaultCount = static_cast<size_t>(Fault::kCount);
const char* fault_name(Fault fault);

/// How often each fault was really injected.
struct FaultCounts {
  std::array<uint64_t, kFaultCount> count{};

  uint64_t& operator[](Fault fault) { return count[static_cast<size_t>(fault)]; }
  void add(const FaultCounts& other);
};

class FaultRun {
 public:
  explicit FaultRun(uint64_t seed);
  /// The whole run: about ten seconds of faults, then a perfect network until every sent message has arrived.
  void run();

  /// All failures, one line each; empty if the run was correct.
  const std::vector<std::string>& violations() const { return violations_; }
  const FaultCounts& faults() const { return faults_; }
  uint64_t delivered() const { return delivered_; }
  /// How often a client could not connect with its first token.
  uint64_t second_tokens() const { return second_tokens_; }

 private:
  using Rig = RigOf<fragment::FragmentingEndpoint>;
  using Node = Rig::Node;
  enum class Direction : uint8_t { kUp, kDown };

  /// One channel of one direction of one connection.
  struct Stream {
    uint64_t sent = 0;
    uint64_t next = 0;  ///< One more than the number that arrived last.
    std::set<uint64_t> arrived;
  };
  /// Two ends that completed a handshake, by the session peer id that both know.
  struct Association {
    std::array<std::array<Stream, 4>, 2> streams;
    std::array<std::vector<uint32_t>, 2> receipts;  ///< Asked for, by direction of the message.
    bool forgotten = false;                         ///< The client restarted.

    Stream& stream(Direction direction, Channel channel) {
      return streams[static_cast<size_t>(direction)][static_cast<size_t>(channel)];
    }
    const Stream& stream(Direction direction, Channel channel) const {
      return streams[static_cast<size_t>(direction)][static_cast<size_t>(channel)];
    }
  };
  struct Overheard {
    base::PathId from;
    base::PathId to;
    Bytes bytes;
  };
  /// Which node a handler belongs to.
  struct Side {
    FaultRun* run = nullptr;
    Node* node = nullptr;
    Direction hears = Direction::kUp;
  };
  /// The faults of the network on a client's path at the last query.
  struct Seen {
    const Node* client = nullptr;
    socket::ImpairmentStats up;
    socket::ImpairmentStats down;
  };

  void step();
  void calm(uint64_t for_ns);
  void send_traffic();
  void send_to(Node& node, ConnectionHandle to, Direction direction);
  Association* association_of(Node& node, ConnectionHandle connection);
  void watch(Node& node, Side& side, Direction hears);
  void deliver(const Side& side, ConnectionHandle connection, Channel channel, std::span<const uint8_t> body);
  static reliability::Verdict on_body(void* side, ConnectionHandle connection, Channel channel,
                                      std::span<const uint8_t> body);

  void commit(Fault fault);
  Node& any_client();
  void impair_for_a_while(Fault fault);
  void send_large();
  void attack();
  void rebind();
  void restart();
  void start_anew(Node& client);
  bool get_in(size_t server_count);
  void take_another_token(Node& client);
  void set_path(const Node& client, const socket::Impairment& up, const socket::Impairment& down);
  void harvest(Fault blackout);
  void harvest_connection(Node& client);
  static socket::TapVerdict overhear(void* run, socket::TappedDatagram& datagram);

  void settle();
  bool settled() const;
  static uint64_t missing(const Association& association);
  uint64_t receipts_owed(Direction direction) const;
  size_t told(uint32_t receipt, Direction direction) const;
  void check_end();
  void violation(const std::string& text);

  base::Random random_;
  socket::Impairment rough_;
  Rig rig_;
  std::array<Side, 3> sides_;
  std::array<Seen, 2> seen_;
  std::map<uint64_t, Association> associations_;
  std::vector<Overheard> overheard_;  ///< The newest, a ring.
  size_t overheard_next_ = 0;
  std::vector<std::string> violations_;
  FaultCounts faults_;
  uint64_t delivered_ = 0;
  uint64_t second_tokens_ = 0;
  uint32_t next_receipt_ = 1;
  uint16_t next_port_ = 50000;
  const Node* stalled_ = nullptr;
  bool sending_ = true;
};

}  // namespace lattice::test
