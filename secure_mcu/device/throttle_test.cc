// SPDX-License-Identifier: Apache-2.0
//
// An emulated SMBPBI-only board under load: what its base commands tell hangs together (telemetry.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "absl/time/time.h"
#include "proto/mailbox/board_items.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/firmware/firmware.h"

namespace sideband::mcu {
namespace {

using mailbox::Opcode;

class ThrottleTest : public testing::Test {
 protected:
  ThrottleTest() {
    file_ = *LoadChipFile("deploy/examples/chip-board.yaml");
    device_ = *LiveDevice::Create(file_, /*boot_id=*/1, [this] { return elapsed_; });
    firmware_ = std::make_unique<FirmwarePair>(*device_, PowerModel(device_->power()), Persona::kNvidia,
                                               file_.extension, file_.complement, file_.board);
  }

  void Pass(absl::Duration time) {
    const absl::Duration end = elapsed_ + time;
    while (elapsed_ < end) {
      elapsed_ += absl::Milliseconds(100);
      firmware_->Tick();
    }
  }
  uint32_t Run(Opcode opcode, uint8_t arg1, uint8_t arg2 = 0) {
    const auto reply = firmware_->shared().Execute({.opcode = opcode, .arg1 = arg1, .arg2 = arg2}, 0, 0);
    EXPECT_EQ(reply.status, mailbox::MailboxStatus::kSuccess) << mailbox::OpcodeName(opcode) << " " << int{arg1};
    return reply.data;
  }
  double Temperature() { return mailbox::DegreesOf(Run(Opcode::kGetExtTemp, 0)); }
  uint32_t ClockMhz() { return Run(Opcode::kGetClock, 0); }
  uint32_t Reasons() { return Run(Opcode::kGetClock, 5); }
  uint64_t SmActive() {
    const auto& events = device_->catalog().events;
    const auto found = std::ranges::find(events, "sm_active_cycles", &mailbox::EventInfo::name);
    return device_->DeviceCounters()[static_cast<size_t>(found - events.begin())];
  }

  absl::Duration elapsed_;
  ChipFile file_;
  std::unique_ptr<LiveDevice> device_;
  std::unique_ptr<FirmwarePair> firmware_;
};

// The law of the emulator: the driver's thermal reason is there if and only if the temperature is over its threshold.
TEST_F(ThrottleTest, ThrottledIfAndOnlyIfOverTheThreshold) {
  const double threshold = mailbox::DegreesOf(Run(Opcode::kGetThermParam, 4));
  int throttled = 0, cool = 0;
  for (int i = 0; i < 600; ++i) {
    Pass(absl::Milliseconds(100));
    const bool has_reason = (Reasons() & mailbox::MaskOf(mailbox::ThrottleReason::kSoftwareThermal)) != 0;
    // The sensor's own resolution is a 256th of a degree.
    if (std::abs(Temperature() - threshold) > 0.01) {
      ASSERT_EQ(has_reason, Temperature() > threshold) << i << ": " << Temperature();
    }
    has_reason ? ++throttled : ++cool;
    ASSERT_LT(Temperature(), threshold + 3);
  }
  EXPECT_GT(throttled, 20) << "the example gets hot";
  EXPECT_GT(cool, 20) << "and cools again";
}

TEST_F(ThrottleTest, ALowerClockIsLessWork) {
  Pass(absl::Seconds(3));
  const uint64_t begin = SmActive();
  Pass(absl::Seconds(1));
  const uint64_t at_the_top = SmActive() - begin;
  firmware_->board().state.power_limit.asked_mw = 1;
  Pass(absl::Seconds(1));
  EXPECT_EQ(ClockMhz(), 700u);
  const uint64_t lowered = SmActive();
  Pass(absl::Seconds(1));
  EXPECT_NEAR(static_cast<double>(SmActive() - lowered) / static_cast<double>(at_the_top), 0.5, 0.02);
}

// The law of the emulator: energy is the sum of power over time.
TEST_F(ThrottleTest, EnergyIsTheSumOfPower) {
  Pass(absl::Seconds(1));
  const double begin_mj = Run(Opcode::kGetEnergy, 0);
  double sum_mj = 0;
  for (int i = 0; i < 100; ++i) {
    Pass(absl::Milliseconds(100));
    sum_mj += Run(Opcode::kGetPower, 0) * 0.1;
  }
  EXPECT_NEAR(Run(Opcode::kGetEnergy, 0) - begin_mj, sum_mj, 0.001 * sum_mj);
}

// The law of the emulator: the activity of a window is the pipeline's.
TEST_F(ThrottleTest, ActivityIsThePipelines) {
  constexpr uint8_t kCapture = 0x80, kSmActivity = 0x41;
  Pass(absl::Seconds(2));
  Run(Opcode::kPerformanceMonitoring, kCapture, 0xFF);
  const uint64_t begin = SmActive(), begin_ns = device_->ReferenceTimeNs();
  Pass(absl::Seconds(1));
  Run(Opcode::kPerformanceMonitoring, kCapture, 0xFF);
  const double cycles = static_cast<double>(device_->ReferenceTimeNs() - begin_ns) * 16;
  const double percent = 100 * static_cast<double>(SmActive() - begin) / cycles;
  EXPECT_NEAR(mailbox::DegreesOf(Run(Opcode::kPerformanceMonitoring, kSmActivity, mailbox::kWholeDevice)),
              std::min(percent, 100.0), 0.5);
}

}  // namespace
}  // namespace sideband::mcu
