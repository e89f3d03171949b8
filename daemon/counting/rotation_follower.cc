// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/rotation_follower.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

using mailbox::Catalog;
using mailbox::RotationPlan;
using mailbox::RotationRequest;
using mailbox::RotationSettings;

std::string TimeText(uint64_t cycles, uint64_t hertz) {
  if (hertz == 0) return absl::StrCat(cycles, " cycles");
  const absl::uint128 ns = absl::uint128(cycles) * 1'000'000'000 / hertz;
  return absl::FormatDuration(
      absl::Nanoseconds(static_cast<int64_t>(std::min<absl::uint128>(ns, std::numeric_limits<int64_t>::max()))));
}

// The turns of the device's own plan are neither too short nor too long for it, and those between neither.
void AddTimes(const RotationSettings& wanted, const Catalog& catalog, std::vector<std::string>& reasons) {
  const std::pair<const char*, uint64_t> times[] = {{"slots.stable", wanted.stable_slot},
                                                    {"slots.fluctuating", wanted.fluctuating_slot},
                                                    {"interval", wanted.interval}};
  const auto own = std::ranges::find(catalog.plans, mailbox::kOwnPlan, &RotationPlan::number);
  uint64_t low = std::numeric_limits<uint64_t>::max(), high = 0;
  if (own != catalog.plans.end()) {
    low = std::min(own->settings.stable_slot, own->settings.fluctuating_slot);
    high = std::max({own->settings.stable_slot, own->settings.fluctuating_slot, own->settings.interval});
  }
  for (const auto& [key, time] : times) {
    const std::string text = TimeText(time, catalog.reference_clock_hz);
    if (time < low) {
      reasons.push_back(
          absl::StrCat(key, ": ", text, " may be shorter than the device allows, which is half of its own slots"));
    }
    if (time > high) reasons.push_back(absl::StrCat(key, ": ", text, " may be longer than the device can measure"));
  }
}

// Those that are always counted may be pinned.
bool TakesTurns(const RotationRequest& request, const Catalog& catalog, size_t event) {
  if (catalog.events[event].details.counting == mailbox::Counting::kFixed) return false;
  const bool is_wanted = request.events.empty() || mailbox::Includes(request.events, event);
  return is_wanted && !mailbox::Includes(request.always, event);
}

void AddGroups(const RotationRequest& request, const Catalog& catalog, std::vector<std::string>& reasons) {
  std::set<std::string> groups;
  for (size_t event = 0; event < catalog.events.size(); ++event) {
    const uint8_t group = catalog.events[event].details.gate_group;
    if (group < catalog.gate_groups.size() && TakesTurns(request, catalog, event)) {
      groups.insert(catalog.gate_groups[group].name);
    }
  }
  if (groups.empty()) return;
  reasons.push_back(absl::StrCat("events: a gate group that is pinned for the VM cannot be multiplexed, and ",
                                 absl::StrJoin(groups, ", "), " may be pinned"));
}

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

std::string RefusalText(const RotationRequest& request, const Catalog& catalog) {
  std::vector<std::string> reasons;
  AddTimes(request.settings, catalog, reasons);
  // Each event fits beside the fixed ones: it does so in the device's own plan.
  if (std::ranges::any_of(request.always, [](uint64_t word) { return word != 0; })) {
    reasons.emplace_back("always: these events may leave too few counters for the others");
  }
  AddGroups(request, catalog, reasons);
  reasons.emplace_back(
      "events: they may need more counter sets than the VM and the device have left; fewer events need fewer");
  return absl::StrCat("the device refuses this rotation: ", absl::StrJoin(reasons, "; or "));
}

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
