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

bool CanTakeTurns(const Topology& topology, size_t event) {
  const mailbox::EventInfo& info = topology.catalog().events[event];
  return topology.rotation().IsRotated(event) && info.scope == mailbox::EventScope::kContext && !info.masked;
}

absl::Status CheckTakeTurns(const std::vector<NamedEvent>& events, const EventNumbers& numbers,
                            const Topology& topology) {
  for (const NamedEvent& event : events) {
    SIDEBAND_ASSIGN_OR_RETURN(const uint16_t number, numbers.Of(event));
    if (CanTakeTurns(topology, number)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(numbers.path(), ":", event.line, ": '", event.name, "' does not take turns"));
  }
  return absl::OkStatus();
}

// What no further attempt changes.
bool IsFinal(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status) || absl::IsUnimplemented(status);
}

}  // namespace

absl::StatusOr<mailbox::RotationRequest> RotationOf(const RotationFile& file, const Topology& topology) {
  const Catalog& catalog = topology.catalog();
  if (!topology.rotation().has_rotated_events()) {
    return absl::FailedPreconditionError(absl::StrCat(file.path, ": no event of the device takes turns"));
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

void RotationFollower::Take(const std::optional<RotationFile>& file, uint64_t boot_id) {
  if (file_ == file && boot_id_ == boot_id) return;
  file_ = file;
  boot_id_ = boot_id;
  is_refused_ = false;
  done_.clear();
  error_.clear();
}

void RotationFollower::Record(const std::string& device, const mailbox::VmInfo& vm) const {
  spdlog::info("device {}: VM {} takes turns as in {}", device, vm.uuid.ToString(), file_->path);
  audit_.Record({.kind = AuditKind::kDevice,
                 .resource = absl::StrCat("device ", device, ", VM ", vm.uuid.ToString(), ", rotation"),
                 .decision = AuditDecision::kAllow,
                 .reason = absl::StrCat("as in ", file_->path)});
}

absl::Status RotationFollower::Apply(const std::string& device, const Topology& topology) {
  std::optional<mailbox::RotationRequest> request;
  for (const mailbox::VmInfo& vm : topology.catalog().vms) {
    const Key key{vm.uuid, vm.generation};
    if (vm.confidential || vm.is_private || done_.contains(key)) continue;
    if (!request) {
      SIDEBAND_ASSIGN_OR_RETURN(request, RotationOf(*file_, topology));
    }
    request->vm = vm.id;
    const absl::Status applied = writer_.Apply(*request);
    if (!applied.ok()) {
      return {applied.code(), absl::StrCat(file_->path, ": not in force for VM ", vm.uuid.ToString(), ": ",
                                           absl::IsInvalidArgument(applied) ? RefusalText(*request, topology.catalog())
                                                                            : applied.message())};
    }
    done_.insert(key);
    Record(device, vm);
  }
  return absl::OkStatus();
}

void RotationFollower::Follow(const std::string& device, const std::optional<RotationFile>& file,
                              const Topology& topology, uint64_t boot_id) {
  Take(file, boot_id);
  if (!file_ || is_refused_) return;
  const absl::Status status = Apply(device, topology);
  is_refused_ = IsFinal(status);
  const std::string before = std::exchange(error_, std::string(status.message()));
  if (!status.ok() && error_ != before) spdlog::warn("device {}: {}", device, error_);
}

}  // namespace sideband::daemon
