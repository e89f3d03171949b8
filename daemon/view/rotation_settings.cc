// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/rotation_settings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "daemon/message/time_message.h"
#include "daemon/view/row_filter.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

using mailbox::Catalog;
using mailbox::RotationProfile;
using mailbox::RotationSettings;

constexpr double kPerUnit = 1000;

absl::Status Bad(absl::string_view field, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("settings.", field, ": ", what));
}

absl::StatusOr<uint64_t> CyclesOf(const google::protobuf::Duration& from, absl::string_view field, uint64_t hertz) {
  SIDEBAND_ASSIGN_OR_RETURN(const absl::Duration time, PositiveDurationOf(from, absl::StrCat("settings.", field)));
  if (hertz == 0) return absl::FailedPreconditionError("the device's clock is unknown");
  const absl::uint128 cycles =
      absl::uint128(static_cast<uint64_t>(absl::ToInt64Nanoseconds(time))) * hertz / 1'000'000'000;
  if (cycles == 0) return Bad(field, "is less than a cycle");
  if (cycles > std::numeric_limits<int64_t>::max()) return Bad(field, "is too long");
  return static_cast<uint64_t>(cycles);
}

void SetTime(uint64_t cycles, uint64_t hertz, google::protobuf::Duration& out) {
  const absl::uint128 ns = absl::uint128(cycles) * 1'000'000'000 / hertz;
  SetDuration(absl::Nanoseconds(static_cast<int64_t>(std::min<absl::uint128>(ns, std::numeric_limits<int64_t>::max()))),
              out);
}

absl::Status TakeTimes(const sideband::v1::RotationSettings& from, uint64_t hertz, RotationSettings& out) {
  if (from.has_stable_slot()) {
    SIDEBAND_ASSIGN_OR_RETURN(out.stable_slot, CyclesOf(from.stable_slot(), "stable_slot", hertz));
  }
  if (from.has_fluctuating_slot()) {
    SIDEBAND_ASSIGN_OR_RETURN(out.fluctuating_slot, CyclesOf(from.fluctuating_slot(), "fluctuating_slot", hertz));
  }
  if (from.has_interval()) {
    SIDEBAND_ASSIGN_OR_RETURN(out.interval, CyclesOf(from.interval(), "interval", hertz));
  }
  return absl::OkStatus();
}

absl::Status TakeProfile(const sideband::v1::RotationSettings& from, RotationSettings& out) {
  switch (from.profile()) {
    case sideband::v1::RotationSettings::PROFILE_UNSPECIFIED:
    case sideband::v1::RotationSettings::PROFILE_FAST:
      return absl::OkStatus();
    case sideband::v1::RotationSettings::PROFILE_TWO_SET:
      out.profile = RotationProfile::kTwoSet;
      out.adapt = false;
      return absl::OkStatus();
    default:
      return Bad("profile", "is unknown");
  }
}

// nullopt: below a thousandth, or above `most`.
std::optional<uint32_t> Thousandths(double number, double most) {
  const double rounded = std::round(number * kPerUnit);
  if (!(rounded >= 1 && rounded <= most * kPerUnit)) return std::nullopt;
  return static_cast<uint32_t>(rounded);
}

absl::Status TakeWeights(const sideband::v1::RotationSettings& from, const Catalog& catalog, const EventSet& readable,
                         RotationSettings& out) {
  constexpr double kWeightMax = 1e6;
  for (const auto& [name, weight] : from.weights()) {
    const auto found = std::ranges::find(catalog.events, name, &mailbox::EventInfo::name);
    const auto event = static_cast<size_t>(found - catalog.events.begin());
    if (event >= readable.size() || !readable[event]) return NotFound();
    const auto thousandths = Thousandths(weight, kWeightMax);
    if (!thousandths) return Bad("weights", absl::StrCat(name, " must be from 0.001 to 1000000"));
    out.weights[static_cast<uint16_t>(event)] = *thousandths;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RotationSettings> RotationSettingsOf(const sideband::v1::RotationSettings& from, const Catalog& catalog,
                                                    const EventSet& readable) {
  constexpr uint32_t kStepMax = 1000;
  RotationSettings out;
  SIDEBAND_RETURN_IF_ERROR(TakeProfile(from, out));
  SIDEBAND_RETURN_IF_ERROR(TakeTimes(from, catalog.reference_clock_hz, out));
  if (from.has_threshold()) {
    const auto thousandths = Thousandths(from.threshold(), 1);
    if (!thousandths) return Bad("threshold", "must be from 0.001 to 1");
    out.threshold_per_mille = *thousandths;
  }
  if (from.has_step()) out.step = from.step();
  if (out.step < 1 || out.step > kStepMax) return Bad("step", absl::StrCat("must be from 1 to ", kStepMax));
  if (from.has_adapt()) out.adapt = from.adapt();
  const bool is_adaptable = out.profile == RotationProfile::kFast;
  if (out.adapt && !is_adaptable) return Bad("adapt", "is of the profile fast only");
  SIDEBAND_RETURN_IF_ERROR(TakeWeights(from, catalog, readable, out));
  return out;
}

void FillRotationSettings(const RotationSettings& from, const Catalog& catalog, const EventSet& readable,
                          sideband::v1::RotationSettings& out) {
  out.set_profile(from.profile == RotationProfile::kTwoSet ? sideband::v1::RotationSettings::PROFILE_TWO_SET
                                                           : sideband::v1::RotationSettings::PROFILE_FAST);
  if (const uint64_t hertz = catalog.reference_clock_hz; hertz != 0) {
    SetTime(from.stable_slot, hertz, *out.mutable_stable_slot());
    SetTime(from.fluctuating_slot, hertz, *out.mutable_fluctuating_slot());
    SetTime(from.interval, hertz, *out.mutable_interval());
  }
  out.set_threshold(from.threshold_per_mille / kPerUnit);
  out.set_step(from.step);
  out.set_adapt(from.adapt);
  for (const auto& [event, weight] : from.weights) {
    if (event >= readable.size() || !readable[event]) continue;
    (*out.mutable_weights())[catalog.events[event].name] = weight / kPerUnit;
  }
}

}  // namespace sideband::daemon
