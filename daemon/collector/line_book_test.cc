// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/line_book.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace sideband::daemon {
namespace {

constexpr uint64_t kReferenceHz = 1'000'000'000;

ClockSettings OnLine(const std::string& name = "rack") {
  return {.line = {.name = name, .wire_min = absl::Nanoseconds(10), .wire_max = absl::Nanoseconds(50)}};
}

double Nanoseconds(absl::Duration time) { return absl::ToDoubleNanoseconds(time); }

// A device of 1 GHz whose clock started at `started`, `ppm` fast. Times are those of the host's raw clock, in ns.
class Device {
 public:
  Device(absl::Duration started, double ppm, uint64_t boot_id = 1)
      : started_(Nanoseconds(started)), rate_(1 + ppm * 1e-6), boot_id_(boot_id) {}

  double TimeAt(double raw) const { return (raw - started_) * rate_; }
  // With the next edge, which is returned.
  double Send(double raw) {
    const double edge = std::ceil(TimeAt(raw));
    Add(edge, true);
    return started_ + edge / rate_;
  }
  void See(double raw) { Add(std::ceil(TimeAt(raw)), false); }
  LatchedPulse LatchAt(absl::Duration raw, absl::Duration off, absl::Duration error) const {
    return {.boot_id = boot_id_,
            .reference_hz = kReferenceHz,
            .reference_time_ns = static_cast<uint64_t>(TimeAt(Nanoseconds(raw))),
            .latched = {.raw = raw + off, .error = error},
            .pulse = pulse_};
  }

 private:
  void Add(double edge, bool is_own) {
    pulse_ = {
        .pulses = pulse_ ? pulse_->pulses + 1 : 1, .is_own = is_own, .reference_cycle = static_cast<uint64_t>(edge)};
  }

  const double started_, rate_;
  const uint64_t boot_id_;
  std::optional<mailbox::LinePulse> pulse_;
};

class LineBookTest : public testing::Test {
 protected:
  void Pulse(absl::Duration raw) { receiver_.See(driver_.Send(Nanoseconds(raw)) + 30); }
  std::optional<LineOffset> NoteBoth(absl::Duration raw, absl::Duration error = absl::Microseconds(200)) {
    book_.Note("gpu0", OnLine(), driver_.LatchAt(raw, absl::ZeroDuration(), error));
    return book_.Note("gpu1", OnLine(), receiver_.LatchAt(raw + absl::Milliseconds(1), absl::ZeroDuration(), error));
  }

