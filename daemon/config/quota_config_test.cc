// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/quota_config.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "daemon/config/read_section.h"

namespace sideband::daemon {
namespace {

absl::StatusOr<QuotaConfig> ReadQuotas(const std::string& text) { return ReadSection(text, "quotas", ReadQuotaConfig); }

TEST(QuotaConfigTest, HasDefaults) {
  EXPECT_EQ(*ReadQuotas("other: 1"), QuotaConfig());
  EXPECT_EQ(*ReadQuotas("quotas: {}"), QuotaConfig());
}

TEST(QuotaConfigTest, ReadsEverything) {
  const auto quotas =
      ReadQuotas("quotas: {calls_per_second: 1, burst: 2, calls_under_way: 3, bytes_under_way: 16MiB, streams: 4}");
  ASSERT_TRUE(quotas.ok()) << quotas.status();
  EXPECT_EQ(*quotas,
            (QuotaConfig{
                .calls_per_second = 1, .burst = 2, .calls_under_way = 3, .bytes_under_way = 16 << 20, .streams = 4}));
}

TEST(QuotaConfigTest, BoundsHoldAtBothEnds) {
  struct Row {
    const char* key;
    const char* least;
    const char* most;
    const char* below;
    const char* above;
    const char* error;
  };
  for (const Row& row :
       {Row{"calls_per_second", "1", "1000000", "0", "1000001", "expected a whole number from 1 to 1000000"},
        Row{"burst", "1", "1000000", "0", "1000001", "expected a whole number from 1 to 1000000"},
        Row{"calls_under_way", "1", "65536", "0", "65537", "expected a whole number from 1 to 65536"},
        Row{"streams", "1", "65536", "0", "65537", "expected a whole number from 1 to 65536"},
        Row{"bytes_under_way", "16MiB", "16GiB", "16777215", "17GiB", "is not from 16MiB to 16GiB"}}) {
    for (const char* good : {row.least, row.most}) {
      EXPECT_TRUE(ReadQuotas(absl::StrCat("quotas: {", row.key, ": ", good, "}")).ok()) << row.key;
    }
    for (const char* bad : {row.below, row.above}) {
      const auto read = ReadQuotas(absl::StrCat("quotas: {", row.key, ": ", bad, "}"));
      EXPECT_NE(read.status().message().find(row.error), absl::string_view::npos) << read.status();
    }
  }
}

}  // namespace
}  // namespace sideband::daemon
