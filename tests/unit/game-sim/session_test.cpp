// Depot over the library, in virtual time: what a player may expect of prediction (§11, S-02, S-03).
#include "session.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "allocation_counter.h"
#include "arena.h"
#include "hall.h"

namespace depot::test {
namespace {

constexpr uint32_t kSettleTicks = 30;

void report(const Session::Client& client, const ErrorReport& errors, const Player& player) {
  const lattice_world_stats stats = client.stats();
  const double late =
      100.0 * static_cast<double>(player.inputs_repeated + player.inputs_missing) /
      static_cast<double>(player.inputs_fresh + player.inputs_repeated + player.inputs_missing);
  std::printf(
      "peer %llu: compared %u judged %u beyond %u (%.2f %%) mean %.2f mm max %.0f mm; rollbacks %llu "
      "resim %llu hard %llu resync %llu; late inputs %.2f %%; margin %.2f delay %.0f ms\n",
      static_cast<unsigned long long>(player.peer), errors.compared, errors.judged, errors.beyond_step,
      errors.beyond_percent(), errors.mean_mm, errors.max_mm,
      static_cast<unsigned long long>(stats.rollbacks),
      static_cast<unsigned long long>(stats.resimulated_ticks),
      static_cast<unsigned long long>(stats.hard_resets),
      static_cast<unsigned long long>(stats.clock_resyncs), late, stats.input_margin_ticks,
      stats.interpolation_delay_ms);
}

TEST(Session, EveryoneGetsAPawnAndSeesTheArena) {
  Session session({.seed = 5, .clients = 4, .impairment = perfect_link()});
  session.run_ms(500);
  ASSERT_TRUE(session.everyone_is_in());
  for (const auto& client : session.clients) {
    EXPECT_EQ(client->game->scene().pawns.size(), 4u);
    EXPECT_EQ(client->game->scene().doors.size(), arena_doors().size());
  }
}

void expect_good_prediction(const lattice_impairment& link, uint32_t seconds) {
  Session session({.seed = 7, .clients = 6, .impairment = link});
  session.run_ms(4000);
  ASSERT_TRUE(session.everyone_is_in());
  const uint32_t from = session.server_tick();
  const std::vector<Player> before(session.server().players().begin(), session.server().players().end());
  session.run_ms(seconds * 1000);
  uint64_t judged = 0, beyond = 0, late = 0;
  for (const auto& client : session.clients) {
    const auto& truth = session.truth(client->game->own_pawn());
    const ErrorReport errors = compare(client->predicted, truth, from, session.server_tick(), kSettleTicks);
    Player player{};
    for (size_t i = 0; i < before.size(); ++i) {
      if (before[i].pawn != client->game->own_pawn()) continue;
      player = session.server().players()[i];
      player.inputs_fresh -= before[i].inputs_fresh;
      player.inputs_repeated -= before[i].inputs_repeated;
      player.inputs_missing -= before[i].inputs_missing;
    }
    report(*client, errors, player);
    EXPECT_GT(errors.judged, seconds * 60 / 2);
    judged += errors.judged;
    beyond += errors.beyond_step;
    late += player.inputs_repeated + player.inputs_missing;
  }
  // Of all clients together: three inputs lost in a row, a matter of luck, are 0.7 % of one client's ticks.
  EXPECT_LT(static_cast<double>(beyond), 0.01 * static_cast<double>(judged));
  EXPECT_LT(static_cast<double>(late), 0.01 * seconds * 60 * static_cast<double>(session.clients.size()));
}

TEST(Session, PredictionIsExactOnAPerfectLink) {
  expect_good_prediction(perfect_link(), 20);
}
TEST(Session, PredictionIsExactOnALanLink) {
  expect_good_prediction(preset_link("lan"), 20);
}
TEST(Session, PredictionIsExactOnTheDemoLink) {
  expect_good_prediction(preset_link("demo"), 20);
}

TEST(Session, RunsRepeatFromTheSeed) {
  std::vector<uint64_t> figures[2];
  for (std::vector<uint64_t>& run : figures) {
    Session session({.seed = 3, .clients = 4, .impairment = preset_link("worst")});
    session.run_ms(10'000);
    for (const auto& client : session.clients) {
      const lattice_world_stats stats = client->stats();
      run.insert(run.end(),
                 {stats.packets_sent, stats.packets_received, stats.bytes_sent, stats.bytes_received,
                  stats.rollbacks, stats.snapshots_applied, stats.interpolation_underruns});
    }
  }
  EXPECT_EQ(figures[0], figures[1]);
}

/// A client whose player walks, and the server it walks on.
struct Walker {
  Session session{{.seed = 13, .clients = 1, .impairment = preset_link("lan")}};
  Walker() {
    session.run_ms(1500);
    session.clients[0]->bot.reset();
    session.run_ms(1500);
  }
  Session::Client& client() { return *session.clients[0]; }
  lattice_peer_id peer() { return session.server().players()[0].peer; }
  Vec2 on_server() { return session.server().pawn(session.server().players()[0].pawn)->position; }
};

TEST(Session, AShoveIsSomethingTheClientHasToCorrect) {
  Walker walker;
  const uint64_t rollbacks = walker.client().stats().rollbacks;
  const Vec2 before = walker.on_server();
  EXPECT_FALSE(walker.session.server().shove(99));
  ASSERT_TRUE(walker.session.server().shove(walker.peer()));
  walker.session.run_ms(1500);
  EXPECT_GT(length(walker.on_server() - before), 0.1f);
  EXPECT_GT(walker.client().stats().rollbacks, rollbacks);
  EXPECT_LT(length(walker.client().own()->position - walker.on_server()), 0.01f);
}

TEST(Session, RefusedStepsAreCorrectedAndEnd) {
  Walker walker;
  const uint64_t rollbacks = walker.client().stats().rollbacks;
  ASSERT_TRUE(walker.session.server().refuse_next_steps(walker.peer()));
  walker.session.run_ms(500);
  EXPECT_EQ(walker.client().stats().rollbacks, rollbacks);  // nobody walked yet
  walker.client().pad.move = {1, 0};
  walker.session.run_ms(1000);
  EXPECT_GT(walker.client().stats().rollbacks, rollbacks);
  EXPECT_EQ(walker.session.server().players()[0].refused_steps, 0u);
  walker.client().pad.move = {0, 0};
  walker.session.run_ms(1000);
  EXPECT_LT(length(walker.client().own()->position - walker.on_server()), 0.01f);
}

size_t parcels_in_vault(const Session::Client& client, int vault) {
  std::vector<lattice_netid> ids(lattice_objects(client.world, kParcelType, nullptr, 0));
  lattice_objects(client.world, kParcelType, ids.data(), ids.size());
  return static_cast<size_t>(std::ranges::count_if(ids, [&](lattice_netid id) {
    const ParcelState* parcel = client.game->world().read<ParcelState>(id);
    return parcel != nullptr && vault_at(parcel->position) == vault;
  }));
}

TEST(Session, AShutDoorHidesWhatIsBehindIt) {
  constexpr uint32_t kTicksMs = 1000 / 60;
  Session session({.seed = 21,
                   .clients = 1,
                   .parcels = kHallParcels / 5,
                   .interest_radius = static_cast<double>(kSightRadius),
                   .impairment = preset_link("lan")});
  session.run_ms(500);
  ASSERT_TRUE(session.everyone_is_in());
  Session::Client& client = *session.clients[0];
  client.bot.reset();
  const lattice_netid pawn = session.server().players()[0].pawn;
  const Vec2 door = centre(arena_doors()[static_cast<size_t>(vault_door(0))]);
  session.server().world().state<PawnState>(pawn)->position = {door.x, door.y - 1.5f};
  session.run_ms(1500);
  const size_t around = lattice_objects(client.world, kParcelType, nullptr, 0);
  EXPECT_GT(around, 20u);
  EXPECT_LT(around, 400u);
  EXPECT_EQ(parcels_in_vault(client, 0), 0u);

  client.game->request_door(vault_door(0), true);
  session.run_ms(kDoorNoticeTicks * kTicksMs + 500);
  EXPECT_EQ(parcels_in_vault(client, 0), 28u);
  // Inside, with the door shut again, the player has the vault and nothing of the hall.
  session.server().world().state<PawnState>(pawn)->position = {door.x, door.y + 3};
  session.run_ms((kDoorNoticeTicks + kDoorOpenTicks) * kTicksMs + 500);
  EXPECT_EQ(parcels_in_vault(client, 0), 28u);
  EXPECT_EQ(lattice_objects(client.world, kParcelType, nullptr, 0), 28u);
  EXPECT_EQ(client.game->scene().doors.size(), arena_doors().size());
}

TEST(Session, OneWhoAsksTooOftenTakesNobodysDoor) {
  Session session({.seed = 4, .clients = 2, .impairment = perfect_link()});
  session.run_ms(500);
  ASSERT_TRUE(session.everyone_is_in());
  for (size_t i = 0; i < 2; ++i) {
    session.clients[i]->bot.reset();
    const lattice_netid pawn = session.clients[i]->game->own_pawn();
    session.server().world().state<PawnState>(pawn)->position = centre(arena_doors()[i]);
  }
  session.run_ms(200);
  for (int i = 0; i < 100; ++i) session.clients[0]->game->request_door(0, true);
  session.clients[1]->game->request_door(1, true);
  session.run_ms(600);
  const Scene scene = session.server().scene();
  EXPECT_TRUE(door_is_open(*scene.doors[0].state, session.server_tick()));
  EXPECT_TRUE(door_is_open(*scene.doors[1].state, session.server_tick()));
  EXPECT_EQ(session.server().doors_refused(), 0u);
}

// A mirror grows when more objects are alive at once than ever before, and the states of an object when it
// moves for the first time; an allocation per tick would leave no window without one.
TEST(Session, AllocatesNothingPerTick) {
  Session session({.seed = 10, .clients = 6, .record = false, .impairment = preset_link("demo")});
  session.run_ms(5000);
  ASSERT_TRUE(session.everyone_is_in());
  int quiet_windows = 0;
  for (int window = 0; window < 20 && quiet_windows < 3; ++window) {
    const uint64_t before = lattice::test::allocation_count();
    session.run_ms(5000);
    quiet_windows = lattice::test::allocation_count() == before ? quiet_windows + 1 : 0;
  }
  EXPECT_EQ(quiet_windows, 3);
}

}  // namespace
}  // namespace depot::test
