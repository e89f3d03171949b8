// SPDX-License-Identifier: Apache-2.0
#include "client/rotation/rotation_file.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

constexpr absl::Duration kTimeMin = absl::Nanoseconds(1);
constexpr absl::Duration kTimeMax = absl::Hours(24);

absl::Status ReadTime(const YamlMap& map, const std::string& key,
                      google::protobuf::Duration* (*field)(v1::RotationSettings&), v1::RotationSettings& out) {
  const auto node = map.Find(key);
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(absl::Duration time, node->Duration(kTimeMin, kTimeMax));
  google::protobuf::Duration& message = *field(out);
  message.set_seconds(absl::IDivDuration(time, absl::Seconds(1), &time));
  message.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(time)));
  return absl::OkStatus();
}

absl::Status ReadSlots(const YamlMap& map, v1::RotationSettings& out) {
  const auto node = map.Find("slots");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap slots, node->Map({"stable", "fluctuating"}));
  SIDEBAND_RETURN_IF_ERROR(ReadTime(
      slots, "stable", [](v1::RotationSettings& to) { return to.mutable_stable_slot(); }, out));
  return ReadTime(
      slots, "fluctuating", [](v1::RotationSettings& to) { return to.mutable_fluctuating_slot(); }, out);
}

absl::Status ReadProfile(const YamlMap& map, v1::RotationSettings& out) {
  const auto node = map.Find("profile");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node->String());
  if (text != "fast" && text != "two-set") {
    return node->Error(absl::StrCat("'", text, "' is unknown, must be fast or two-set"));
  }
  out.set_profile(text == "fast" ? v1::RotationSettings::PROFILE_FAST : v1::RotationSettings::PROFILE_TWO_SET);
  return absl::OkStatus();
}

absl::Status ReadNumbers(const YamlMap& map, v1::RotationSettings& out) {
  constexpr uint64_t kStepMax = 1000;
  if (const auto node = map.Find("threshold")) {
    SIDEBAND_ASSIGN_OR_RETURN(const double threshold, node->Number(0.001, 1));
    out.set_threshold(threshold);
  }
  if (const auto node = map.Find("step")) {
    SIDEBAND_ASSIGN_OR_RETURN(const uint64_t step, node->Uint(1, kStepMax));
    out.set_step(static_cast<uint32_t>(step));
  }
  if (const auto node = map.Find("adapt")) {
    SIDEBAND_ASSIGN_OR_RETURN(const bool adapt, node->Bool());
    out.set_adapt(adapt);
  }
  return absl::OkStatus();
}

absl::Status ReadWeights(const YamlMap& map, v1::RotationSettings& out) {
  constexpr double kWeightMin = 0.001, kWeightMax = 1e6;
  const auto node = map.Find("weights");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const auto entries, node->Entries());
  for (const auto& [event, value] : entries) {
    SIDEBAND_ASSIGN_OR_RETURN((*out.mutable_weights())[event], value.Number(kWeightMin, kWeightMax));
  }
  return absl::OkStatus();
}

absl::Status ReadNames(const YamlMap& map, const std::string& key,
                       google::protobuf::RepeatedPtrField<std::string>& out) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto names, map.StringListOrEmpty(key));
  for (const std::string& name : names) *out.Add() = name;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::SetRotationRequest> ReadRotation(const YamlNode& root) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, root.Map({"profile", "slots", "interval", "threshold", "step", "adapt",
                                                         "weights", "events", "always"}));
  v1::SetRotationRequest request;
  v1::RotationSettings& settings = *request.mutable_settings();
  SIDEBAND_RETURN_IF_ERROR(ReadProfile(map, settings));
  SIDEBAND_RETURN_IF_ERROR(ReadSlots(map, settings));
  SIDEBAND_RETURN_IF_ERROR(ReadTime(
      map, "interval", [](v1::RotationSettings& to) { return to.mutable_interval(); }, settings));
  SIDEBAND_RETURN_IF_ERROR(ReadNumbers(map, settings));
  SIDEBAND_RETURN_IF_ERROR(ReadWeights(map, settings));
  SIDEBAND_RETURN_IF_ERROR(ReadNames(map, "events", *request.mutable_events()));
  SIDEBAND_RETURN_IF_ERROR(ReadNames(map, "always", *request.mutable_always()));
  return request;
}

}  // namespace sideband::client
