// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/peek_config.h"

#include <gtest/gtest.h>

#include <string>

#include "daemon/config/read_section.h"

namespace sideband::daemon {
namespace {

absl::StatusOr<PeekConfig> ReadPeek(const std::string& text) { return ReadSection(text, "peek", ReadPeekConfig); }

TEST(PeekConfigTest, ATenthUnlessItSaysOtherwise) {
  EXPECT_EQ(ReadPeek("other: 1")->bus_share, 0.1);
  EXPECT_EQ(ReadPeek("peek: {}")->bus_share, 0.1);
  EXPECT_EQ(ReadPeek("peek: {bus_share: 0.25}")->bus_share, 0.25);
  EXPECT_EQ(ReadPeek("peek: {bus_share: 0}")->bus_share, 0);
}

TEST(PeekConfigTest, BothBoundsAreInside) {
  EXPECT_EQ(ReadPeek("peek: {bus_share: 0.001}")->bus_share, 0.001);
  EXPECT_EQ(ReadPeek("peek: {bus_share: 1}")->bus_share, 1);
  for (const char* text : {"0.0009", "1.001", "-0.1", "1e-300", "nan", "inf", "10%", "lots", "[0.1]"}) {
    EXPECT_EQ(ReadPeek(std::string("peek: {bus_share: ") + text + "}").status().message(),
              "c.yaml:1: expected 0 or a number from 0.001 to 1, such as 0.1")
        << text;
  }
}

TEST(PeekConfigTest, MistakesAreNamed) {
  EXPECT_EQ(ReadPeek("peek: {bus_shar: 1}").status().message(),
            "c.yaml:1: unknown key 'bus_shar' (did you mean 'bus_share'?)");
}

}  // namespace
}  // namespace sideband::daemon
