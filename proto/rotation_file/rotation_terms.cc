// SPDX-License-Identifier: Apache-2.0
#include "proto/rotation_file/rotation_terms.h"

#include <algorithm>
#include <cmath>

namespace sideband {
namespace {

using mailbox::RotationProfile;

// A device may report any clock.
constexpr double kCyclesMax = 0x1p62;

}  // namespace

RotationTerms DefaultTerms(RotationProfile profile) {
  const bool is_two_set = profile == RotationProfile::kTwoSet;
  RotationTerms terms;
  terms.profile = profile;
  terms.stable_slot = is_two_set ? absl::Seconds(8) : absl::Microseconds(200);
  terms.fluctuating_slot = is_two_set ? absl::Seconds(4) : absl::Microseconds(100);
  terms.interval = absl::Milliseconds(500);
  terms.sets_per_pass = is_two_set ? 2 : 0;
  terms.adapt = !is_two_set;
  return terms;
}

uint32_t PerMille(double number) { return static_cast<uint32_t>(std::lround(1000 * number)); }

uint64_t CyclesOf(absl::Duration time, uint64_t clock_hz) {
  const double cycles = absl::ToDoubleSeconds(time) * static_cast<double>(clock_hz);
  return std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(std::min(cycles, kCyclesMax))));
}

mailbox::RotationSettings SettingsOf(const RotationTerms& terms, uint64_t clock_hz) {
  return {.profile = terms.profile,
          .stable_slot = CyclesOf(terms.stable_slot, clock_hz),
          .fluctuating_slot = CyclesOf(terms.fluctuating_slot, clock_hz),
          .interval = CyclesOf(terms.interval, clock_hz),
          .threshold_per_mille = terms.threshold_per_mille,
          .step = terms.step,
          .sets_per_pass = terms.sets_per_pass,
          .adapt = terms.adapt,
          .weights = {}};
}

}  // namespace sideband
