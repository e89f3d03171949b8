// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_collector.h"

#include <spdlog/spdlog.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/base/clock.h"
#include "daemon/board/board_store.h"
#include "daemon/collector/published_rows.h"
#include "daemon/counting/mark_book.h"
#include "daemon/mailbox/device_commands.h"
#include "daemon/mailbox/snapshot_reader.h"
#include "daemon/sealing/seal_vms.h"
#include "daemon/snapshot/ratio.h"
#include "daemon/snapshot/utilisation.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

constexpr uint32_t kTriggersBack = uint32_t{1} << 30;

// Whether they take a quarter of the interval at most.
bool HasTimeForHulls(const DeviceInfo& info, size_t domains) {
  // A clock has ten vertices a side as a rule; a byte takes ten bit times, with its share of the frames.
  constexpr double kHullBits = 150 * 10;
  if (info.bus_hz == 0) return true;
  return static_cast<double>(domains) * kHullBits / info.bus_hz <= absl::ToDoubleSeconds(info.interval) / 4;
}

}  // namespace

DeviceCollector::DeviceCollector(size_t device, MailboxSession& session, const CollectorContext& context)
    : device_(device),
      info_(context.store.Info(device)),
      context_(context),
      session_(session),
      reader_(session, context.clock),
      counting_(session, {context.counting, context.audit, context.metrics}),
      rotation_(session, context.audit),
      grid_(session),
      line_(session) {}

absl::Status DeviceCollector::CheckInterval(const Topology& topology) const {
  const DeviceInfo& info = *info_;
  // 0: a virtual bus without a configured speed.
  if (info.bus_hz == 0) return absl::OkStatus();
  const absl::Duration least = BudgetOf(topology, info.bus_hz, session_.window_bytes()).least;
  if (info.interval >= least) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("an interval of ", absl::FormatDuration(info.interval),
                                                    " is too short: a snapshot of this device over a bus of ",
                                                    info.bus_hz, " Hz takes at least ", absl::FormatDuration(least)));
}

absl::Status DeviceCollector::CheckUuid(const Topology& topology) const {
  const Uuid& uuid = topology.catalog().device;
  const auto holds_it = [&](const StoredDevice& device) {
    const auto newest = context_.store.Newest(device.id);
    // Only fresh snapshots count: the UUID of a stale device may be taken over.
    return newest != nullptr && newest->topology->catalog().device == uuid &&
           newest->IsFresh(context_.clock.Steady(), *device.info);
  };
  const bool had_it = holds_it({device_, info_});
  const auto devices = context_.store.devices();
  for (const StoredDevice& other : *devices) {
    // The device that published the UUID first keeps it. If both did so concurrently, the lower id wins.
    if (other.id == device_ || (had_it && other.id > device_) || !holds_it(other)) continue;
    return absl::AlreadyExistsError(
        absl::StrCat("reports the UUID ", uuid.ToString(), ", as device ", other.info->name,
                     " does: one device is configured twice, or two devices have the same UUID"));
  }
  return absl::OkStatus();
}

absl::Status DeviceCollector::CheckSealing(const Topology& topology, const mailbox::Snapshot& raw) {
  for (const mailbox::BlockHeader& block : raw.blocks) {
    const mailbox::VmInfo* const vm = topology.FindVm(block.vm);
    if (vm == nullptr || !vm->confidential) continue;
    const bool is_required = info_->sealed_by == SealedBy::kDevice;
    if (!is_required && !sealed_by_device_.contains(vm->uuid)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("sends the counts of the confidential VM ", vm->uuid.ToString(), " unsealed; ",
                     is_required ? "`sealing: device` requires it to seal them" : "it has sealed them before"));
  }
  for (const uint16_t vm : VmsSealedByDevice(topology, raw)) sealed_by_device_.insert(topology.FindVm(vm)->uuid);
  return absl::OkStatus();
}

std::shared_ptr<const Topology> DeviceCollector::Judge(const TakenSnapshot& taken) {
  const auto known = context_.confidential.Of(taken.topology->catalog().device);
  const Confidentiality::Verdict verdict = known->Judge(taken.topology, taken.raw.boot_id);
  context_.metrics.ConfidentialityRefused(info_->name, verdict.refused);
  for (const Confidentiality::Refusal& refusal : verdict.to_report) ReportRefusal(refusal);
  return verdict.topology;
}

