// SPDX-License-Identifier: Apache-2.0
#include "client/rotation/rotation_request.h"

#include <vector>

#include "absl/time/time.h"

namespace sideband::client {
namespace {

constexpr double kPerUnit = 1000;

void SetTime(absl::Duration time, google::protobuf::Duration& out) {
  out.set_seconds(absl::IDivDuration(time, absl::Seconds(1), &time));
  out.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(time)));
}

v1::RotationSettings::Profile ProfileOf(mailbox::RotationProfile profile) {
  switch (profile) {
    case mailbox::RotationProfile::kFast:
      return v1::RotationSettings::PROFILE_FAST;
    case mailbox::RotationProfile::kTwoSet:
      return v1::RotationSettings::PROFILE_TWO_SET;
  }
  return v1::RotationSettings::PROFILE_UNSPECIFIED;
}

void FillSettings(const RotationTerms& terms, v1::RotationSettings& out) {
  out.set_profile(ProfileOf(terms.profile));
  SetTime(terms.stable_slot, *out.mutable_stable_slot());
  SetTime(terms.fluctuating_slot, *out.mutable_fluctuating_slot());
  SetTime(terms.interval, *out.mutable_interval());
  out.set_threshold(terms.threshold_per_mille / kPerUnit);
  out.set_step(terms.step);
  out.set_sets_per_pass(terms.sets_per_pass);
  out.set_adapt(terms.adapt);
}

void AddNames(const std::vector<NamedEvent>& events, google::protobuf::RepeatedPtrField<std::string>& out) {
  for (const NamedEvent& event : events) *out.Add() = event.name;
}

}  // namespace

v1::SetRotationRequest RequestOf(const RotationFile& file) {
  v1::SetRotationRequest request;
  FillSettings(file.terms, *request.mutable_settings());
  for (const EventWeight& weight : file.weights) {
    (*request.mutable_settings()->mutable_weights())[weight.event.name] = weight.per_mille / kPerUnit;
  }
  AddNames(file.events, *request.mutable_events());
  AddNames(file.always, *request.mutable_always());
  return request;
}

}  // namespace sideband::client
