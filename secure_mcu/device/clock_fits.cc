// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/clock_fits.h"

#include <cstddef>
#include <utility>

#include "proto/clocks/instant.h"

namespace sideband::mcu {
namespace {

using clocks::AddResult;

// Whether `a` is `b`, or after it: numbers start anew after 2^32.
bool IsFrom(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) >= 0; }

}  // namespace

ClockFits::ClockFits(const std::vector<mailbox::ClockDomain>& domains, uint64_t reference_hz) {
  const clocks::Ticks segment_max = clocks::Ticks(kSegmentSeconds * reference_hz) * clocks::kTicksPerCycle;
  for (const mailbox::ClockDomain& domain : domains) {
    fits_.push_back({.domain = domain,
                     .strip = *clocks::ClockStrip::Create(clocks::LimitsOf(domain), {.segment_max = segment_max}),
                     .numbers = {}});
  }
}

void ClockFits::Add(const mailbox::TimelineEntry& entry) {
  auto clock = entry.clocks.begin();
  for (size_t domain = 0; domain < fits_.size(); ++domain) {
    if (mailbox::HasDomain(entry.domains, domain)) AddPacket(entry, *clock++, fits_[domain]);
  }
}

void ClockFits::AddPacket(const mailbox::TimelineEntry& entry, const mailbox::TimelineClock& clock, Fit& fit) {
  const auto result = fit.strip.Add(clocks::PacketOf(fit.domain, entry, clock, fit.numbers));
  if (!result.ok() || *result == AddResult::kOutside || *result == AddResult::kResynchronise) return;
  const bool begins = *result == AddResult::kAfterLongestSegment && fit.strip.Hulls()->packets == 1;
  if (*result == AddResult::kAfterLongestSegment && !begins) {
    fit.first_trigger = fit.newest_trigger;  // both segments have the packet before
  } else if (*result != AddResult::kAdded || !fit.has_packets) {
    fit.first_trigger = entry.trigger_id;
  }
  fit.newest_trigger = entry.trigger_id;
  fit.has_packets = true;
}

std::vector<mailbox::ClockHull> ClockFits::HullsFrom(uint32_t first_trigger_id) const {
  std::vector<mailbox::ClockHull> hulls;
  for (size_t domain = 0; domain < fits_.size(); ++domain) {
    const Fit& fit = fits_[domain];
    if (!fit.has_packets || fit.strip.unsound() || !IsFrom(fit.newest_trigger, first_trigger_id)) continue;
    mailbox::ClockHull& hull = hulls.emplace_back(clocks::HullOf(*fit.strip.Hulls()));
    hull.domain = static_cast<uint8_t>(domain);
    hull.first_trigger_id = fit.first_trigger;
  }
  return hulls;
}

}  // namespace sideband::mcu
