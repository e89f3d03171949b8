// SPDX-License-Identifier: Apache-2.0
#include "proto/base/visible.h"

#include <gtest/gtest.h>

namespace sideband {
namespace {

TEST(VisibleTest, ControlCharactersAreShown) {
  EXPECT_EQ(Visible("\x1b[2J\n\t\x7f"), "\\x1b[2J\\x0a\\x09\\x7f");
  EXPECT_EQ(Visible(absl::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(Visible("\xc2\x9b"), "\\xc2\\x9b") << "the terminal's CSI in one character";
}

TEST(VisibleTest, EverythingElseStays) {
  EXPECT_EQ(Visible("größe 'x' \"y\" \\ \xc2\xa0"), "größe 'x' \"y\" \\ \xc2\xa0");
  EXPECT_EQ(Visible("€ 𝄞 \xed\x9f\xbf \xf4\x8f\xbf\xbf"), "€ 𝄞 \xed\x9f\xbf \xf4\x8f\xbf\xbf");
  EXPECT_EQ(Visible(""), "");
}

TEST(VisibleTest, WhatIsNoUtf8IsShown) {
  const struct {
    const char* text;
    const char* visible;
  } kCases[] = {
      {"\xc2", "\\xc2"},  // truncated
      {"\xe2\x82"
       "a",
       "\\xe2\\x82"
       "a"},                       // truncated by another character
      {"\x80\xbf", "\\x80\\xbf"},  // continuation bytes without a lead
      {"\xff"
       "a\xfe",
       "\\xff"
       "a\\xfe"},                                    // never in UTF-8
      {"\xc0\xaf", "\\xc0\\xaf"},                    // overlong
      {"\xe0\x9f\xbf", "\\xe0\\x9f\\xbf"},           // overlong
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // a surrogate
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // beyond U+10FFFF
  };
  for (const auto& test : kCases) EXPECT_EQ(Visible(test.text), test.visible);
}

}  // namespace
}  // namespace sideband
