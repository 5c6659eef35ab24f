#include "transport/socket/impairment.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

namespace lattice::socket {
namespace {

TEST(ImpairmentPresets, AllAreValidNamedAndFound) {
  std::set<std::string> names;
  for (const NamedImpairment& preset : impairment_presets()) {
    EXPECT_EQ(impairment_error(preset.up), nullptr) << preset.name;
    EXPECT_EQ(impairment_error(preset.down), nullptr) << preset.name;
    EXPECT_TRUE(names.insert(preset.name).second) << preset.name;
    EXPECT_EQ(find_impairment_preset(preset.name), &preset);
    EXPECT_STRNE(preset.description, "");
  }
  EXPECT_EQ(names, (std::set<std::string>{"lan", "fibre", "cable", "dsl", "wifi-busy", "4g", "5g",
                                          "satellite", "hotel", "train", "transatlantic", "worst", "demo"}));
  EXPECT_EQ(find_impairment_preset("dial-up"), nullptr);
  EXPECT_EQ(find_impairment_preset(nullptr), nullptr);
}

TEST(ImpairmentPresets, DemoIsWhatItSays) {
  const NamedImpairment& demo = *find_impairment_preset("demo");
  EXPECT_EQ(demo.up, demo.down);
  EXPECT_EQ(demo.up.delay_ms + demo.down.delay_ms, 100);
  EXPECT_EQ(demo.up.jitter_ms + demo.down.jitter_ms, 20);
  EXPECT_EQ(demo.up.loss, 0.05);
}

TEST(Impairment, EachMemberIsChecked) {
  EXPECT_EQ(impairment_error(Impairment{}), nullptr);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto error_of = [](auto change) {
    Impairment impairment;
    change(impairment);
    const char* error = impairment_error(impairment);
    return std::string(error == nullptr ? "" : error);
  };
  EXPECT_EQ(error_of([](Impairment& i) { i.delay_ms = -1; }), "delay_ms");
  EXPECT_EQ(error_of([](Impairment& i) { i.delay_ms = 60000; }), "");
  EXPECT_EQ(error_of([](Impairment& i) { i.delay_ms = 60000.5; }), "delay_ms");
  EXPECT_EQ(error_of([&](Impairment& i) { i.jitter_ms = nan; }), "jitter_ms");
  EXPECT_EQ(error_of([](Impairment& i) { i.loss = 1; }), "");
  EXPECT_EQ(error_of([](Impairment& i) { i.loss = 1.0001; }), "loss");
  EXPECT_EQ(error_of([](Impairment& i) { i.burst_enter = -0.1; }), "burst_enter");
  EXPECT_EQ(error_of([&](Impairment& i) { i.burst_leave = nan; }), "burst_leave");
  EXPECT_EQ(error_of([](Impairment& i) { i.duplicate = 2; }), "duplicate");
  EXPECT_EQ(error_of([](Impairment& i) { i.reorder = -1; }), "reorder");
  EXPECT_EQ(error_of([](Impairment& i) { i.reorder_delay_ms = -1; }), "reorder_delay_ms");
  EXPECT_EQ(error_of([](Impairment& i) { i.rate_bits_per_s = 2'000'000'000'000; }), "rate_bits_per_s");
}

}  // namespace
}  // namespace lattice::socket
