// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/rotation_settings.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "daemon/snapshot/message.h"
#include "daemon/view/row_filter.h"
#include "proto/base/status_macros.h"
#include "proto/rotation_file/rotation_terms.h"

namespace sideband::daemon {
namespace {

using mailbox::Catalog;
using mailbox::RotationProfile;
using mailbox::RotationSettings;

constexpr double kPerUnit = 1000;

absl::Status Bad(absl::string_view field, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("settings.", field, ": ", what));
}

absl::Status MustBe(absl::string_view field, absl::string_view range) {
  return Bad(field, absl::StrCat("must be ", range));
}

// Also false for NaN.
bool IsUpTo(double most, double number) { return number >= 0 && number <= most; }

void SetTurnTime(uint64_t cycles, uint64_t hertz, google::protobuf::Duration& out) {
  constexpr uint64_t kLongest = std::numeric_limits<int64_t>::max();
  SetDuration(absl::Nanoseconds(std::min(NanosecondsOf(cycles, hertz), kLongest)), out);
}

absl::StatusOr<RotationProfile> ProfileOf(const sideband::v1::RotationSettings& from) {
  switch (from.profile()) {
    case sideband::v1::RotationSettings::PROFILE_UNSPECIFIED:
    case sideband::v1::RotationSettings::PROFILE_FAST:
      return RotationProfile::kFast;
    case sideband::v1::RotationSettings::PROFILE_TWO_SET:
      return RotationProfile::kTwoSet;
    default:
      return Bad("profile", "is unknown");
  }
}

absl::Status TakeTime(const google::protobuf::Duration& from, absl::string_view field, absl::Duration& out) {
  SIDEBAND_ASSIGN_OR_RETURN(out, PositiveDurationOf(from, absl::StrCat("settings.", field)));
  return out >= kTurnTimeMin && out <= kTurnTimeMax ? absl::OkStatus() : MustBe(field, kTurnTimeRange);
}

absl::Status TakeTimes(const sideband::v1::RotationSettings& from, RotationTerms& out) {
  if (from.has_stable_slot()) {
    SIDEBAND_RETURN_IF_ERROR(TakeTime(from.stable_slot(), "stable_slot", out.stable_slot));
  }
  if (from.has_fluctuating_slot()) {
    SIDEBAND_RETURN_IF_ERROR(TakeTime(from.fluctuating_slot(), "fluctuating_slot", out.fluctuating_slot));
  }
  return from.has_interval() ? TakeTime(from.interval(), "interval", out.interval) : absl::OkStatus();
}

absl::Status TakeClassifier(const sideband::v1::RotationSettings& from, RotationTerms& out) {
  if (from.has_threshold()) {
    if (!IsUpTo(kThresholdMax, from.threshold())) return MustBe("threshold", kThresholdRange);
    out.threshold_per_mille = PerMille(from.threshold());
  }
  if (from.has_step()) out.step = from.step();
  return out.step >= 1 && out.step <= kStepMax ? absl::OkStatus() : MustBe("step", kStepRange);
}

absl::Status TakeSets(const sideband::v1::RotationSettings& from, RotationTerms& out) {
  if (from.has_sets_per_pass()) out.sets_per_pass = from.sets_per_pass();
  if (out.sets_per_pass > kSetsPerPassMax) {
    return MustBe("sets_per_pass", absl::StrCat("0, which is all, or ", kSetsPerPassRange));
  }
  if (from.has_adapt()) out.adapt = from.adapt();
  const bool is_adaptable = out.profile == RotationProfile::kFast;
  return out.adapt && !is_adaptable ? Bad("adapt", "is for the profile fast only") : absl::OkStatus();
}

absl::StatusOr<RotationTerms> TermsOf(const sideband::v1::RotationSettings& from) {
  SIDEBAND_ASSIGN_OR_RETURN(const RotationProfile profile, ProfileOf(from));
  RotationTerms terms = DefaultTerms(profile);
  SIDEBAND_RETURN_IF_ERROR(TakeTimes(from, terms));
  SIDEBAND_RETURN_IF_ERROR(TakeClassifier(from, terms));
  SIDEBAND_RETURN_IF_ERROR(TakeSets(from, terms));
  return terms;
}

absl::Status TakeWeights(const sideband::v1::RotationSettings& from, const Catalog& catalog, const EventSet& readable,
                         RotationSettings& out) {
  for (const auto& [name, weight] : from.weights()) {
    const auto event = FindReadable(catalog, readable, name);
    if (!event) return NotFound();
    if (!IsUpTo(kWeightMax, weight)) return Bad("weights", absl::StrCat(name, " must be ", kWeightRange));
    const bool is_new = out.weights.emplace(static_cast<uint16_t>(*event), PerMille(weight)).second;
    if (!is_new) return Bad("weights", absl::StrCat(catalog.events[*event].name, " is given twice"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RotationSettings> RotationSettingsOf(const sideband::v1::RotationSettings& from, const Catalog& catalog,
                                                    const EventSet& readable) {
  SIDEBAND_ASSIGN_OR_RETURN(const RotationTerms terms, TermsOf(from));
  if (catalog.reference_clock_hz == 0) return absl::FailedPreconditionError("the device's clock is unknown");
  RotationSettings out = SettingsOf(terms, catalog.reference_clock_hz);
  SIDEBAND_RETURN_IF_ERROR(TakeWeights(from, catalog, readable, out));
  return out;
}

void FillRotationSettings(const RotationSettings& from, const Catalog& catalog, const EventSet& readable,
                          sideband::v1::RotationSettings& out) {
  out.set_profile(from.profile == RotationProfile::kTwoSet ? sideband::v1::RotationSettings::PROFILE_TWO_SET
                                                           : sideband::v1::RotationSettings::PROFILE_FAST);
  if (const uint64_t hertz = catalog.reference_clock_hz; hertz != 0) {
    SetTurnTime(from.stable_slot, hertz, *out.mutable_stable_slot());
    SetTurnTime(from.fluctuating_slot, hertz, *out.mutable_fluctuating_slot());
    SetTurnTime(from.interval, hertz, *out.mutable_interval());
  }
  out.set_threshold(from.threshold_per_mille / kPerUnit);
  out.set_step(from.step);
  out.set_sets_per_pass(from.sets_per_pass);
  out.set_adapt(from.adapt);
  for (const auto& [event, weight] : from.weights) {
    if (event >= readable.size() || !readable[event]) continue;
    (*out.mutable_weights())[catalog.events[event].name] = weight / kPerUnit;
  }
}

}  // namespace sideband::daemon
