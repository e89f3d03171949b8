// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/metric_sample.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

MetricSample At(uint64_t time_ns, uint64_t identity = 1) {
  return {.identity = identity, .reference_time_ns = time_ns};
}

TEST(MetricCountTest, EveryPartAddsUp) {
  MetricCount sum{.count = 1, .turns = {.enabled = 20, .running = 10}, .running = 100};
  sum += {.count = 2, .turns = {.enabled = 40, .running = 30}, .running = 300};
  EXPECT_EQ(sum.count, 3u);
  EXPECT_EQ(sum.turns, (mailbox::RotationTime{.enabled = 60, .running = 40}));
  EXPECT_EQ(sum.running, 400u);
}

TEST(MetricWindowTest, AWindowIsLongEnough) {
  MetricWindow window;
  window.Update(At(0), 100, 200);
  EXPECT_EQ(window.begin(), nullptr);
  window.Update(At(99), 100, 200);
  EXPECT_EQ(window.begin(), nullptr);
  window.Update(At(100), 100, 200);
  EXPECT_EQ(window.begin()->reference_time_ns, 0u);
  EXPECT_EQ(window.end()->reference_time_ns, 100u);
  window.Update(At(299), 100, 200);
  EXPECT_EQ(window.end()->reference_time_ns, 100u) << "the next is longer; the last one stays";
  window.Update(At(350), 100, 200);
  EXPECT_EQ(window.begin()->reference_time_ns, 100u);
  EXPECT_EQ(window.end()->reference_time_ns, 350u) << "since the last read";
}

TEST(MetricWindowTest, AWindowIsOfOneThing) {
  MetricWindow window;
  window.Update(At(0, 1), 100, 100);
  window.Update(At(100, 1), 100, 100);
  window.Update(At(200, 2), 100, 100);
  EXPECT_EQ(window.begin(), nullptr) << "counting began anew";
  window.Update(At(300, 2), 100, 100);
  EXPECT_EQ(window.begin()->reference_time_ns, 200u);
}

}  // namespace
}  // namespace sideband::mcu
