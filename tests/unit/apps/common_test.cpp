// The small shared pieces: text codecs, suggestions, JSON writing, line reading.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "json_writer.h"
#include "process.h"
#include "rate_meter.h"
#include "suggest.h"
#include "text_codec.h"

namespace app {
namespace {

TEST(TextCodec, Base64FollowsRfc4648) {
  const std::pair<const char*, const char*> kVectors[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, coded] : kVectors) {
    const std::string text = plain;
    const std::vector<uint8_t> bytes(text.begin(), text.end());
    EXPECT_EQ(to_base64(bytes), coded);
    EXPECT_EQ(from_base64(coded), bytes);
  }
  EXPECT_EQ(from_base64("Zm9v\n"), from_base64("Zm9v"));
}

TEST(TextCodec, RefusesWhatIsNotBase64) {
  for (const char* bad : {"Z", "Zg=", "Zg===", "Z===", "Zm9v!", "Zh==", "Zg==Zg==", "=Zg="}) {
    EXPECT_EQ(from_base64(bad), std::nullopt) << bad;
  }
}

TEST(TextCodec, HexRoundTripsAndRefuses) {
  std::array<uint8_t, 4> bytes = {0x00, 0x9f, 0xA0, 0xff}, back{};
  EXPECT_EQ(to_hex(bytes), "009fa0ff");
  EXPECT_TRUE(from_hex("009FA0ff", back));
  EXPECT_EQ(back, bytes);
  for (const char* bad : {"", "009fa0f", "009fa0ff0", "009fa0fg", "0x9fa0ff"})
    EXPECT_FALSE(from_hex(bad, back)) << bad;
}

TEST(Suggest, NamesTheNearestOrNothing) {
  constexpr std::string_view kKnown[] = {"tick_rate", "snapshot_rate", "bind"};
  EXPECT_EQ(nearest_name("tick_rat", kKnown), "tick_rate");
  EXPECT_EQ(nearest_name("snapshotrate", kKnown), "snapshot_rate");
  EXPECT_EQ(nearest_name("bnd", kKnown), "bind");
  EXPECT_EQ(nearest_name("completely-else", kKnown), "");
}

TEST(JsonWriter, WritesWhatParsersRead) {
  JsonWriter json;
  json.begin_object();
  json.member("text", "a\"b\\c\n");
  json.member("whole", uint64_t{18446744073709551615u});
  json.member("real", 1.25);
  json.member("short", 2.0, 3);
  json.member("minus", -0.0001, 3);
  json.member("nan", std::numeric_limits<double>::quiet_NaN());
  json.member("yes", true);
  json.key("list").begin_array();
  json.value(1);
  json.begin_object();
  json.end_object();
  json.end_array();
  json.end_object();
  EXPECT_EQ(json.text(),
            "{\"text\":\"a\\\"b\\\\c\\u000a\",\"whole\":18446744073709551615,\"real\":1.25,\"short\":2,"
            "\"minus\":0,\"nan\":0,\"yes\":true,\"list\":[1,{}]}");
}

TEST(LineReader, JoinsPiecesAndDropsWhatIsTooLong) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  set_nonblocking(ends[0]);
  LineReader reader(8);
  std::vector<std::string> lines;
  const auto put = [&](std::string_view text) {
    ASSERT_EQ(write(ends[1], text.data(), text.size()), ssize_t(text.size()));
  };
  put("one\ntw");
  EXPECT_TRUE(reader.read(ends[0], lines));
  EXPECT_EQ(lines, std::vector<std::string>({"one"}));
  put("o\n123456789\n");
  EXPECT_TRUE(reader.read(ends[0], lines));
  put("123456789");
  EXPECT_TRUE(reader.read(ends[0], lines));
  put("0123456789\nfour\n");
  EXPECT_TRUE(reader.read(ends[0], lines));
  EXPECT_EQ(lines, std::vector<std::string>({"one", "two", "four"}));
  EXPECT_EQ(reader.dropped_lines(), 2u);
  close(ends[1]);
  EXPECT_FALSE(reader.read(ends[0], lines));
  close(ends[0]);
}

TEST(RateMeter, FindsTheFullestSecond) {
  RateMeter meter;
  uint64_t bytes = 0;
  for (uint64_t i = 0; i <= 30; ++i) {
    // 1000 bytes in each tenth of a second, and 4000 in one of them.
    bytes += i == 15 ? 4000 : 1000;
    meter.add(7, i * RateMeter::kIntervalNs, bytes);
    meter.add(8, i * RateMeter::kIntervalNs, 0);
  }
  EXPECT_EQ(meter.most(), 13'000);
  EXPECT_EQ(meter.take_recent_most(), 13'000);
  EXPECT_EQ(meter.take_recent_most(), 0);
}

TEST(RateMeter, ALateReadingIsNoPeak) {
  RateMeter meter;
  meter.add(7, 0, 0);
  meter.add(7, 500'000'000, 5000);
  EXPECT_EQ(meter.most(), 0) << "no second is over yet";
  meter.add(7, 2'000'000'000, 20'000);
  EXPECT_EQ(meter.most(), 10'000);
}

}  // namespace
}  // namespace app
