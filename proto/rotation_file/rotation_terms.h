// SPDX-License-Identifier: Apache-2.0
//
// The settings of multiplexing, in times of any clock: what is not given has the profile's default. A file and
// a message have the same ranges and defaults (README.md).
//   RotationTerms terms = DefaultTerms(mailbox::RotationProfile::kTwoSet);
//   terms.threshold_per_mille = PerMille(threshold);          // from 0 to kThresholdMax
//   const mailbox::RotationSettings settings = SettingsOf(terms, clock_hz);
#ifndef SIDEBAND_PROTO_ROTATION_FILE_ROTATION_TERMS_H_
#define SIDEBAND_PROTO_ROTATION_FILE_ROTATION_TERMS_H_

#include <cstdint>

#include "absl/time/time.h"
#include "proto/mailbox/rotation.h"

namespace sideband {

// Ranges, and their words in "must be …".
inline constexpr absl::Duration kTurnTimeMin = absl::Nanoseconds(1), kTurnTimeMax = absl::Hours(24);
inline constexpr char kTurnTimeRange[] = "a time from 1ns to 24h, such as 200us";
inline constexpr double kThresholdMax = 1;
inline constexpr char kThresholdRange[] = "a number from 0 to 1, such as 0.05";
inline constexpr uint64_t kStepMax = mailbox::kRotationStepMax;
inline constexpr char kStepRange[] = "a whole number from 1 to 1000";
inline constexpr double kWeightMax = 1'000;
inline constexpr char kWeightRange[] = "a number from 0 to 1000";
inline constexpr uint64_t kSetsPerPassMax = mailbox::kRotationSetsMax;
inline constexpr char kSetsPerPassRange[] = "a whole number from 1 to 64";

struct RotationTerms {
  mailbox::RotationProfile profile = mailbox::RotationProfile::kFast;
  absl::Duration stable_slot, fluctuating_slot, interval;  // whole nanoseconds
  uint32_t threshold_per_mille = 50;
  uint32_t step = 4;
  uint32_t sets_per_pass = 0;  // 0: all
  bool adapt = true;           // never with kTwoSet
  bool operator==(const RotationTerms&) const = default;
};

// The terms of a profile of which nothing else is given. kTwoSet has the times of the reference text.
RotationTerms DefaultTerms(mailbox::RotationProfile profile);

// Converts a number from 0 to 1000, rounded to the nearest.
uint32_t PerMille(double number);

// A time in cycles of a clock, rounded to the nearest, at least 1.
uint64_t CyclesOf(absl::Duration time, uint64_t clock_hz);

// Times in cycles of a clock. Without weights.
mailbox::RotationSettings SettingsOf(const RotationTerms& terms, uint64_t clock_hz);

}  // namespace sideband

#endif  // SIDEBAND_PROTO_ROTATION_FILE_ROTATION_TERMS_H_
