#include "simulation/input_buffer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <vector>

#include "base/random.h"
#include "base/tick.h"

namespace lattice::simulation {
namespace {

constexpr uint64_t kDefaultWord = 0xD0;

InputBuffer make(Tick newest_tick = 100) {
  const serialization::Word words[1] = {kDefaultWord};
  return InputBuffer(InputBufferConfig{}, words, newest_tick);
}

DecodedInputs inputs_of(Tick newest, uint32_t count) {
  DecodedInputs inputs;
  inputs.newest_tick = newest;
  inputs.count = inputs.read_count = count;
  return inputs;
}

/// `count` inputs ending at `newest`, each word its own tick.
void receive(InputBuffer& buffer, Tick newest, uint32_t count, TickTime at) {
  std::vector<serialization::Word> words;
  for (uint32_t i = 0; i < count; ++i) words.push_back(newest - i);
  buffer.receive(inputs_of(newest, count), words, at);
}

TEST(InputBuffer, FreshInputsInOrder) {
  InputBuffer buffer = make();
  receive(buffer, 103, 3, TickTime{100, 0.0});
  EXPECT_EQ(buffer.depth(), 3u);
  for (Tick tick = 101; tick <= 103; ++tick) {
    const TakenInput input = buffer.take(tick);
    EXPECT_EQ(input.source, InputSource::kFresh);
    EXPECT_EQ(input.words[0], tick);
    EXPECT_EQ(input.input_tick, tick);
  }
  EXPECT_EQ(buffer.last_input_tick(), 103u);
  EXPECT_EQ(buffer.stats().fresh, 3u);
}

TEST(InputBuffer, ReadsTwoMessagesForEachTick) {
  InputBuffer buffer = make(100);
  const auto read_at = [&](Tick tick) {
    uint32_t read = 0;
    for (int i = 0; i < 1000; ++i) read += buffer.admit(tick) ? 1u : 0u;
    return read;
  };
  EXPECT_EQ(read_at(100), 64u);
  for (Tick tick = 101; tick < 160; ++tick) EXPECT_EQ(read_at(tick), 2u) << tick;
  EXPECT_EQ(read_at(170), 22u);
  EXPECT_EQ(read_at(170 + 1'000'000), 64u) << "no more than 64 are saved up";
  EXPECT_EQ(buffer.stats().over_rate, 62'000u - 64 - 59 * 2 - 22 - 64);
}

TEST(InputBuffer, DefaultThenRepeatFor250MsThenDefault) {
  InputBuffer buffer = make();
  EXPECT_EQ(buffer.take(101).source, InputSource::kDefault);
  EXPECT_EQ(buffer.take(101).words[0], kDefaultWord);
  receive(buffer, 102, 1, TickTime{101, 0.0});
  EXPECT_EQ(buffer.take(102).source, InputSource::kFresh);
  for (Tick tick = 103; tick <= 102 + 15; ++tick) {  // 15 ticks of 60 Hz are 250 ms
    const TakenInput input = buffer.take(tick);
    EXPECT_EQ(input.source, InputSource::kRepeated) << tick;
    EXPECT_EQ(input.words[0], 102u);
    EXPECT_EQ(input.input_tick, 102u);
  }
  EXPECT_EQ(buffer.take(118).source, InputSource::kDefault);
  EXPECT_EQ(buffer.take(118).words[0], kDefaultWord);
  EXPECT_EQ(buffer.last_input_tick(), 102u);
  EXPECT_EQ(buffer.stats().repeated, 15u);
  EXPECT_EQ(buffer.stats().defaulted, 2u);
}

TEST(InputBuffer, AnInputBringsWhatItsPlayerSaw) {
  InputBuffer buffer = make();
  DecodedInputs inputs = inputs_of(102, 2);
  inputs.sights = {Sight{98, 200, 99}, Sight{97, 7, 99}};
  inputs.lead_quarter_ticks = 6;
  const serialization::Word words[2] = {};
  buffer.receive(inputs, words, TickTime{100, 0.0});
  EXPECT_EQ(buffer.take(101).sight, (Sight{97, 7, 99}));
  EXPECT_EQ(buffer.take(102).sight, (Sight{98, 200, 99}));
  EXPECT_FALSE(buffer.take(102).sight_clamped);
  EXPECT_EQ(buffer.take(103).sight, (Sight{98, 200, 99})) << "of the input that is repeated";
  EXPECT_EQ(buffer.lead_quarter_ticks(), 6);
  inputs = inputs_of(101, 1);
  inputs.lead_quarter_ticks = 9;
  buffer.receive(inputs, words, TickTime{103, 0.0});
  EXPECT_EQ(buffer.lead_quarter_ticks(), 6) << "an overtaken message says nothing new";
  EXPECT_EQ(buffer.take(120).sight, Sight{}) << "the default input has none";
}

TEST(InputBuffer, AViewIsHeldWithinWhatCanBeSeen) {
  const auto seen = [](Sight said, InputBufferStats* stats) {
    InputBufferConfig config;
    config.history_ticks = 20;
    const serialization::Word words[1] = {};
    InputBuffer buffer(config, words, 100);
    DecodedInputs inputs = inputs_of(101, 1);
    inputs.sights[0] = said;
    buffer.receive(inputs, words, TickTime{100, 0.0});
    const TakenInput taken = buffer.take(101);
    EXPECT_EQ(taken.sight_clamped, taken.sight != said);
    *stats = buffer.stats();
    return taken.sight;
  };
  struct Case {
    Sight said, believed;
    uint64_t future, old;
  };
  const Case cases[] = {
      {{100, 0, 100}, {100, 0, 100}, 0, 0}, {{100, 1, 100}, {100, 0, 100}, 1, 0},
      {{101, 0, 0}, {100, 0, 0}, 1, 0},     {{0, 0, 101}, {0, 0, 100}, 1, 0},
      {{101, 0, 101}, {100, 0, 100}, 1, 0}, {{81, 0, 1}, {81, 0, 1}, 0, 0},
      {{80, 255, 100}, {81, 0, 100}, 0, 1}, {{1, 0, 101}, {81, 0, 100}, 1, 1},
      {{0, 0, 0}, {0, 0, 0}, 0, 0},
  };
  for (const Case& each : cases) {
    InputBufferStats stats;
    EXPECT_EQ(seen(each.said, &stats), each.believed)
        << each.said.view_tick << " + " << each.said.view_fraction;
    EXPECT_EQ(stats.sights_future, each.future);
    EXPECT_EQ(stats.sights_old, each.old);
  }
}

TEST(InputBuffer, AViewIsHeldToATickWhereTheNumbersBeginAnew) {
  const serialization::Word words[1] = {};
  const auto seen = [&](Tick tick, Tick view, uint32_t history_ticks) {
    InputBufferConfig config;
    config.history_ticks = history_ticks;
    InputBuffer buffer(config, words, base::previous_tick(tick));
    DecodedInputs inputs = inputs_of(tick, 1);
    inputs.sights[0] = {view, 0, view};
    buffer.receive(inputs, words, TickTime{base::previous_tick(tick), 0.0});
    return buffer.take(tick).sight;
  };
  EXPECT_EQ(seen(64, UINT32_MAX - 15, 64).view_tick, 1u) << "the oldest that is kept: 0 is no tick";
  EXPECT_EQ(seen(63, UINT32_MAX - 15, 64).view_tick, UINT32_MAX);
  EXPECT_EQ(seen(65, UINT32_MAX - 15, 64).view_tick, 1u);
  EXPECT_EQ(seen(1, 1, 64).view_tick, UINT32_MAX) << "the tick before";
  EXPECT_EQ(seen(1, 1, 64).snapshot_tick, UINT32_MAX);
}

TEST(InputBuffer, NoViewIsFromBeforeTheServerRan) {
  const serialization::Word words[1] = {};
  for (const Tick first : {Tick{1}, Tick{500}, UINT32_MAX - 10}) {
    InputBufferConfig config;
    config.first_tick = first;
    InputBuffer buffer(config, words, base::previous_tick(first));
    Tick tick = first + 20 < first ? first + 21 : first + 20;  // 0 is no tick
    DecodedInputs inputs = inputs_of(tick, 1);
    inputs.sights[0] = {first - 7, 9, first - 7};
    buffer.receive(inputs, words, TickTime{tick, 0.0});
    const TakenInput taken = buffer.take(tick);
    EXPECT_EQ(taken.sight.view_tick, first);
    EXPECT_EQ(taken.sight.view_fraction, 0u);
    EXPECT_EQ(taken.sight.snapshot_tick, 0u) << "none had come";
    EXPECT_TRUE(taken.sight_clamped);
    EXPECT_EQ(buffer.stats().sights_old, 1u);
    inputs = inputs_of(++tick, 1);
    inputs.sights[0] = {first + 3, 9, first + 3};
    buffer.receive(inputs, words, TickTime{tick, 0.0});
    EXPECT_FALSE(buffer.take(tick).sight_clamped);
  }
}

TEST(InputBuffer, TheFirstInputOfATickStands) {
  InputBuffer buffer = make();
  const serialization::Word first[1] = {7};
  const serialization::Word second[1] = {8};
  buffer.receive(inputs_of(101, 1), first, TickTime{100, 0.0});
  buffer.receive(inputs_of(101, 1), second, TickTime{100, 0.0});
  EXPECT_EQ(buffer.take(101).words[0], 7u);
  buffer.receive(inputs_of(101, 1), second, TickTime{101, 0.0});
  EXPECT_EQ(buffer.take(101).words[0], 7u);
  EXPECT_EQ(buffer.stats().conflicting, 1u);
}

TEST(InputBuffer, AnInputAfterARepeatIsNotAppliedToThatTick) {
  InputBuffer buffer = make();
  receive(buffer, 101, 1, TickTime{100, 0.0});
  buffer.take(101);
  EXPECT_EQ(buffer.take(102).source, InputSource::kRepeated);
  receive(buffer, 102, 2, TickTime{102, 0.0});
  EXPECT_EQ(buffer.take(102).source, InputSource::kRepeated);
  EXPECT_EQ(buffer.stats().late, 1u);        // 102
  EXPECT_EQ(buffer.stats().duplicates, 1u);  // 101
  receive(buffer, 102, 2, TickTime{102, 0.0});
  EXPECT_EQ(buffer.stats().late, 1u);
  EXPECT_EQ(buffer.stats().duplicates, 3u);
}

TEST(InputBuffer, InputsThatWereNotReadCountAsTheirTicksDo) {
  base::Random random(3);
  InputBuffer whole = make();
  InputBuffer partly = make();
  Tick now = 100;
  for (int step = 0; step < 2000; ++step) {
    const Tick newest = now - 6 + static_cast<Tick>(random.next_below(16));
    DecodedInputs inputs = inputs_of(newest, static_cast<uint32_t>(1 + random.next_below(32)));
    const std::vector<serialization::Word> words(inputs.count, newest);
    whole.receive(inputs, words, TickTime{now, 0.0});
    const Tick known = partly.known_until();
    while (inputs.read_count > 1 && !base::tick_after(newest - (inputs.read_count - 1), known))
      --inputs.read_count;
    partly.receive(inputs, words, TickTime{now, 0.0});
    if (random.chance(0.7)) now += 1 + static_cast<Tick>(random.chance(0.02) ? random.next_below(150) : 0);
    const TakenInput expected = whole.take(now);
    const TakenInput taken = partly.take(now);
    ASSERT_EQ(taken.source, expected.source) << step;
    ASSERT_EQ(taken.words[0], expected.words[0]) << step;
  }
  EXPECT_EQ(partly.stats().late, whole.stats().late);
  // What differs from what is there is told only of inputs that were read.
  EXPECT_EQ(partly.stats().duplicates + partly.stats().conflicting,
            whole.stats().duplicates + whole.stats().conflicting);
  EXPECT_LT(partly.stats().conflicting, whole.stats().conflicting);
  EXPECT_EQ(partly.stats().accepted, whole.stats().accepted);
  EXPECT_GT(whole.stats().late, 0u);
}

// A tick half of all numbers away is neither before nor after.
TEST(InputBuffer, InputsFromTheOtherEndOfTheNumbersAreLate) {
  for (const uint32_t beyond : {0u, 1u, 20u, 31u}) {
    InputBuffer buffer = make(1000);
    DecodedInputs inputs = inputs_of(1000 + (1u << 31) + beyond, 32);
    inputs.read_count = 1;
    buffer.receive(inputs, std::vector<serialization::Word>(32), TickTime{1000, 0.0});
    EXPECT_EQ(buffer.depth(), 0u);
    EXPECT_EQ(buffer.stats().duplicates, 32u);
    EXPECT_EQ(buffer.take(1001).source, InputSource::kDefault);
  }
}

TEST(InputBuffer, HoldsThirtyTwoTicksAhead) {
  InputBuffer buffer = make();
  receive(buffer, 140, 32, TickTime{100, 0.0});
  EXPECT_EQ(buffer.stats().too_early, 8u);  // 133..140
  EXPECT_EQ(buffer.depth(), 24u);           // 109..132
  receive(buffer, 132, 32, TickTime{100, 0.0});
  EXPECT_EQ(buffer.depth(), 32u);
  for (Tick tick = 101; tick <= 132; ++tick) EXPECT_EQ(buffer.take(tick).source, InputSource::kFresh);
}

TEST(InputBuffer, MarginIsSmoothedSevenEighthsInQuarterTicks) {
  InputBuffer buffer = make();
  EXPECT_EQ(buffer.margin_quarter_ticks(), 0);
  receive(buffer, 102, 1, TickTime{100, 0.5});
  EXPECT_EQ(buffer.margin_quarter_ticks(), 6);  // the first sets it: 1.5 ticks
  receive(buffer, 104, 1, TickTime{100, 0.0});  // 4 ticks: 6 + (16 - 6)/8 = 7.25
  EXPECT_EQ(buffer.margin_quarter_ticks(), 7);
  receive(buffer, 103, 1, TickTime{100, 0.0});  // overtaken: says nothing
  EXPECT_EQ(buffer.margin_quarter_ticks(), 7);
}

TEST(InputBuffer, LateInputsCountForTheMarginAndItSaturates) {
  InputBuffer buffer = make(1000);
  receive(buffer, 998, 1, TickTime{1000, 0.0});
  EXPECT_EQ(buffer.margin_quarter_ticks(), -8);
  InputBuffer early = make();
  for (int i = 0; i < 5; ++i) receive(early, 100000, 1, TickTime{100, 0.0});
  EXPECT_EQ(early.margin_quarter_ticks(), 127);
  InputBuffer late = make(100000);
  receive(late, 5, 1, TickTime{100000, 0.0});
  EXPECT_EQ(late.margin_quarter_ticks(), -127);
  // A forged tick far ahead does not silence the margin for good.
  receive(early, 101, 1, TickTime{100, 0.0});
  EXPECT_LT(early.margin_quarter_ticks(), 127);
}

TEST(InputBuffer, SkippedTicksAreGone) {
  InputBuffer buffer = make();
  receive(buffer, 110, 10, TickTime{100, 0.0});
  EXPECT_EQ(buffer.take(108).words[0], 108u);
  receive(buffer, 110, 10, TickTime{108, 0.0});
  EXPECT_EQ(buffer.stats().late, 0u);  // they had come in time; nobody asked
  EXPECT_EQ(buffer.take(109).words[0], 109u);
}

TEST(InputBuffer, TicksThatNeverRanDoNotCount) {
  InputBuffer buffer = make();
  receive(buffer, 104, 4, TickTime{100, 0.0});
  buffer.skip(102, 1'000'000'000);
  EXPECT_EQ(buffer.stats().fresh, 2u);
  EXPECT_EQ(buffer.take_up_to(1'000'000'001).source, InputSource::kDefault);
  EXPECT_EQ(buffer.stats().repeated, 0u);
  EXPECT_EQ(buffer.stats().defaulted, 1u) << "the tick that ran since";
  receive(buffer, 1'000'000'003, 2, TickTime{1'000'000'001, 0.0});
  EXPECT_EQ(buffer.take_up_to(1'000'000'002).source, InputSource::kFresh);
  EXPECT_EQ(buffer.stats().late, 0u);
}

// A player who held a key before the server's clock skipped holds it still.
TEST(InputBuffer, TheNewestInputOfTicksThatNeverRanIsRepeated) {
  InputBuffer buffer = make();
  receive(buffer, 104, 4, TickTime{100, 0.0});
  buffer.skip(102, 110);
  const TakenInput input = buffer.take_up_to(111);
  EXPECT_EQ(input.source, InputSource::kRepeated);
  EXPECT_EQ(input.words[0], 104u);
  EXPECT_EQ(input.input_tick, 104u);
  EXPECT_EQ(buffer.stats().fresh, 2u) << "those that ran";
  EXPECT_EQ(buffer.stats().repeated, 1u);
  EXPECT_EQ(buffer.stats().defaulted, 0u);
}

TEST(InputBuffer, TicksTakenLateAreTakenAsInTheirTime) {
  base::Random random(5);
  InputBuffer prompt = make();
  InputBuffer late = make();
  Tick now = 100;
  for (int step = 0; step < 2000; ++step) {
    const TakenInput expected = prompt.take(++now);
    if (random.chance(0.2)) {
      const TakenInput input = late.take_up_to(now);
      EXPECT_EQ(input.source, expected.source);
      EXPECT_EQ(input.words[0], expected.words[0]);
    }
    if (random.chance(0.4)) continue;
    const Tick newest = now + static_cast<Tick>(random.next_below(6)) - 2;
    late.take_up_to(now);
    for (InputBuffer* buffer : {&prompt, &late}) receive(*buffer, newest, 2, TickTime{now, 0.0});
  }
  late.take_up_to(now);
  EXPECT_EQ(late.stats().fresh, prompt.stats().fresh);
  EXPECT_EQ(late.stats().repeated, prompt.stats().repeated);
  EXPECT_EQ(late.stats().defaulted, prompt.stats().defaulted);
  EXPECT_EQ(late.stats().late, prompt.stats().late);
  EXPECT_EQ(late.stats().duplicates, prompt.stats().duplicates);
  EXPECT_EQ(late.last_input_tick(), prompt.last_input_tick());
  EXPECT_GT(prompt.stats().fresh, 500u);
  EXPECT_GT(prompt.stats().late, 50u);
}

TEST(InputBuffer, AgreesWithAModel) {
  EXPECT_TRUE(rc::check("first arrival wins, one input per tick, counts add up", [] {
    const auto seed = *rc::gen::arbitrary<uint64_t>();
    base::Random random(seed);
    const serialization::Word default_words[1] = {kDefaultWord};
    const Tick start = random.chance(0.2) ? UINT32_MAX - 40 : 500;
    InputBuffer buffer(InputBufferConfig{}, default_words, start);
    std::map<uint64_t, uint64_t> first;  // ticks since start → word
    uint64_t model_now = 0;
    uint64_t last_fresh = 0;
    for (int step = 0; step < 400; ++step) {
      if (random.chance(0.6)) {
        const auto count = static_cast<uint32_t>(1 + random.next_below(32));
        const int64_t ahead = static_cast<int64_t>(random.next_below(60)) - 20;
        const int64_t newest = static_cast<int64_t>(model_now) + ahead;
        if (newest < static_cast<int64_t>(count)) continue;
        if (start + static_cast<Tick>(newest) < count) continue;  // contains tick 0: refused by the codec
        std::vector<serialization::Word> words(count);
        for (serialization::Word& word : words) word = static_cast<serialization::Word>(random.next_u64());
        for (uint32_t i = 0; i < count; ++i) {
          const uint64_t at = static_cast<uint64_t>(newest) - i;
          if (at > model_now && at <= model_now + kJitterBufferTicks) first.emplace(at, words[i]);
        }
        buffer.receive(inputs_of(start + static_cast<Tick>(newest), count), words,
                       TickTime{start + static_cast<Tick>(model_now), 0.0});
      } else {
        ++model_now;
        if (start + static_cast<Tick>(model_now) == 0) ++model_now;  // tick 0 is none (T-04)
        const TakenInput input = buffer.take(start + static_cast<Tick>(model_now));
        const auto expected = first.find(model_now);
        if (expected != first.end()) {
          RC_ASSERT(input.source == InputSource::kFresh);
          RC_ASSERT(input.words[0] == expected->second);
          last_fresh = model_now;
        } else if (last_fresh != 0 && model_now - last_fresh <= 15) {
          RC_ASSERT(input.source == InputSource::kRepeated);
          RC_ASSERT(input.words[0] == first.at(last_fresh));
        } else {
          RC_ASSERT(input.source == InputSource::kDefault);
          RC_ASSERT(input.words[0] == kDefaultWord);
        }
      }
    }
    const InputBufferStats& stats = buffer.stats();
    RC_ASSERT(stats.accepted == first.size());
  }));
}

}  // namespace
}  // namespace lattice::simulation
