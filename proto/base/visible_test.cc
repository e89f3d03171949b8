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
  EXPECT_EQ(Visible("\xc2"), "\xc2") << "a cut character";
  EXPECT_EQ(Visible(""), "");
}

}  // namespace
}  // namespace sideband
