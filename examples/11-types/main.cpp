// A card table: what members can be, what they cost, and who gets them. Two players sit at it. Each sees the
// cards in its own hand, and of the other only how it looks and what it put on the table.
#include <cstdio>

#include <lattice/lattice.hpp>

constexpr const char* kAddress = "10.0.0.1:27015";

// clang-format off
//! [types]
enum class Suit : uint8_t { kAcorn, kLeaf, kHeart, kBell };
LATTICE_ENUM(Suit, kAcorn, kLeaf, kHeart, kBell)                    // 2 bits

struct Card {
  LATTICE_NETSTRUCT(Card, (suit, Suit), (rank, uint8, RANGED(1, 13)))  // 2 + 4 bits
};
struct Chips {                                                      // the first member of a map's entry is its key
  LATTICE_NETSTRUCT(Chips, (colour, uint8, BITS(3)), (count, uint16))
};
struct Claim {                                                      // at most one of them at a time
  LATTICE_NETUNION(Claim, (bid, uint16), (joins, netid), (plays, Card))
};

LATTICE_NETWORKED(Seat,
  (name, string, STRING(16), INITIAL_ONLY),       // comes with the first state; later changes do not travel
  (facing, float, ANGLE),                         // 16 bits for a turn; drawn the short way round
  (lean, vec2, HALF),                             // 16 bits for each component
  (table, Card, LIST(4)),                         // everyone sees it
  (hand, Card, LIST(5), OWNER_ONLY),              // in no packet to anybody else
  (chips, Chips, MAP(8)),
  (claim, Claim))
//! [types]
// clang-format on
constexpr lattice::Type<Seat> kSeat{.id = 1, .name = "Seat"};

struct Side {
  lattice::World world;
  lattice_netid seats[2] = {};
  int taken = 0;

  bool start(lattice_role role, const char* address, const lattice::Netsim& network) {
    lattice::WorldConfig config;
    config.bind_address = address;
    config.development_tokens = role == LATTICE_ROLE_DEDICATED;
    network.attach(config);
    world = lattice::World::create(config, role);
    return world && world.add(kSeat) == LATTICE_OK && world.set_callbacks(*this) == LATTICE_OK &&
           (role == LATTICE_ROLE_DEDICATED || world.connect_for_development(kAddress));
  }
  bool is_server() const { return world.local_peer() == 1; }

  void on_connected(lattice::Connection conn) {
    if (!is_server() || taken == 2) return;
    const lattice_netid id = seats[taken] = world.spawn(kSeat, conn.info().peer_id);
    //! [use]
    Seat& seat = *world.state<Seat>(id);
    seat.name = taken == 0 ? "Ann" : "Bo";
    seat.facing = taken == 0 ? 3.1f : -3.1f;
    seat.hand.push_back({Suit::kHeart, 13});
    seat.hand.push_back({Suit::kLeaf, 7});
    seat.chips.insert({.colour = 2, .count = 40});
    seat.claim.set_bid() = 20;
    //! [use]
    ++taken;
  }
};

/// What `side` knows of the seats. False when it is not what it should know.
bool show(const char* who, const Side& side) {
  bool good = true;
  int seats = 0;
  side.world.each(kSeat, [&](lattice_netid id, const Seat& seat) {
    const bool is_own = side.world.info(id).owner == side.world.local_peer();
    std::printf("%s sees %s: %u cards in the hand, %u on the table, %u white chips, %s\n", who,
                seat.name.c_str(), unsigned(seat.hand.size()), unsigned(seat.table.size()),
                seat.chips.find(2) != nullptr ? unsigned(seat.chips.find(2)->count) : 0,
                seat.claim.which == Claim::Which::plays ? "plays a card" : "bids");
    good = good && seat.hand.size() == (is_own ? 1u : 0u) && seat.table.size() == 1 &&
           seat.chips.find(2) != nullptr;
    ++seats;
  });
  return good && seats == 2;
}

int main() {
  const lattice::Netsim network(1);
  lattice::Impairment link;
  link.delay_ms = 30;
  link.loss_percent = 2;
  Side server, ann, bo;
  const bool good = network.set_impairment(link) == LATTICE_OK &&
                    server.start(LATTICE_ROLE_DEDICATED, kAddress, network) &&
                    ann.start(LATTICE_ROLE_CLIENT, "10.0.0.2:1", network) &&
                    bo.start(LATTICE_ROLE_CLIENT, "10.0.0.3:1", network);
  if (!good) {
    std::fprintf(stderr, "%s\n", lattice_last_error());
    return 1;
  }
  const auto run = [&](uint64_t ms) {
    for (const uint64_t until_ns = network.now_ns() + ms * 1'000'000; network.now_ns() < until_ns;) {
      for (Side* side : {&server, &ann, &bo}) side->world.pump();
      network.advance(4'000'000);
    }
  };
  run(1000);
  for (int i = 0; i < server.taken; ++i) {  // each plays a card
    Seat& seat = *server.world.state<Seat>(server.seats[i]);
    const Card card = seat.hand[1];
    seat.hand.erase(1);
    seat.table.push_back(card);
    seat.claim.set_plays() = card;
  }
  run(1000);

  Seat whole;
  whole.name = "Ann";
  uint8_t bytes[256];
  std::printf("an empty seat takes %zu bytes in memory, and %zu when it travels whole\n", sizeof whole,
              lattice::serialize_to(whole, bytes));
  const bool ann_is_right = show("Ann", ann), bo_is_right = show("Bo", bo);
  return ann_is_right && bo_is_right ? 0 : 1;
}