void DeviceCollector::ReportRefusal(const Confidentiality::Refusal& refusal) {
  const std::string& device = info_->name;
  const std::string vm = refusal.vm.ToString();
  const std::string what = absl::StrCat(
      "the device reports that the VM is not confidential; the VM stays confidential, since ", refusal.reason);
  // A device that restarts without end has each VM reported again. The metric counts all snapshots.
  const auto left_out = refusals_.Take(context_.clock.Steady());
  if (!left_out) return;
  spdlog::error("device {}: VM {}: {}{}", device, vm, what, LeftOutText(*left_out));
  context_.audit.Record({.kind = AuditKind::kDevice,
                         .resource = absl::StrCat("device ", device, ", VM ", vm),
                         .decision = AuditDecision::kDeny,
                         .reason = what,
                         .policy_version = context_.policy.Current().version});
}

void DeviceCollector::ReportSealed(const std::vector<SealedVmRecord>& sealed) {
  for (size_t i = 0; i < sealed.size(); ++i) context_.metrics.SealedRecord(info_->name);
  for (const auto& [vm, share] : BudgetsUsed(sealed)) {
    context_.metrics.SealingBudgetUsed(info_->name, vm.ToString(), share);
  }
}

absl::Status DeviceCollector::Publish(TakenSnapshot taken) {
  const DeviceInfo& info = *info_;
  // First: what is sealed and what is redacted follows from the corrected topology, not from the device's report.
  taken.topology = Judge(taken);
  const Topology& topology = *taken.topology;
  SIDEBAND_RETURN_IF_ERROR(CheckSealing(topology, taken.raw));
  auto snapshot = std::make_shared<DeviceSnapshot>();
  // Sealing and the conservation check need the raw counters, which Redact() wipes.
  SIDEBAND_ASSIGN_OR_RETURN(
      snapshot->sealed, SealVms(info, topology, taken.raw, taken.latched.time, {context_.sealers, context_.exchanges}));
  ReportSealed(snapshot->sealed);
  snapshot->sealed_by_device = VmsSealedByDevice(topology, taken.raw);
  context_.metrics.Conservation(info.name, CheckConservation(topology, taken.raw));
  const auto before = context_.store.Newest(device_);
  snapshot->topology = taken.topology;
  snapshot->has_board = context_.boards != nullptr && context_.boards->Newest(device_) != nullptr;
  snapshot->clocks = clocks_.Follow(topology, taken.raw,
                                    {.segment_max = info.clocks.segment_max,
                                     .latched_after = taken.latched.time - taken.latched.error,
                                     .hulls = ReadHulls(topology, taken.raw.trigger_id)});
  PlaceInTime(taken, *snapshot);
  if (context_.marks != nullptr) {
    const double rate_max = host_clock_.ppm_max() * 1e-6 + kWallRateMax;
    context_.marks->Read(device_, taken.raw, {{snapshot->host_time, snapshot->host_time_error}, rate_max});
  }
  // A bookmark's counts are for the VM's tenants, who read their marks.
  taken.raw.bookmarks.clear();
  const std::optional<mailbox::PipelineStatistics> statistics = taken.raw.statistics;
  Redacted redacted = Redact(topology, std::move(taken.raw), before.get(), StartOfRow(taken), info.complement.counters);
  snapshot->device_scope_withheld = redacted.device_scope_withheld;
  snapshot->device_row_withheld = redacted.device_row_withheld;
  snapshot->device_row_is_sum = redacted.device_row_is_sum;
  snapshot->device_row_squares = std::move(redacted.device_row_squares);
  snapshot->data = std::move(redacted.shown);
  snapshot->estimated = topology.rotation().ShownCounters(snapshot->data);
  FlagPartialRows(topology.coverage(), snapshot->data);
  FlagRotatedRows(*snapshot);
  // Rates and created times are computed from redacted data only.
  snapshot->rates = Rates(before.get(), *snapshot);
  DropUncountedRates(topology.coverage(), snapshot->data.counters_per_block, snapshot->rates);
  snapshot->elapsed = Elapsed(before.get(), *snapshot);
  if (before != nullptr) RateEstimates(*before, *snapshot);
  snapshot->created = Created(snapshot->data, taken, redacted.device_row_is_new);
  snapshot->booted = creation_times_.booted();
  if (statistics) ReportPipeline(*snapshot, *statistics);
  snapshot->steady_time = taken.steady_time;
  snapshot->publication = ++publication_;
  ReportQuality(*snapshot);
  context_.store.Publish(device_, std::move(snapshot));
  return absl::OkStatus();
}

