// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/exposition_config.h"

#include <gtest/gtest.h>

#include "daemon/config/read_section.h"

namespace sideband::daemon {
namespace {

absl::StatusOr<ExpositionConfig> ReadExposition(const std::string& text) {
  return ReadSection(text, "exposition", ReadExpositionConfig);
}

TEST(ExpositionConfigTest, EverythingUnlessItSaysOtherwise) {
  EXPECT_EQ(ReadExposition("other: 1")->estimates, EstimateSeries::kAll);
  EXPECT_EQ(ReadExposition("exposition: {}")->estimates, EstimateSeries::kAll);
  EXPECT_EQ(ReadExposition("exposition: {estimates: all}")->estimates, EstimateSeries::kAll);
  EXPECT_EQ(ReadExposition("exposition: {estimates: coverage}")->estimates, EstimateSeries::kCoverage);
  EXPECT_EQ(ReadExposition("exposition: {estimates: none}")->estimates, EstimateSeries::kNone);
}

TEST(ExpositionConfigTest, MistakesAreNamed) {
  EXPECT_EQ(ReadExposition("exposition: {estimates: some}").status().message(),
            "c.yaml:1: 'some' is unknown, must be all, coverage or none");
  EXPECT_EQ(ReadExposition("exposition: {estimate: all}").status().message(),
            "c.yaml:1: unknown key 'estimate' (did you mean 'estimates'?)");
}

}  // namespace
}  // namespace sideband::daemon
