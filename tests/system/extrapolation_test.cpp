// What a client draws while no snapshot comes: a member with EXTRAPOLATE goes on, one without it holds, and
// both stay where the object is known to rest.
#include <algorithm>

#include "lattice/lattice.hpp"
#include "message_pair.h"

namespace lattice::test::extrapolation_test {
namespace {

LATTICE_NETWORKED(Dial, (line, float, EXTRAPOLATE), (held, float))
constexpr Type<Dial> kDial{.id = 1, .name = "Dial"};
constexpr uint64_t kTickNs = 1'000'000'000 / 60;

class Extrapolation : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const WorldRef& world : {server_, client_}) ASSERT_EQ(world.add(kDial), LATTICE_OK);
    pair_.impair(30, 0);
    ASSERT_TRUE(pair_.connect());
    dial_ = server_.spawn(kDial);
  }
  void run(int ticks) {
    for (int i = 0; i < ticks; ++i) {
      if (turns_) {
        Dial* dial = server_.state<Dial>(dial_);
        ASSERT_NE(dial, nullptr);
        dial->line += 1, dial->held += 1;
      }
      pair_.now_ns += kTickNs;
      lattice_netsim_advance(pair_.net, kTickNs);
      lattice_world_pump(server_.get());
      lattice_world_pump(client_.get());
    }
  }
  Dial drawn() {
    EXPECT_EQ(client_.begin_frame(), LATTICE_OK);
    const std::optional<Dial> view = client_.view<Dial>(dial_);
    EXPECT_TRUE(view.has_value());
    return view.value_or(Dial{});
  }
  Dial newest() { return client_.confirmed<Dial>(dial_).value_or(Dial{}); }

  MessagePair pair_;
  const WorldRef server_{pair_.server.world}, client_{pair_.client.world};
  lattice_netid dial_ = 0;
  bool turns_ = true;
};

TEST_F(Extrapolation, GoesOnWhileNothingComesAndEndsInTime) {
  run(240);
  pair_.impair(30, 100);
  run(16);  // the delay of the view and some ticks more
  const Dial soon = drawn();
  EXPECT_FLOAT_EQ(soon.held, newest().held);
  EXPECT_GT(soon.line, newest().line + 1);
  EXPECT_LT(soon.line, newest().line + 16);
  run(60);
  const Dial late = drawn();
  EXPECT_NEAR(late.line, newest().line + 15, 0.5) << "250 ms are 15 ticks";
  EXPECT_FLOAT_EQ(late.held, newest().held);
}

TEST_F(Extrapolation, StaysWhereTheObjectRests) {
  run(240);
  turns_ = false;
  run(30);
  const float rest = server_.read<Dial>(dial_)->line;
  float most = 0;
  for (int i = 0; i < 60; ++i) {
    run(1);
    most = std::max(most, drawn().line);
  }
  EXPECT_FLOAT_EQ(drawn().line, rest);
  EXPECT_LE(most, rest) << "its rest was told before it was due";
}

}  // namespace
}  // namespace lattice::test::extrapolation_test