void DeviceCollector::PlaceInTime(const TakenSnapshot& taken, DeviceSnapshot& snapshot) {
  const Clock& clock = context_.clock;
  host_clock_.Use(info_->clocks);
  const HostInstant latched = host_clock_.Add({.boot_id = taken.raw.boot_id,
                                               .reference_time_ns = taken.raw.reference_time_ns,
                                               .raw_before = taken.raw_before,
                                               .raw_after = taken.raw_after,
                                               .suspended = taken.suspended});
  PlaceOnLine(taken, latched, snapshot);
  snapshot.reference_rate = host_clock_.Rate();
  snapshot.reference_is_unsound = !host_clock_.is_sound();
  snapshot.host_utc_error = clock.UtcError();
  const PlacedTime fitted = PlaceByRaw(taken.wall, latched.raw - latched.error, latched.raw + latched.error);
  const PlacedTime& closer = fitted.error < taken.latched.error ? fitted : taken.latched;
  snapshot.host_time = closer.time;
  snapshot.host_time_error = closer.error;
}

void DeviceCollector::PlaceOnLine(const TakenSnapshot& taken, const HostInstant& latched, DeviceSnapshot& snapshot) {
  if (context_.lines == nullptr) return;
  snapshot.line_offset = context_.lines->Note(info_->name, info_->clocks,
                                              {.boot_id = taken.raw.boot_id,
                                               .reference_hz = taken.topology->catalog().reference_clock_hz,
                                               .reference_time_ns = taken.raw.reference_time_ns,
                                               .latched = latched,
                                               .is_sound = host_clock_.is_sound(),
                                               .suspended = taken.suspended,
                                               .pulse = taken.raw.line_pulse});
}

std::optional<mailbox::ClockHulls> DeviceCollector::ReadHulls(const Topology& topology, uint32_t trigger_id) {
  const size_t domains = topology.catalog().clock_domains.size();
  const bool has_grid = info_->clocks.trigger_hz.value_or(0) > 0;
  // A device's own segments are of the longest that can be configured.
  const bool may_be_used = info_->clocks.segment_max == ClockSettings().segment_max && !clocks_.is_withheld();
  if (!has_grid || domains == 0 || !may_be_used || !HasTimeForHulls(*info_, domains)) return std::nullopt;
  // Numbers start again after 2^32, and half of them are before any.
  auto hulls = ClockReader(session_).ReadHulls(trigger_id - kTriggersBack, domains);
  const std::string before = std::exchange(hull_error_, std::string(hulls.status().message()));
  if (hulls.ok()) return *std::move(hulls);
  if (hull_error_ != before)
    spdlog::warn("device {}: the device's fits of its clocks cannot be read: {}", info_->name, hull_error_);
  return std::nullopt;
}

RowStart DeviceCollector::StartOfRow(const TakenSnapshot& taken) {
  RestoreCreationTimes(taken.topology->catalog().device);
  const bool is_first_of_boot = knows_earlier_runs_ && !creation_times_.IsKnown(taken.raw.boot_id);
  return {.generation = static_cast<uint32_t>(absl::ToUnixSeconds(taken.latched.time)),
          .is_first_of_boot = is_first_of_boot};
}

void DeviceCollector::RestoreCreationTimes(const Uuid& uuid) {
  // A failed Load() is not repeated: a damaged file is replaced by the next Save().
  if (context_.creation_file == nullptr || restored_ == uuid) return;
  restored_ = uuid;
  auto known = context_.creation_file->Load(uuid);
  knows_earlier_runs_ = known.ok() || absl::IsNotFound(known.status());
  if (known.ok()) {
    creation_times_.Restore(*std::move(known));
  } else if (!absl::IsNotFound(known.status())) {
    spdlog::warn("created times: {}", std::string(known.status().message()));
  }
}

std::vector<absl::Time> DeviceCollector::Created(const mailbox::Snapshot& shown, const TakenSnapshot& taken,
                                                 bool device_row_is_new) {
  const Uuid& uuid = taken.topology->catalog().device;
  std::vector<absl::Time> times =
      creation_times_.Of(shown, {taken.latched.time, taken.latched.error, taken.steady_time}, device_row_is_new);
  const bool is_saved = !creation_times_.has_changed() && !is_save_overdue_;
  if (context_.creation_file == nullptr || is_saved) return times;
  const absl::Status saved = context_.creation_file->Save(uuid, creation_times_.known());
  // A full disk must not stop collection; only a restart before the next attempt shows other created times.
  if (!saved.ok() && !is_save_overdue_) spdlog::warn("created times: {}", std::string(saved.message()));
  is_save_overdue_ = !saved.ok();
  return times;
}

