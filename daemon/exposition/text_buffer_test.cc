// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/text_buffer.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace sideband::daemon {
namespace {

TEST(TextBufferTest, GrowsAndKeepsWhatIsThere) {
  TextBuffer out;
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    out.Append("line\n");
    expected += "line\n";
  }
  EXPECT_EQ(out.text(), expected);
  const size_t capacity = out.capacity();
  out.Clear();
  EXPECT_EQ(out.text(), "");
  EXPECT_EQ(out.capacity(), capacity);
}

TEST(TextBufferTest, ReservedRoomIsTextOnceCommitted) {
  TextBuffer out;
  out.Append("a");
  char* at = out.Reserve(100);
  EXPECT_EQ(out.size(), 1u);
  out.Commit(Put(Put(at, "b="), std::numeric_limits<uint64_t>::max()));
  EXPECT_EQ(out.text(), "ab=18446744073709551615");
  out.Truncate(2);
  EXPECT_EQ(out.text(), "ab");
}

TEST(TextBufferTest, AShareHasNineDecimalsAtMost) {
  const auto text = [](double value) {
    char room[16];
    return std::string(room, PutShare(room, value));
  };
  EXPECT_EQ(text(0), "0");
  EXPECT_EQ(text(1), "1");
  EXPECT_EQ(text(0.5), "0.5");
  EXPECT_EQ(text(0.25 + 1e-9), "0.250000001");
  EXPECT_EQ(text(2.0 / 3), "0.666666667");
  EXPECT_EQ(text(0.0304), "0.0304");
  EXPECT_EQ(text(4e-10), "0");
  EXPECT_EQ(text(1 - 4e-10), "1");
}

}  // namespace
}  // namespace sideband::daemon
