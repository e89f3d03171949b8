// SPDX-License-Identifier: Apache-2.0
#include "client/top/minute.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sideband::client::top {
namespace {

absl::Time Second(int64_t second) { return absl::FromUnixSeconds(1'700'000'000 + second); }

// The known values as text; '.' is unknown.
std::string Last(const Minute& minute, int64_t now, size_t count, absl::Duration hold = absl::ZeroDuration()) {
  const std::vector<double> values = minute.Until(Second(now), hold);
  EXPECT_EQ(values.size(), Minute::kSeconds);
  std::string text;
  for (size_t i = values.size() - count; i < values.size(); ++i) {
    text += std::isnan(values[i]) ? "." : std::to_string(static_cast<int>(values[i]));
  }
  return text;
}

TEST(MinuteTest, OneValuePerSecond) {
  Minute minute;
  EXPECT_EQ(Last(minute, 0, 60), std::string(60, '.'));
  minute.Add(Second(0), 1);
  minute.Add(Second(0) + absl::Milliseconds(900), 2);
  minute.Add(Second(3), 5);
  EXPECT_EQ(Last(minute, 3, 5), ".2..5");
  EXPECT_EQ(Last(minute, 5, 5), "..5..");
  EXPECT_EQ(Last(minute, 3, 5, absl::Seconds(1)), ".22.5");
  EXPECT_EQ(Last(minute, 9, 7, absl::Milliseconds(1500)), "555....") << "two seconds";
}

TEST(MinuteTest, OlderValuesAreForgotten) {
  Minute minute;
  for (int second = 0; second < 60; ++second) minute.Add(Second(second), second % 10);
  EXPECT_EQ(Last(minute, 59, 60).substr(0, 3), "012");
  EXPECT_EQ(Last(minute, 60, 60).substr(0, 3), "123");
  minute.Add(Second(61), 7);
  EXPECT_EQ(Last(minute, 61, 60).substr(56), "89.7") << "the values of a minute ago are not taken for new ones";
  minute.Add(Second(500), 4);
  EXPECT_EQ(Last(minute, 500, 60), std::string(59, '.') + "4");
  minute.Add(Second(440), 9);
  EXPECT_EQ(Last(minute, 500, 60), std::string(59, '.') + "4") << "too old";
  EXPECT_EQ(Last(minute, 700, 60), std::string(60, '.'));
}

}  // namespace
}  // namespace sideband::client::top
