// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/text_buffer.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"

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

// Checks the CRC, the length, and that the member ends at the end of `bytes`.
std::string Gunzip(const std::string& bytes) {
  z_stream stream = {};
  EXPECT_EQ(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
  std::string text(10 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  EXPECT_EQ(stream.avail_in, 0u);
  text.resize(text.size() - stream.avail_out);
  inflateEnd(&stream);
  return text;
}

std::string LongText(size_t lines) {
  std::string text;
  for (size_t i = 0; i < lines; ++i)
    absl::StrAppend(&text, "sideband_x_total{context=\"c", i % 97, "\"} ", i * i, "\n");
  return text;
}

TEST(GzipTest, IsOneMemberOfBothTexts) {
  const std::string long_text = LongText(50'000);
  for (const std::string& head : {std::string(), std::string("age 0.25\n"), LongText(500)}) {
    for (const std::string& rest : {std::string(), std::string("# EOF\n"), long_text}) {
      const Body body = GzipOf(head, std::make_shared<const Deflated>(Deflate(rest)));
      EXPECT_EQ(Gunzip(body.ToString()), head + rest) << head.size() << " and " << rest.size();
    }
  }
}

TEST(GzipTest, TheLongPartIsShared) {
  const auto rest = std::make_shared<const Deflated>(Deflate(LongText(1000)));
  const Body first = GzipOf("age 1\n", rest), second = GzipOf("age 2\n", rest);
  EXPECT_EQ(first.shared.data(), second.shared.data());
  EXPECT_NE(first.head, second.head);
  EXPECT_EQ(Gunzip(second.ToString()), absl::StrCat("age 2\n", LongText(1000)));
}

}  // namespace
}  // namespace sideband::daemon
