// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/hpc_manager.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace sideband::mcu {
namespace {

void Triple(std::span<const uint16_t> events, std::span<uint64_t> counts) {
  for (size_t i = 0; i < events.size(); ++i) counts[i] += 3 * events[i];
}

TEST(HpcManagerTest, TakesTheSelectedEventsOfItsExtend) {
  const HpcRequest request{.manager = {.module = 1, .extend = 2}, .bitmap = uint64_t{1} << 63 | 0b101, .tag = 1};
  const HpcAnswer answer = AnswerOf(request, 100, {.hop_cycles = 2, .lookup_cycles = 5}, Triple);
  EXPECT_EQ(answer.tag, 1);
  EXPECT_EQ(answer.bitmap, request.bitmap);
  EXPECT_EQ(answer.values, (std::vector<uint64_t>{3 * 128, 3 * 130, 3 * 191}));
  EXPECT_EQ(answer.first_cycle, 107u);
  EXPECT_EQ(answer.interval, 5u);
  EXPECT_FALSE(answer.stamp);
}

TEST(HpcManagerTest, TheStampIsTheCycleOfTheGrant) {
  const HpcAnswer answer = AnswerOf({.stamp = true}, 100, {.hop_cycles = 2, .lookup_cycles = 5},
                                    [](std::span<const uint16_t>, std::span<uint64_t>) { FAIL(); });
  EXPECT_EQ(answer.stamp, 100u);
  EXPECT_EQ(answer.stamp_cycle, 102u);
  EXPECT_TRUE(answer.values.empty());
}

}  // namespace
}  // namespace sideband::mcu
