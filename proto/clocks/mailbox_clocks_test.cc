// SPDX-License-Identifier: Apache-2.0
#include "proto/clocks/mailbox_clocks.h"

#include <gtest/gtest.h>

#include "absl/numeric/int128.h"
#include "proto/clocks/clock_strip.h"

namespace sideband::clocks {
namespace {

// Half the reference's frequency.
const mailbox::ClockDomain kDomain{.name = {},
                                   .nominal_hz = 500,
                                   .period_min = 131'000,
                                   .period_max = 131'200,
                                   .bar_low = -65'536,
                                   .bar_high = 262'144,
                                   .announces = true};

ClockStrip StripOf(int packets, uint32_t first_trigger = 1) {
  ClockStrip strip = *ClockStrip::Create(LimitsOf(kDomain), {});
  PacketNumbers numbers;
  for (int i = 0; i < packets; ++i) {
    const uint64_t cycle = 1000 + 2000 * static_cast<uint64_t>(i);
    const mailbox::TimelineEntry entry{.trigger_id = first_trigger + static_cast<uint32_t>(i),
                                       .reference_cycle = cycle};
    EXPECT_TRUE(strip.Add(PacketOf(kDomain, entry, {.local_clock = cycle / 2 + 1}, numbers)).ok());
  }
  return strip;
}

TEST(MailboxClocksTest, HullsComeBackAndMakeTheSameStrip) {
  const ClockStrip strip = StripOf(20);
  const StripHulls hulls = *strip.Hulls();
  const auto back = HullsOf(HullOf(hulls));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(*back, hulls);
  const ClockStrip same = *ClockStrip::OfHulls(LimitsOf(kDomain), {}, *back);
  for (const uint64_t edge : {502u, 5000u, 19'000u}) EXPECT_EQ(same.BoundAt(edge).fit, strip.BoundAt(edge).fit);
}

TEST(MailboxClocksTest, HullsBeyondASegmentAreNone) {
  const mailbox::ClockHull hull = HullOf(*StripOf(20).Hulls());
  const auto spoilt = [&](void (*spoil)(mailbox::ClockHull&)) {
    mailbox::ClockHull other = hull;
    spoil(other);
    return HullsOf(other).has_value();
  };
  EXPECT_TRUE(spoilt([](mailbox::ClockHull&) {}));
  EXPECT_FALSE(spoilt([](mailbox::ClockHull& h) { h.start.instant = absl::Int128Max(); }));
  EXPECT_FALSE(spoilt([](mailbox::ClockHull& h) { h.upper[0].instant = absl::Int128Min(); }));
  EXPECT_FALSE(spoilt([](mailbox::ClockHull& h) { h.lower.back().instant += absl::int128(kYMax) * 2; }));
  EXPECT_FALSE(spoilt([](mailbox::ClockHull& h) { h.lower.back().edge = h.start.edge - 1; }));
  EXPECT_FALSE(spoilt([](mailbox::ClockHull& h) { h.first_length = UINT64_MAX; }));
}

TEST(MailboxClocksTest, NumbersOfTriggersGoOnAfterTheLastOne) {
  PacketNumbers numbers;
  EXPECT_EQ(numbers.Widen(5), 5u);
  EXPECT_EQ(numbers.Widen(0x7000'0000), 0x7000'0000u);
  EXPECT_EQ(numbers.Widen(0xE000'0000), 0xE000'0000u);
  EXPECT_EQ(numbers.Widen(3), 0x1'0000'0003u);
  EXPECT_EQ(numbers.Widen(0xFFFF'FFFF), 0xFFFF'FFFFu) << "an earlier one";
  EXPECT_EQ(numbers.Widen(4), 0x1'0000'0004u);
}

TEST(MailboxClocksTest, ChangesAreThoseSinceThePacketBeforeHoweverManyWereMissed) {
  PacketNumbers numbers;
  EXPECT_FALSE(numbers.HasChanged(7)) << "there is none before";
  EXPECT_FALSE(numbers.HasChanged(7));
  EXPECT_TRUE(numbers.HasChanged(9));
  EXPECT_FALSE(numbers.HasChanged(9));
}

TEST(MailboxClocksTest, ArrivalsCountOfClocksThatMayStop) {
  mailbox::ClockDomain may_stop = kDomain;
  may_stop.period_max = 0;
  PacketNumbers numbers;
  const LatchInstant latch{.trigger_id = 1, .reference_cycle = 100};
  EXPECT_EQ(PacketOf(may_stop, latch, {.local_clock = 50, .arrival = 7}, numbers).arrival, Instant::OfCycles(107));
  EXPECT_EQ(PacketOf(kDomain, latch, {.local_clock = 50, .arrival = 7}, numbers).arrival, std::nullopt);
  const mailbox::TimelineEntry entry{.trigger_id = 2, .reference_cycle = 200};
  EXPECT_EQ(PacketOf(may_stop, entry, {.local_clock = 99, .arrival = 210}, numbers).arrival, Instant::OfCycles(210));
}

}  // namespace
}  // namespace sideband::clocks