void DeviceCollector::ReportPipeline(const DeviceSnapshot& snapshot, const mailbox::PipelineStatistics& statistics) {
  const mailbox::PipelineStatistics now = pipeline_.Since(snapshot.data.boot_id, statistics);
  context_.metrics.Pipeline(info_->name,
                            {.stall_cycles = now.stall_cycles,
                             .trigger_overruns = now.trigger_overruns,
                             .commit_wait_cycles = now.commit_wait_cycles,
                             .mmu_faults = now.mmu_faults,
                             .switches = now.switches,
                             .switch_cycles = now.switch_cycles,
                             .rotation_inconsistencies = now.rotation_inconsistencies},
                            snapshot.booted);
}

void DeviceCollector::ReportQuality(const DeviceSnapshot& snapshot) {
  const std::vector<Ratio> ratios = ResolveRatios(info_->ratios, snapshot.topology->catalog());
  for (size_t row = 0; row < snapshot.data.blocks.size(); ++row) {
    for (const Ratio& ratio : ratios) {
      bool is_over_one = false;
      RatioOf(ratio, snapshot.Rates(row), &is_over_one);
      if (is_over_one) context_.metrics.RatioOverOne(info_->name);
    }
    const RowUtilisation utilisation(snapshot, row);
    for (size_t event = 0; event < snapshot.data.counters_per_block; ++event) {
      if (utilisation.IsContradiction(event)) context_.metrics.RatioOverOne(info_->name);
    }
  }
}

// The published topology counts: which VMs are confidential is not for the device alone to say.
void DeviceCollector::Follow(std::optional<uint32_t> revision) {
  const auto newest = context_.store.Newest(device_);
  if (newest == nullptr) return;
  counting_.Follow(info_->name, newest->topology, newest->data.boot_id, revision);
  rotation_.Follow(info_->name, info_->rotation, *newest->topology, newest->data.boot_id);
  grid_.Follow(info_->name, info_->clocks.trigger_hz, *newest->topology, newest->data.boot_id);
  line_.Follow(info_->name, info_->clocks.line);
}

// A change that fails costs no snapshot.
absl::StatusOr<TakenSnapshot> DeviceCollector::Take() {
  const std::optional<ConfigChange> change = counting_.NextChange(info_->name);
  // A change of another boot or catalogue has numbers of other VMs. It waits until the configuration is read again.
  if (!change || !reader_.IsOfBase(*change)) return reader_.Take();
  std::optional<CommittedConfig> committed;
  auto taken = reader_.TakeClosing(counting_.writer(), *change, committed);
  counting_.Tried(info_->name, *change, committed, taken.status());
  return taken.ok() || absl::IsCancelled(taken.status()) ? std::move(taken) : reader_.Take();
}

absl::Status DeviceCollector::CollectOnce() {
  // A reload may have changed the DeviceInfo. nullptr: the device was removed, and its collector is about to stop.
  if (auto now = context_.store.Info(device_)) info_ = std::move(now);
  const std::string& name = info_->name;
  const absl::Duration start = context_.clock.Steady();
  const absl::Status status = [&]() -> absl::Status {
    SIDEBAND_ASSIGN_OR_RETURN(TakenSnapshot taken, Take());
    const std::optional<uint32_t> revision = taken.raw.config_revision;
    SIDEBAND_RETURN_IF_ERROR(CheckInterval(*taken.topology));
    SIDEBAND_RETURN_IF_ERROR(CheckUuid(*taken.topology));
    // Published before it is acknowledged: the acknowledgement lets the device free the final counts of retired blocks.
    SIDEBAND_RETURN_IF_ERROR(Publish(std::move(taken)));
    context_.metrics.SnapshotPublished(name);
    Follow(revision);
    // Another controller may have latched since; the published snapshot is valid nevertheless.
    const absl::Status acknowledged = reader_.Acknowledge();
    return absl::IsAborted(acknowledged) ? absl::OkStatus() : acknowledged;
  }();
  context_.metrics.CollectDuration(name, context_.clock.Steady() - start);
  if (!status.ok() && !IsBoardAlone(status)) context_.metrics.CollectError(name, status.code());
  return status;
}

absl::Status DeviceCollector::Miss(const absl::Status& why) {
  context_.metrics.CollectError(info_->name, why.code());
  return why;
}

// A device without the extension has nothing else to collect, and is not at fault.
bool DeviceCollector::IsBoardAlone(const absl::Status& status) const {
  return absl::IsUnimplemented(status) && context_.boards != nullptr && context_.boards->SettingsOf(device_).is_read;
}

}  // namespace sideband::daemon
