// SPDX-License-Identifier: Apache-2.0
#include "proto/manual/roff.h"

#include <gtest/gtest.h>

namespace sideband::manual {
namespace {

TEST(RoffTest, TextIsPrintedAsItStands) {
  const struct {
    std::string text, roff;
  } kCases[] = {
      {"a plain line", "a plain line"},
      {"well-known", "well-known"},
      {"C:\\n", "C:\\en"},
      {".TH\n.SH x.y", "\\&.TH\n\\&.SH x.y"},                 // no requests
      {"'br", "\\(aqbr"},                                     // the other control character
      {"\"`^~'", "\\(dq\\(ga\\(ha\\(ti\\(aq"},                // printed as others otherwise
      {"5f0c… ±", "5f0c\\[u2026] \\[u00B1]"},                 // of three bytes, and of two
      {"\xF0\x9F\x98\x80", "\\[u1F600]"},                     // of four
      {"\xFF|\x80|\xE2\x80|\xC3(|\xE2\x80", "?|?|??|?(|??"},  // none of UTF-8, the last one cut
  };
  for (const auto& [text, roff] : kCases) EXPECT_EQ(RoffText(text), roff) << text;
}

TEST(RoffTest, WordsOfACommandLineKeepTheirMinusSigns) {
  EXPECT_EQ(RoffBold("--dry-run"), "\\fB\\-\\-dry\\-run\\fR");
  EXPECT_EQ(RoffItalic("FILE"), "\\fIFILE\\fR");
  EXPECT_EQ(RoffArgument("a \"b\""), "\"a \\(dqb\\(dq\"");
  EXPECT_EQ(RoffExample("get --vm a\nget -h"), ".EX\nget \\-\\-vm a\nget \\-h\n.EE\n");
}

}  // namespace
}  // namespace sideband::manual
