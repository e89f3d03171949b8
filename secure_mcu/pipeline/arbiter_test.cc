// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/arbiter.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

TEST(ArbiterTest, CommitsOfOneCycleQueueUp) {
  Arbiter arbiter(4);
  EXPECT_EQ(arbiter.Grant(100), 104u);
  EXPECT_EQ(arbiter.Grant(100), 108u);
  EXPECT_EQ(arbiter.Grant(200), 204u) << "the port has been free since 108";
  EXPECT_EQ(arbiter.wait_cycles(), 4u);
  EXPECT_EQ(arbiter.grants(), 3u);
}

}  // namespace
}  // namespace sideband::mcu
