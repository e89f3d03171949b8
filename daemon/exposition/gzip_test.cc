// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

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
