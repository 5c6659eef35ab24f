#include "base/log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lattice::base {
namespace {

struct Line {
  LogLevel level;
  LogCategory category;
  uint32_t code;
  std::string message;
};

void collect(void* context, LogLevel level, LogCategory category, uint32_t code, const char* message) {
  static_cast<std::vector<Line>*>(context)->push_back({level, category, code, message});
}

TEST(Log, PassesFormattedLinesUpToItsLevel) {
  std::vector<Line> lines;
  const Log log(collect, &lines, LogLevel::kInfo);
  log.write(LogLevel::kInfo, LogCategory::kConnection, 7, "peer %d %s", 3, "left");
  log.write(LogLevel::kDebug, LogCategory::kConnection, 8, "not seen");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].message, "peer 3 left");
  EXPECT_EQ(lines[0].code, 7u);
  EXPECT_STREQ(log_category_name(lines[0].category), "connection");
  EXPECT_STREQ(log_level_name(lines[0].level), "info");
}

TEST(Log, CutsLongLinesAndIsSilentWithoutACallback) {
  std::vector<Line> lines;
  const Log log(collect, &lines, LogLevel::kDebug);
  const std::string long_text(1000, 'x');
  log.write(LogLevel::kError, LogCategory::kSocket, 1, "%s", long_text.c_str());
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].message.size(), kLogMessageBytes - 1);
  Log().write(LogLevel::kError, LogCategory::kSocket, 1, "nobody listens");
}

}  // namespace
}  // namespace lattice::base
