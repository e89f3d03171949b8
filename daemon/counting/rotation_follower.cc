// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/rotation_follower.h"

#include <spdlog/spdlog.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/counting/rotation_refusal.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

using mailbox::Catalog;

EventNumbers NumbersOf(const Catalog& catalog, const std::string& path) {
  std::vector<std::string> names;
  for (const mailbox::EventInfo& event : catalog.events) names.push_back(event.name);
  return {std::move(names), path};
}

absl::Status CheckTakeTurns(const std::vector<NamedEvent>& events, const EventNumbers& numbers,
                            const Topology& topology) {
  for (const NamedEvent& event : events) {
    SIDEBAND_ASSIGN_OR_RETURN(const uint16_t number, numbers.Of(event));
    if (topology.CanTakeTurns(number)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(numbers.path(), ":", event.line, ": '", event.name, "' cannot be multiplexed"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<mailbox::RotationRequest> RotationOf(const RotationFile& file, const Topology& topology) {
  const Catalog& catalog = topology.catalog();
  if (!topology.rotation().has_rotated_events()) {
    return absl::FailedPreconditionError(absl::StrCat(file.path, ": the device multiplexes no events"));
  }
  if (catalog.reference_clock_hz == 0) {
    return absl::FailedPreconditionError(absl::StrCat(file.path, ": the device's clock is unknown"));
  }
  const EventNumbers numbers = NumbersOf(catalog, file.path);
  SIDEBAND_RETURN_IF_ERROR(CheckTakeTurns(file.events, numbers, topology));
  SIDEBAND_RETURN_IF_ERROR(CheckTakeTurns(file.always, numbers, topology));
  mailbox::RotationRequest request;
  SIDEBAND_ASSIGN_OR_RETURN(request.settings, SettingsOf(file, numbers, catalog.reference_clock_hz));
  SIDEBAND_ASSIGN_OR_RETURN(request.events, numbers.SetOf(file.events));
  SIDEBAND_ASSIGN_OR_RETURN(request.always, numbers.SetOf(file.always));
  return request;
}

absl::Status RotationFollower::Take(const std::optional<RotationFile>& file, const Topology& topology,
                                    uint64_t boot_id) {
  const bool is_same_boot = boot_id_ == boot_id;
  if (is_same_boot && file_ == file) return absl::OkStatus();
  file_ = file;
  boot_id_ = boot_id;
  const auto before = std::exchange(wanted_, std::nullopt);
  absl::Status fits;
  if (file_) {
    auto request = RotationOf(*file_, topology);
    fits = request.status();
    if (request.ok()) wanted_ = *std::move(request);
  }
  // A comment more in the file, or another path, are no other turns.
  if (is_same_boot && wanted_ == before) return fits;
  replaces_choices_ = is_same_boot;
  settled_.clear();
  return fits;
}

void RotationFollower::Record(const std::string& device, const mailbox::VmInfo& vm) const {
  spdlog::info("device {}: events of VM {} are multiplexed as in {}", device, vm.uuid.ToString(), file_->path);
  audit_.Record({.kind = AuditKind::kDevice,
                 .resource = absl::StrCat("device ", device, ", VM ", vm.uuid.ToString(), ", rotation"),
                 .decision = AuditDecision::kAllow,
                 .reason = absl::StrCat("as in ", file_->path)});
}

absl::StatusOr<bool> RotationFollower::HasChosen(const mailbox::VmInfo& vm, const Topology& topology) {
  std::vector<uint16_t> scopes = {mailbox::kNoContext};
  for (const mailbox::ContextInfo& context : topology.catalog().contexts) {
    if (context.vm == vm.id) scopes.push_back(context.id);
  }
  for (const uint16_t context : scopes) {
    const auto plan = writer_.Read(vm.id, context, topology.catalog().events.size());
    if (absl::IsNotFound(plan.status())) continue;  // nothing rotates there
    SIDEBAND_RETURN_IF_ERROR(plan.status());
    if (plan->number != mailbox::kOwnPlan) return true;
  }
  return false;
}

absl::Status RotationFollower::ApplyTo(const std::string& device, const mailbox::VmInfo& vm, const Topology& topology) {
  if (!replaces_choices_) {
    SIDEBAND_ASSIGN_OR_RETURN(const bool has_chosen, HasChosen(vm, topology));
    if (has_chosen) return absl::OkStatus();
  }
  mailbox::RotationRequest request = *wanted_;
  request.vm = vm.id;
  SIDEBAND_RETURN_IF_ERROR(writer_.Apply(request));
  Record(device, vm);
  return absl::OkStatus();
}

absl::Status RotationFollower::Apply(const std::string& device, const Topology& topology) {
  for (const mailbox::VmInfo& vm : topology.catalog().vms) {
    const Key key{vm.uuid, vm.generation};
    if (vm.confidential || vm.is_private || settled_.contains(key)) continue;
    const absl::Status applied = ApplyTo(device, vm, topology);
    const std::string error =
        absl::StrCat(file_->path, ": not in force for VM ", vm.uuid.ToString(), ": ",
                     absl::IsInvalidArgument(applied) ? RefusalText(*wanted_, topology.catalog()) : applied.message());
    if (!applied.ok() && !IsFinal(applied)) return {applied.code(), error};
    // What is refused for one VM may be in force for others: theirs is another number of sets.
    if (!applied.ok()) spdlog::warn("device {}: {}", device, error);
    settled_.insert(key);
  }
  return absl::OkStatus();
}

void RotationFollower::Follow(const std::string& device, const std::optional<RotationFile>& file,
                              const Topology& topology, uint64_t boot_id) {
  absl::Status status = Take(file, topology, boot_id);
  if (!status.ok()) spdlog::warn("device {}: {}", device, std::string(status.message()));
  if (!wanted_) return;
  status = Apply(device, topology);
  const std::string before = std::exchange(error_, std::string(status.message()));
  if (!status.ok() && error_ != before) spdlog::warn("device {}: {}", device, error_);
}

}  // namespace sideband::daemon
