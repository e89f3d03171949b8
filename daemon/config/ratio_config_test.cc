// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/ratio_config.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "daemon/config/read_section.h"

namespace sideband::daemon {
namespace {

absl::StatusOr<std::vector<RatioSpec>> RatiosIn(const std::string& text) {
  auto config = ReadSection(text, "ratios", ReadRatios);
  if (!config.ok()) return config.status();
  return config->ratios;
}

TEST(RatioConfigTest, ReadsWhatIsThere) {
  const auto ratios = *RatiosIn("ratios:\n  - {name: l2_hit, numerator: [hit], denominator: [hit, miss]}\n");
  ASSERT_EQ(ratios.size(), 1u);
  EXPECT_EQ(ratios[0].name, "l2_hit");
  EXPECT_EQ(ratios[0].Formula(), "hit / (hit + miss)");
  EXPECT_TRUE(RatiosIn("ratios: []\n")->empty());
}

TEST(RatioConfigTest, EachEventHasItsPlace) {
  const auto events =
      ReadSection("ratios:\n  - name: l2\n    numerator: [hit]\n    denominator:\n      - hit\n      - miss\n",
                  "ratios", ReadRatios)
          ->events;
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].name + " " + events[0].place, "hit c.yaml:3");
  EXPECT_EQ(events[1].name + " " + events[1].place, "hit c.yaml:5");
  EXPECT_EQ(events[2].name + " " + events[2].place, "miss c.yaml:6");
}

TEST(RatioConfigTest, NamesWhatIsWrongAndWhere) {
  struct Row {
    const char* entry;
    const char* error;
  };
  for (const Row& row :
       {Row{"{name: L2, numerator: [a], denominator: [b]}", "ratio name 'L2' may hold a-z, 0-9 and _ only"},
        Row{"{name: 2l, numerator: [a], denominator: [b]}", "ratio name '2l' may hold a-z, 0-9 and _ only"},
        Row{"{name: gate_coverage, numerator: [a], denominator: [b]}",
            "ratio name 'gate_coverage' is that of the daemon's own metric"},
        Row{"{name: x, numerator: [], denominator: [b]}", "numerator names no event"},
        Row{"{name: x, numerator: [a], denominator: [b, b]}", "denominator names an event twice"}}) {
    const auto read = RatiosIn(absl::StrCat("ratios:\n  - ", row.entry, "\n"));
    EXPECT_EQ(read.status().message(), absl::StrCat("c.yaml:2: ", row.error));
  }
  EXPECT_FALSE(RatiosIn("ratios:\n  - {name: x, numerator: [a]}\n").ok());
  EXPECT_EQ(
      RatiosIn(
          "ratios:\n  - {name: x, numerator: [a], denominator: [b]}\n  - {name: x, numerator: [a], denominator: [b]}\n")
          .status()
          .message(),
      "c.yaml:3: ratio 'x' is given twice");
}

}  // namespace
}  // namespace sideband::daemon
