// One report for one end, and a text that may go on the wire (W-29).
#include "reliability/endpoint/connection_end.h"

#include <gtest/gtest.h>

#include <string>

namespace lattice::reliability {
namespace {

using connection::DisconnectReason;

TEST(ConnectionEnd, IsReportedOnce) {
  ConnectionEnd end;
  EXPECT_FALSE(end.take_report());
  end.note(DisconnectReason::kTimeout, 5, "silence");
  EXPECT_EQ(end.reason(), DisconnectReason::kTimeout);
  EXPECT_EQ(end.remote_schema(), 5u);
  EXPECT_EQ(end.text(), "silence");
  EXPECT_TRUE(end.take_report());
  EXPECT_FALSE(end.take_report());
}

TEST(ConnectionEnd, OnlyWhatWasAnnouncedIsToBeHeardOf) {
  ConnectionEnd end;
  EXPECT_FALSE(end.is_announced());
  end.announce();
  EXPECT_TRUE(end.is_announced());
}

TEST(ConnectionEnd, TheTextIsCutBeforeHalfACharacter) {
  ConnectionEnd end;
  const std::string whole(wire::kMaxReasonTextBytes - 1, 'a');
  end.note(DisconnectReason::kTimeout, 0, whole + "\xC3\xA9");  // Two bytes, of which one has room.
  EXPECT_EQ(end.text(), whole);
  end.note(DisconnectReason::kTimeout, 0, std::string(200, 'b'));
  EXPECT_EQ(end.text(), std::string(wire::kMaxReasonTextBytes, 'b'));
  end.note(DisconnectReason::kTimeout, 0, {});
  EXPECT_EQ(end.text(), "");
}

TEST(ConnectionEnd, TheTextIsCutBeforeAForbiddenCharacter) {
  ConnectionEnd end;
  end.note(DisconnectReason::kTimeout, 0, "good\nbad");
  EXPECT_EQ(end.text(), "good");
}

}  // namespace
}  // namespace lattice::reliability
