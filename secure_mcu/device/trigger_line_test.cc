// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/trigger_line.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"

namespace sideband::mcu {
namespace {

constexpr uint64_t kPicosecondsPerSecond = 1'000'000'000'000;

ChipFile LineChip(const std::string& name, uint64_t clock_hz) {
  const std::string path = testing::TempDir() + name + "_line.yaml";
  std::ofstream(path) << "device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: " << clock_hz << "}\n"
                      << "trigger_line: rack\n"
                      << "trigger_wire_ns: [10, 50]\n"
                      << "domains: [{name: sm, hz: 700000000}]\n"
                      << "units: [{name: sm, events: [busy], domain: sm}]\n"
                      << "vms:\n"
                         "  - name: vm1\n"
                         "    uuid: 11111111-0000-4000-8000-000000000001\n"
                         "    contexts: [{name: ctx, slice: 0, phases: [{kind: gemm, time: 1ms}]}]\n";
  return *LoadChipFile(path);
}

// Two devices of which the second one was powered on later.
class Rack {
 public:
  Rack(uint64_t hz_a, uint64_t hz_b, absl::Duration later) : hz_a_(hz_a), hz_b_(hz_b), later_(later), elapsed_(later) {
    const ChipFile a = LineChip("a", hz_a), b = LineChip("b", hz_b);
    a_ = *LiveDevice::Create(a, 1, [this] { return elapsed_; });
    b_ = *LiveDevice::Create(b, 2, [this] { return elapsed_ - later_; });
    a_->Connect(line_, *a.trigger_line, absl::ZeroDuration());
    b_->Connect(line_, *b.trigger_line, later_);
  }
  LiveDevice& a() { return *a_; }
  LiveDevice& b() { return *b_; }
  void RemoveB() { b_.reset(); }
  void Pass(absl::Duration time) { elapsed_ += time; }

  // How long after a pulse of a's cycle b's cycle has begun, in picoseconds.
  int64_t Delay(uint64_t cycle_a, uint64_t cycle_b) const {
    const auto at_a = absl::int128(cycle_a) * kPicosecondsPerSecond / hz_a_;
    const auto at_b =
        absl::int128(cycle_b) * kPicosecondsPerSecond / hz_b_ + absl::ToInt64Nanoseconds(later_) * absl::int128(1000);
    return static_cast<int64_t>(at_b - at_a);
  }
  int64_t PeriodOfB() const { return static_cast<int64_t>(kPicosecondsPerSecond / hz_b_) + 1; }

 private:
  const uint64_t hz_a_, hz_b_;
  const absl::Duration later_;
  absl::Duration elapsed_;
  TriggerLine line_;
  std::unique_ptr<LiveDevice> a_, b_;
};

RC_GTEST_PROP(TriggerLineTest, APulseReachesTheOtherAfterItsWireAndWithinACycle, ()) {
  Rack rack(*rc::gen::inRange<uint64_t>(100'000'000, 2'000'000'000),
            *rc::gen::inRange<uint64_t>(100'000'000, 2'000'000'000), absl::Microseconds(*rc::gen::inRange(0, 1000)));
  for (uint64_t pulses = 1; pulses <= 5; ++pulses) {
    rack.Pass(absl::Nanoseconds(*rc::gen::inRange(0, 300'000)));
    // Others make single chips count further at any time, and a peek beyond the present.
    if (*rc::gen::arbitrary<bool>()) rack.b().PeekBlock(1, 0);
    if (*rc::gen::arbitrary<bool>()) rack.a().PeekBlock(1, 0);
    rack.a().Trigger();
    const mailbox::LinePulse sent = *rack.a().Latch().line_pulse, received = *rack.b().Latch().line_pulse;
    RC_ASSERT(sent.pulses == pulses && received.pulses == pulses);
    RC_ASSERT(sent.is_own && !received.is_own);
    const int64_t delay = rack.Delay(sent.reference_cycle, received.reference_cycle);
    RC_ASSERT(delay >= 10'000 - 2);
    RC_ASSERT(delay <= 50'000 + rack.PeriodOfB() + 2);
  }
}

TEST(TriggerLineTest, EitherChipMaySend) {
  Rack rack(1'000'000'000, 700'000'000, absl::ZeroDuration());
  rack.Pass(absl::Milliseconds(1));
  rack.a().Trigger();
  rack.Pass(absl::Milliseconds(1));
  rack.b().Trigger();
  const mailbox::Snapshot a = rack.a().Latch(), b = rack.b().Latch();
  EXPECT_EQ(a.line_pulse->pulses, 2u);
  EXPECT_FALSE(a.line_pulse->is_own);
  EXPECT_TRUE(b.line_pulse->is_own);
  EXPECT_EQ(b.line_pulse->reference_cycle, 1'400'000u);
}

TEST(TriggerLineTest, AnExternalTriggerLeavesPackets) {
  Rack rack(1'000'000'000, 1'000'000'000, absl::ZeroDuration());
  rack.Pass(absl::Milliseconds(1));
  rack.a().Trigger();
  rack.Pass(absl::Milliseconds(1));
  const mailbox::Timeline timeline = rack.b().GetTimeline(0);
  ASSERT_EQ(timeline.entries.size(), 1u);
  EXPECT_EQ(timeline.entries[0].kind, mailbox::TimelineKind::kExternal);
  EXPECT_EQ(timeline.entries[0].domains, 1u);
}

TEST(TriggerLineTest, ThereIsNoPulseBeforeTheFirstAndOthersGoOnWithoutAChip) {
  Rack rack(1'000'000'000, 1'000'000'000, absl::ZeroDuration());
  EXPECT_FALSE(rack.b().Latch().line_pulse.has_value());
  rack.RemoveB();
  EXPECT_GT(rack.a().Trigger(), 0u);
}

}  // namespace
}  // namespace sideband::mcu
