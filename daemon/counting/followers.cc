// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/followers.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "daemon/mailbox/device_commands.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/extension.h"

namespace sideband::daemon {
namespace {

using mailbox::Catalog;
using mailbox::ConfigAddress;
using mailbox::ConfigKind;
using mailbox::RotationPlan;
using mailbox::RotationRequest;
using mailbox::RotationSettings;

std::string RateText(uint32_t hz) { return hz == 0 ? "none" : absl::StrCat(hz, " a second"); }

// Two daemons on one bus have the same tag once in 255 times; the checksum of a transaction then tells them apart.
uint8_t DrawTag() {
  std::random_device random;
  return static_cast<uint8_t>(1 + random() % 255);
}

std::string PlaceOf(const ConfigAddress& address) {
  switch (address.kind) {
    case ConfigKind::kGroup:
      return absl::StrCat("slice ", int{address.slice}, ", gate group ", address.index);
    case ConfigKind::kVm:
      return absl::StrCat("VM ", address.vm, ", word ", address.index);
    case ConfigKind::kContext:
      return absl::StrCat("VM ", address.vm, ", context ", address.context, ", word ", address.index);
    case ConfigKind::kHost:
      return absl::StrCat("slice ", int{address.slice}, ", host, word ", address.index);
    case ConfigKind::kSelection:
      return absl::StrCat("selection word ", address.index);
  }
  return "";
}

// Each word as it was and as it is.
std::string Describe(const ConfigChange& change, const std::optional<CountingState>& before) {
  std::map<ConfigAddress, uint64_t> old;
  if (before) old = mailbox::WordsOf(before->actual.config);
  std::string text;
  for (const auto& [address, word] : change.writes) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", PlaceOf(address), ": 0x", absl::Hex(old[address]), " to 0x",
                    absl::Hex(word));
  }
  return text;
}

// Logs a failure that differs from the last one: an attempt is made in every interval.
void WarnOnce(std::string& last, const std::string& line) {
  if (std::exchange(last, line) != line) spdlog::warn("{}", line);
}

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

// An event that is always counted may be pinned.
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

void LineDriver::Follow(const std::string& device, const TriggerLineSettings& line) {
  if (!line.drives) return error_.clear();
  const absl::Status sent = RunTrigger(session_, mailbox::TriggerStep::kOnce, 0).status();
  const std::string before = std::exchange(error_, std::string(sent.message()));
  if (error_ == before) return;
  if (sent.ok()) {
    spdlog::info("device {}: sends pulses on trigger line {} again", device, line.name);
  } else {
    spdlog::warn("device {}: no pulse on trigger line {}: {}", device, line.name, error_);
  }
}

absl::Status GridFollower::Set(uint32_t trigger_hz, uint64_t reference_hz) {
  if (trigger_hz == 0) return RunTrigger(session_, mailbox::TriggerStep::kStop, 0).status();
  const uint64_t period = reference_hz / trigger_hz;
  if (period == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("the device's clock of ", reference_hz, " Hz is slower than the triggers, or unknown"));
  }
  return RunTrigger(session_, mailbox::TriggerStep::kStart, period).status();
}

void GridFollower::Follow(const std::string& device, std::optional<uint32_t> trigger_hz, const Topology& topology,
                          uint64_t boot_id) {
  if (boot_id_ != boot_id || !trigger_hz) hz_.reset();
  boot_id_ = boot_id;
  if (!trigger_hz || hz_ == trigger_hz) return;
  const absl::Status set = Set(*trigger_hz, topology.catalog().reference_clock_hz);
  if (set.ok() || IsFinal(set)) hz_ = trigger_hz;
  const std::string before = std::exchange(error_, std::string(set.message()));
  if (set.ok()) {
    spdlog::info("device {}: grid of triggers: {}", device, RateText(*trigger_hz));
  } else if (error_ != before) {
    spdlog::warn("device {}: grid of triggers: {} not in force: {}", device, RateText(*trigger_hz), error_);
  }
}

CountingFollower::CountingFollower(MailboxSession& session, const Context& context)
    : session_(session), context_(context), writer_(session, DrawTag()) {}

std::optional<ConfigChange> CountingFollower::NextChange(const std::string& device) {
  has_changed_ = false;
  return context_.book == nullptr ? std::nullopt : context_.book->Pending(device);
}

void CountingFollower::Tried(const std::string& device, const ConfigChange& change,
                             const std::optional<CommittedConfig>& committed, const absl::Status& taken) {
  has_changed_ = taken.ok();
  const auto revision = committed ? absl::StatusOr<uint32_t>(committed->revision) : taken;
  Report(device, change, revision);
  context_.book->Committed(device, change, revision);
  ReportState(device);
}

void CountingFollower::Report(const std::string& device, const ConfigChange& change,
                              const absl::StatusOr<uint32_t>& revision) {
  context_.metrics.CountingChange(device, revision.status().code());
  if (!revision.ok()) {
    return WarnOnce(change_error_, absl::StrCat("device ", device,
                                                ": a counting change is not in force: ", revision.status().message()));
  }
  change_error_.clear();
  spdlog::info("device {}: counting revision {} is in force", device, *revision);
  context_.audit.Record(
      {.kind = AuditKind::kDevice,
       .resource = absl::StrCat("device ", device, ", counting"),
       .decision = AuditDecision::kAllow,
       .reason = absl::StrCat("revision ", *revision, ": ", Describe(change, context_.book->State(device)))});
}

void CountingFollower::Follow(const std::string& device, std::shared_ptr<const Topology> topology, uint64_t boot_id,
                              std::optional<uint32_t> revision) {
  if (context_.book == nullptr) return;
  if (!revision || !session_.Has(mailbox::kGateGroupsFeature)) return Forget(device);
  if (!has_changed_ && context_.book->IsNew(device, *topology, boot_id, *revision)) {
    Read(device, std::move(topology), boot_id);
  }
  context_.book->StoreAgain(device);
  ReportState(device);
}

void CountingFollower::Read(const std::string& device, std::shared_ptr<const Topology> topology, uint64_t boot_id) {
  auto config = ReadConfig(session_);
  if (config.ok()) {
    read_error_.clear();
    return context_.book->Observe(device, {std::move(topology), boot_id, *std::move(config)});
  }
  // The configuration that the book knows is not in force any more.
  context_.book->Outdate(device);
  WarnOnce(read_error_,
           absl::StrCat("device ", device, ": the counting settings cannot be read: ", config.status().message()));
}

// A device that has restarted without gate groups must not stay out of sync.
void CountingFollower::Forget(const std::string& device) const {
  if (!context_.book->State(device)) return;
  context_.book->Forget(device);
  context_.metrics.ForgetCounting(device);
}

void CountingFollower::ReportState(const std::string& device) const {
  const auto state = context_.book->State(device);
  if (!state) return;
  context_.metrics.Counting(
      device,
      {.revision = state->actual.config.revision, .is_in_sync = state->is_in_sync, .is_stored = state->is_stored});
}

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
    // Turns that are refused for one VM may be in force for others: theirs is another number of sets.
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
