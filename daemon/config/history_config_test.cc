// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/history_config.h"

#include <gtest/gtest.h>

#include "daemon/config/read_section.h"

namespace sideband::daemon {
namespace {

absl::StatusOr<HistoryConfig> ReadHistory(const std::string& text) {
  return ReadSection(text, "history", ReadHistoryConfig);
}

TEST(HistoryConfigTest, SixteenMebibytesUnlessItSaysOtherwise) {
  EXPECT_EQ(ReadHistory("other: 1")->max_bytes, 16u << 20);
  EXPECT_EQ(ReadHistory("history: {}")->max_bytes, 16u << 20);
  EXPECT_EQ(ReadHistory("history: {max_bytes: 64MiB}")->max_bytes, 64u << 20);
  EXPECT_EQ(ReadHistory("history: {max_bytes: 0}")->max_bytes, 0u);
}

TEST(HistoryConfigTest, BothBoundsAreInside) {
  EXPECT_EQ(ReadHistory("history: {max_bytes: 1048576}")->max_bytes, 1u << 20);
  EXPECT_EQ(ReadHistory("history: {max_bytes: 16GiB}")->max_bytes, size_t{16} << 30);
  for (const char* text : {"1048575", "1", "17179869185", "17GiB"}) {
    const auto status = ReadHistory(std::string("history: {max_bytes: ") + text + "}").status();
    EXPECT_EQ(status.message(), std::string("c.yaml:1: '") + text + "' is neither 0 nor from 1MiB to 16GiB");
  }
}

TEST(HistoryConfigTest, MistakesAreNamed) {
  EXPECT_EQ(ReadHistory("history: {max_bytes: lots}").status().message(),
            "c.yaml:1: 'lots' is no number of bytes, such as 512KiB or 16MiB");
  EXPECT_EQ(ReadHistory("history: {max_byte: 1}").status().message(),
            "c.yaml:1: unknown key 'max_byte' (did you mean 'max_bytes'?)");
}

}  // namespace
}  // namespace sideband::daemon
