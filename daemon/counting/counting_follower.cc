// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/counting_follower.h"

#include <spdlog/spdlog.h>

#include <map>
#include <random>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "daemon/mailbox/clock_reader.h"
#include "daemon/mailbox/counting_writer.h"
#include "proto/mailbox/extension.h"

namespace sideband::daemon {
namespace {

std::string RateText(uint32_t hz) { return hz == 0 ? "none" : absl::StrCat(hz, " a second"); }

using mailbox::ConfigAddress;
using mailbox::ConfigKind;

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
  // What the book knows is not in force any more.
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

}  // namespace sideband::daemon
