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

}  // namespace
}  // namespace sideband::daemon
