// SPDX-License-Identifier: Apache-2.0
#include "client/demo/rotating_chip.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"

namespace sideband::client {
namespace {

constexpr char kRotatingExample[] =
#include "client/demo/chip_rotating_yaml.inc"
    ;

TEST(RotatingChipTest, EveryReplacementFindsItsTextInTheExample) {
  const std::string rotating = RotatingChipFile(kRotatingExample);
  for (const char* text : {"tensor_issued_cycles, of:", "{event: tensor_issued_cycles", "name: vm4", "name: vm5",
                           "lifetime: 1s", "counters: 6", "rotation:"}) {
    EXPECT_TRUE(absl::StrContains(rotating, text)) << text;
  }
}

TEST(RotatingChipTest, TheTwinHasTheSameWorkAndNoTurns) {
  const std::string rotating = RotatingChipFile(kRotatingExample), exact = ExactTwinFile(kRotatingExample);
  EXPECT_EQ(rotating.substr(rotating.find("\nvms:")), exact.substr(exact.find("\nvms:")));
  EXPECT_TRUE(absl::StrContains(exact, "tensor_issued_cycles, of:"));
  for (const char* text :
       {"counters: 6", "fixed:", "rotation:", "instructions:", "relations:", "is_sum_of", "period: 127", "3e004"}) {
    EXPECT_FALSE(absl::StrContains(exact, text)) << text;
  }
}

TEST(RotatingChipTest, ACountOutsideItsBoundsFails) {
  const DemoStep step = RotationSteps("gpu1", "gpu2").back();
  EXPECT_EQ(CheckStep(step, 0, "a  yes\n40 of 40 events within 10 % of the truth, 40 of 40 within their bounds"), "");
  EXPECT_NE(CheckStep(step, 0, "a  NO\n40 of 40 events within 10 % of the truth, 39 of 40 within their bounds"), "");
  EXPECT_NE(CheckStep(step, 0, ""), "");
}

}  // namespace
}  // namespace sideband::client
