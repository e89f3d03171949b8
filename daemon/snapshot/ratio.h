// SPDX-License-Identifier: Apache-2.0
//
// Shares of events among events, such as the cache accesses that hit among all. (serving.md, "Collector and store".)
//   for (const Ratio& ratio : ResolveRatios(device.ratios, topology.catalog())) {
//     const double hit = RatioOf(ratio, rates_of_row);   // 0 to 1, or NaN
//   }
#ifndef SIDEBAND_DAEMON_SNAPSHOT_RATIO_H_
#define SIDEBAND_DAEMON_SNAPSHOT_RATIO_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "daemon/snapshot/coverage.h"
#include "proto/mailbox/catalog.h"

namespace sideband::daemon {

// The daemon's own metrics have this name, sideband_<level>_gate_coverage_ratio: no other ratio may.
inline constexpr char kCoverageRatio[] = "gate_coverage";
// The name sideband_<level>_event_coverage_ratio is taken, too.
inline constexpr char kEventCoverageRatio[] = "event_coverage";

// Between which the rate of the truth lies.
struct RateBounds {
  double lower = 0;
  double upper = 0;  // infinite: unbounded
};

// A ratio as configured: the sum of some events over the sum of others.
struct RatioSpec {
  std::string name;  // [a-z_][a-z0-9_]*
  std::vector<std::string> numerator;
  std::vector<std::string> denominator;

  // "l2_hit_cycles / (l2_hit_cycles + l2_miss_cycles)"
  std::string Formula() const;
  bool operator==(const RatioSpec&) const = default;
};

// The same, by the events' indices in a catalogue.
struct Ratio {
  const RatioSpec* spec;
  std::vector<size_t> numerator;
  std::vector<size_t> denominator;
  // The cycles of gates that must have been open in every resident cycle: without them the events were counted in other
  // cycles than each other. Empty where all events are of one gate group, or of none.
  std::vector<GateCycles> gates;

  // Sums of the row's rates; NaN where a rate is unknown.
  double Numerator(std::span<const double> rates) const;
  double Denominator(std::span<const double> rates) const;

  // Whether all its events are in `events` (a set by index, such as a View's).
  bool IsIn(const std::vector<bool>& events) const;
};

// The ratios whose events the device counts for every VM and context, in the same cycles as far as it tells. They refer
// to `specs`.
std::vector<Ratio> ResolveRatios(const std::vector<RatioSpec>& specs, const mailbox::Catalog& catalog);

// From the rates of a row over one interval; from 0 to 1. NaN where a rate is unknown, where the denominator is zero,
// where events were counted in different cycles, and where the quotient is above 1, which means that the numerator is
// not a part of the denominator. `*is_over_one`, if not nullptr, is set to whether that is the case.
double RatioOf(const Ratio& ratio, std::span<const double> rates, bool* is_over_one = nullptr);

// Whether the quotient of the true rates may be above 1, by their bounds. Without bounds the rates are exact: false.
bool MayExceedOne(const Ratio& ratio, std::span<const RateBounds> bounds);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_RATIO_H_