  Device driver_{absl::Seconds(1), 0}, receiver_{absl::Seconds(3), 100};
  LineBook book_;
};

TEST_F(LineBookTest, APulseTellsTheOffsetAndTwoTellTheRate) {
  Pulse(absl::Seconds(10));
  EXPECT_FALSE(NoteBoth(absl::Milliseconds(10'100)) == std::nullopt);
  Pulse(absl::Seconds(11));
  const auto offset = NoteBoth(absl::Milliseconds(11'100));
  ASSERT_TRUE(offset.has_value());
  EXPECT_EQ(offset->driver, "gpu0");
  // Two seconds later, and since then 100 us a second faster, for eight seconds.
  EXPECT_LE(offset->error_ns, 25u);
  EXPECT_NEAR(static_cast<double>(offset->offset_ns), -2e9 + 800'000, static_cast<double>(offset->error_ns));
  ASSERT_TRUE(offset->rate.has_value());
  EXPECT_LE(offset->rate->lower_ppm, 100);
  EXPECT_GE(offset->rate->upper_ppm, 100);
  EXPECT_LT(offset->rate->upper_ppm - offset->rate->lower_ppm, 0.2);
}

TEST_F(LineBookTest, TheDriverItselfHasNoOffset) {
  Pulse(absl::Seconds(10));
  NoteBoth(absl::Milliseconds(10'100));
  EXPECT_FALSE(
      book_.Note("gpu0", OnLine(), driver_.LatchAt(absl::Seconds(11), absl::ZeroDuration(), absl::Microseconds(1)))
          .has_value());
}

// The driver's snapshot must be later than the pulse: before, it may have sent others.
TEST_F(LineBookTest, WhatTheDriverHasNotReportedYetIsUnknown) {
  NoteBoth(absl::Milliseconds(9'900));
  Pulse(absl::Seconds(10));
  const auto latch = receiver_.LatchAt(absl::Milliseconds(10'100), absl::ZeroDuration(), absl::Microseconds(200));
  EXPECT_FALSE(book_.Note("gpu1", OnLine(), latch).has_value());
  EXPECT_TRUE(NoteBoth(absl::Milliseconds(10'200)).has_value());
}

TEST_F(LineBookTest, PulsesThatTheHostCannotTellApartAreNotGuessed) {
  Pulse(absl::Seconds(10));
  NoteBoth(absl::Milliseconds(10'000) + absl::Microseconds(50));
  Pulse(absl::Seconds(10) + absl::Microseconds(100));
  EXPECT_FALSE(NoteBoth(absl::Milliseconds(10'100)).has_value());
  // One that is alone tells again.
  Pulse(absl::Seconds(11));
  EXPECT_TRUE(NoteBoth(absl::Milliseconds(11'100)).has_value());
}

TEST_F(LineBookTest, AMissedPulseMayHaveBeenJustBefore) {
  Pulse(absl::Seconds(10));
  NoteBoth(absl::Milliseconds(10'100));
  const auto before = NoteBoth(absl::Milliseconds(10'200));
  Pulse(absl::Seconds(11));
  Pulse(absl::Seconds(12));
  EXPECT_EQ(NoteBoth(absl::Milliseconds(12'100)), before) << "still that of the first";
}

TEST_F(LineBookTest, AnOldPulseTellsNothing) {
  Pulse(absl::Seconds(10));
  EXPECT_TRUE(NoteBoth(absl::Milliseconds(10'100)).has_value());
  EXPECT_TRUE(NoteBoth(absl::Seconds(60)).has_value());
  EXPECT_FALSE(NoteBoth(absl::Seconds(71)).has_value());
}

TEST_F(LineBookTest, OtherLinesAreOtherWires) {
  Pulse(absl::Seconds(10));
  book_.Note("gpu0", OnLine("other"), driver_.LatchAt(absl::Seconds(11), {}, absl::Microseconds(1)));
  EXPECT_FALSE(book_.Note("gpu1", OnLine(), receiver_.LatchAt(absl::Seconds(11), {}, absl::Microseconds(1))));
}

TEST_F(LineBookTest, HostileNumbersTellNothing) {
  const ClockSettings settings = OnLine();
  for (const uint64_t cycle : {uint64_t{0}, kReferenceHz, UINT64_MAX}) {
    for (const uint64_t time_ns : {uint64_t{0}, kReferenceHz, UINT64_MAX}) {
      for (const uint64_t hz : {uint64_t{0}, uint64_t{1}, UINT64_MAX}) {
        for (const bool is_own : {false, true}) {
          const LatchedPulse latch{
              .boot_id = 1,
              .reference_hz = hz,
              .reference_time_ns = time_ns,
              .latched = {.raw = absl::Seconds(5), .error = absl::Seconds(1)},
              .pulse = mailbox::LinePulse{.pulses = UINT64_MAX, .is_own = is_own, .reference_cycle = cycle}};
          EXPECT_FALSE(book_.Note(is_own ? "gpu0" : "gpu1", settings, latch).has_value());
        }
      }
    }
  }
}

// A wire that is longer than the time between pulses, both of which the host can place.
TEST_F(LineBookTest, ADelayThatIsAsLongAsPulsesAreApartIsNoMatch) {
  ClockSettings settings = OnLine();
  settings.line.wire_min = settings.line.wire_max = absl::Milliseconds(1);
  Device driver(absl::Seconds(1), 0), receiver(absl::Seconds(1), 0);
  const absl::Duration error = absl::Microseconds(50);
  std::optional<LineOffset> offset;
  for (int i = 0; i < 5; ++i) {
    const absl::Duration at = absl::Seconds(10) + absl::Milliseconds(i);
    if (i > 0) receiver.See(Nanoseconds(at));
    driver.Send(Nanoseconds(at));
    const absl::Duration latched = at + absl::Microseconds(200);
    book_.Note("gpu0", settings, driver.LatchAt(latched, {}, error));
    offset = book_.Note("gpu1", settings, receiver.LatchAt(latched, {}, error));
    if (!offset) continue;
    EXPECT_LE(std::abs(offset->offset_ns), static_cast<int64_t>(offset->error_ns)) << i;
  }
}

TEST_F(LineBookTest, OnlyTheDriverThatIsConfiguredSends) {
  const auto note_liar = [&](const ClockSettings& settings) {
    Device liar(absl::Seconds(2), 0);
    liar.Send(10e9);
    book_.Note("gpu2", settings, liar.LatchAt(absl::Milliseconds(10'100), {}, absl::Microseconds(200)));
  };
  ClockSettings settings = OnLine();
  settings.line.driver = "gpu0";
  Pulse(absl::Seconds(10));
  note_liar(settings);
  const auto latch = receiver_.LatchAt(absl::Milliseconds(10'100), {}, absl::Microseconds(200));
  EXPECT_FALSE(book_.Note("gpu1", settings, latch).has_value()) << "the driver has not reported yet";
  book_.Note("gpu0", settings, driver_.LatchAt(absl::Milliseconds(10'200), {}, absl::Microseconds(200)));
  EXPECT_EQ(book_.Note("gpu1", settings, latch)->driver, "gpu0");
}

TEST_F(LineBookTest, WithoutAConfiguredDriverTwoThatClaimAPulseAreNone) {
  Pulse(absl::Seconds(10));
  Device liar(absl::Seconds(2), 0);
  liar.Send(10e9);
  book_.Note("gpu2", OnLine(), liar.LatchAt(absl::Milliseconds(10'100), {}, absl::Microseconds(200)));
  EXPECT_FALSE(NoteBoth(absl::Milliseconds(10'100)).has_value());
}

TEST_F(LineBookTest, ADriverThatStartsAgainHasAnotherClock) {
  Pulse(absl::Seconds(10));
  EXPECT_TRUE(NoteBoth(absl::Milliseconds(10'100)).has_value());
  const Device restarted(absl::Milliseconds(10'500), 0, /*boot_id=*/2);
  book_.Note("gpu0", OnLine(), restarted.LatchAt(absl::Seconds(11), {}, absl::Microseconds(200)));
  const auto latch = receiver_.LatchAt(absl::Seconds(11), {}, absl::Microseconds(200));
  EXPECT_FALSE(book_.Note("gpu1", OnLine(), latch).has_value());
}

TEST_F(LineBookTest, ASuspendEndsWhatIsKnown) {
  Pulse(absl::Seconds(10));
  EXPECT_TRUE(NoteBoth(absl::Milliseconds(10'100)).has_value());
  LatchedPulse latch = receiver_.LatchAt(absl::Milliseconds(10'200), {}, absl::Microseconds(200));
  latch.suspended = absl::Seconds(5);
  EXPECT_FALSE(book_.Note("gpu1", OnLine(), latch).has_value());
}

TEST_F(LineBookTest, AClockBeyondItsLimitsPlacesNoPulse) {
  Pulse(absl::Seconds(10));
  LatchedPulse latch = driver_.LatchAt(absl::Milliseconds(10'100), {}, absl::Microseconds(200));
  latch.is_sound = false;
  book_.Note("gpu0", OnLine(), latch);
  const auto received = receiver_.LatchAt(absl::Milliseconds(10'050), {}, absl::Microseconds(200));
  EXPECT_FALSE(book_.Note("gpu1", OnLine(), received).has_value());
}

// Whatever is missed and however long exchanges take, an offset that is shown is true at a pulse.
RC_GTEST_PROP(LineBookPropertyTest, TheOffsetIsWithinItsBound, ()) {
  const auto milliseconds = [](int most) { return absl::Milliseconds(*rc::gen::inRange(0, most)); };
  const double ppm_driver = *rc::gen::inRange(-190, 191), ppm_receiver = *rc::gen::inRange(-190, 191);
  Device driver(milliseconds(1000), ppm_driver), receiver(milliseconds(1000), ppm_receiver);
  LineBook book;
  ClockSettings settings = OnLine();
  settings.line.wire_max = absl::Nanoseconds(*rc::gen::element(50, 1000, 1'000'000));
  absl::Duration now = absl::Seconds(5);
  std::vector<double> truths;  // of each pulse
  for (int i = 0; i < 60; ++i) {
    now += milliseconds(500) + absl::Nanoseconds(*rc::gen::inRange(0, 1'000'000));
    if (*rc::gen::arbitrary<bool>()) {
      const double sent = driver.Send(Nanoseconds(now));
      const auto most = static_cast<int>(absl::ToInt64Nanoseconds(settings.line.wire_max));
      receiver.See(sent + *rc::gen::inRange(10, most + 1));
      truths.push_back(receiver.TimeAt(sent) - driver.TimeAt(sent));
    }
    now += milliseconds(300) + absl::Milliseconds(2);
    const absl::Duration error = milliseconds(100) + absl::Microseconds(1);
    const absl::Duration off = error * (*rc::gen::inRange(-100, 101) / 100.0);
    if (*rc::gen::inRange(0, 3) > 0) book.Note("gpu0", settings, driver.LatchAt(now, off, error));
    if (*rc::gen::inRange(0, 3) == 0) continue;
    const auto offset = book.Note("gpu1", settings, receiver.LatchAt(now, -off, error));
    if (!offset) continue;
    RC_ASSERT(std::ranges::any_of(truths, [&](double truth) {
      return std::abs(static_cast<double>(offset->offset_ns) - truth) <= static_cast<double>(offset->error_ns);
    }));
    if (!offset->rate) continue;
    const double rate = (1 + ppm_receiver * 1e-6) / (1 + ppm_driver * 1e-6) * 1e6 - 1e6;
    RC_ASSERT(offset->rate->lower_ppm <= rate && rate <= offset->rate->upper_ppm);
  }
}

}  // namespace
}  // namespace sideband::daemon
