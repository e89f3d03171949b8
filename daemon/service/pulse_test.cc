// SPDX-License-Identifier: Apache-2.0
#include "daemon/service/pulse.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace sideband::daemon {
namespace {

class PulseTest : public testing::Test {
 protected:
  absl::Duration Feel() {
    return pulse_.Feel([this](std::function<void()> task) { tasks_.push_back(std::move(task)); });
  }

  FakeClock clock_{absl::UnixEpoch()};
  Pulse pulse_{clock_};
  std::vector<std::function<void()>> tasks_;
};

TEST_F(PulseTest, ATaskThatDoesNotRunIsSilence) {
  EXPECT_EQ(Feel(), absl::ZeroDuration());
  clock_.Advance(absl::Seconds(7));
  EXPECT_EQ(Feel(), absl::Seconds(7));
  EXPECT_EQ(tasks_.size(), 1u) << "no second task behind the first";
}

TEST_F(PulseTest, ATaskThatRanOnAnotherThreadIsNone) {
  Feel();
  std::thread(tasks_[0]).join();
  clock_.Advance(absl::Seconds(7));
  EXPECT_EQ(Feel(), absl::ZeroDuration());
  EXPECT_EQ(tasks_.size(), 2u);
}

}  // namespace
}  // namespace sideband::daemon
