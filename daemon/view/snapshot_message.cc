// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/snapshot_message.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/snapshot/message.h"
#include "daemon/snapshot/utilisation.h"

namespace sideband::daemon {
namespace {

using mailbox::kHypervisorVm;
using mailbox::kNoContext;

sideband::v1::Device::State StateOf(VisibleDevice::State state) {
  switch (state) {
    case VisibleDevice::State::kFresh:
      return sideband::v1::Device::STATE_FRESH;
    case VisibleDevice::State::kStale:
      return sideband::v1::Device::STATE_STALE;
    case VisibleDevice::State::kAway:
      return sideband::v1::Device::STATE_AWAY;
  }
  return sideband::v1::Device::STATE_UNSPECIFIED;
}

void FillCounters(const DeviceSnapshot& snapshot, size_t row, const EventSet& events, std::span<const double> rates,
                  sideband::v1::ScopeCounters& out) {
  const Coverage& coverage = snapshot.topology->coverage();
  const auto counters = snapshot.Shown(row);
  for (size_t i = 0; i < counters.size() && i < events.size(); ++i) {
    if (!events[i] || !snapshot.IsShown(row, i)) continue;
    sideband::v1::Counter& counter = *out.add_counters();
    FillCounter(*snapshot.topology, i, {counters[i], snapshot.CoverageOf(row, i), snapshot.EstimateOf(row, i)},
                counter);
    // An unknown rate is absent.
    if (i >= rates.size() || std::isnan(rates[i])) continue;
    counter.set_rate_per_second(rates[i]);
    const double covered = coverage.OfRate(i, rates);
    const bool is_known = coverage.IsGated(i) && !std::isnan(covered) && !counter.has_estimate();
    if (is_known) counter.set_rate_coverage(covered);
  }
}

void FillRatios(const std::vector<Ratio>& ratios, std::span<const double> rates, std::span<const RateBounds> bounds,
                const EventSet& events, sideband::v1::ScopeCounters& out) {
  for (const Ratio& ratio : ratios) {
    // A ratio would reveal a rate that is not in `events`.
    if (rates.empty() || !ratio.IsIn(events) || MayExceedOne(ratio, bounds)) continue;
    const double value = RatioOf(ratio, rates);
    if (std::isnan(value)) continue;
    sideband::v1::Ratio& message = *out.add_ratios();
    message.set_name(ratio.spec->name);
    message.set_formula(ratio.spec->Formula());
    message.set_numerator_per_second(ratio.Numerator(rates));
    message.set_denominator_per_second(ratio.Denominator(rates));
    message.set_value(value);
  }
}

// `names` are UtilisationNames(); `events` those that the caller asked for, `readable` those that it may read.
void FillUtilisations(const std::vector<std::string>& names, const DeviceSnapshot& snapshot, size_t row,
                      const EventSet& events, const EventSet& readable, sideband::v1::ScopeCounters& out) {
  const RowUtilisation utilisation(snapshot, row);
  for (size_t event = 0; event < events.size(); ++event) {
    if (!events[event] || names[event].empty() || !snapshot.IsShown(row, event)) continue;
    const auto share = utilisation.Of(event);
    if (!share || !utilisation.IsIn(event, readable)) continue;
    sideband::v1::Ratio& message = *out.add_ratios();
    message.set_name(names[event]);
    message.set_event(snapshot.topology->catalog().events[event].name);
    message.set_numerator_per_second(share->counted_per_second);
    message.set_denominator_per_second(share->capacity_per_second);
    message.set_value(share->value);
  }
}

}  // namespace

sideband::v1::Device DeviceMessage(const VisibleDevice& device) {
  sideband::v1::Device out;
  out.set_name(device.info->name);
  out.set_state(StateOf(device.state));
  SetDuration(device.info->interval, *out.mutable_interval());
  if (device.snapshot == nullptr) return out;
  const mailbox::Catalog& catalog = device.snapshot->topology->catalog();
  out.set_uuid(catalog.device.ToString());
  out.set_boot_id(device.snapshot->data.boot_id);
  out.set_reference_clock_hz(catalog.reference_clock_hz);
  if (!catalog.events.empty()) out.add_kinds(sideband::v1::Device::KIND_COUNTERS);
  if (device.shows_board) out.add_kinds(sideband::v1::Device::KIND_BOARD);
  return out;
}

std::vector<sideband::v1::Scope> ScopeMessages(const DeviceInfo& device, const View& view) {
  const Topology& topology = *view.topology();
  std::vector<sideband::v1::Scope> out;
  const auto add = [&](uint16_t vm, uint16_t context) { out.push_back(ScopeMessage(device, topology, vm, context)); };
  if (view.sees_device_row()) add(kHypervisorVm, kNoContext);
  for (const mailbox::HostBlockInfo& host : topology.catalog().host_blocks) {
    if (view.Events(kHypervisorVm, host.slice) != nullptr) add(kHypervisorVm, host.slice);
  }
  for (const mailbox::VmInfo& vm : topology.catalog().vms) {
    // A confidential VM has no readable row, but sealed records.
    const bool sealed = vm.confidential && view.SeesVm(vm.id);
    if (sealed || view.Events(vm.id, kNoContext) != nullptr) add(vm.id, kNoContext);
  }
  for (const mailbox::ContextInfo& context : topology.catalog().contexts) {
    if (view.Events(context.vm, context.id) != nullptr) add(context.vm, context.id);
  }
  return out;
}

sideband::v1::Snapshot SnapshotMessage(const VisibleDevice& device, const RowFilter& filter) {
  sideband::v1::Snapshot out = SnapshotBodyMessage(device, filter);
  out.MergeFrom(MomentMessage(device));
  return out;
}

void SetCountedOnly(sideband::v1::Counter& counter) {
  counter.mutable_estimate()->set_lower(counter.count());
  counter.mutable_estimate()->set_method(sideband::v1::Estimate::METHOD_COUNTED);
}

sideband::v1::Snapshot MomentMessage(const VisibleDevice& device) {
  sideband::v1::Snapshot out;
  out.set_device_state(StateOf(device.state));
  SetDuration(device.age, *out.mutable_age());
  return out;
}

sideband::v1::Snapshot SnapshotBodyMessage(const VisibleDevice& device, const RowFilter& filter) {
  const DeviceSnapshot& snapshot = *device.snapshot;
  sideband::v1::Snapshot out;
  out.set_device(device.info->name);
  out.set_boot_id(snapshot.data.boot_id);
  out.set_snapshot_id(snapshot.data.snapshot_id);
  out.set_trigger_id(snapshot.data.trigger_id);
  out.set_reference_time_ns(snapshot.data.reference_time_ns);
  SetTime(snapshot.host_time, *out.mutable_host_time());
  SetDuration(snapshot.host_time_error, *out.mutable_host_time_error());
  if (snapshot.host_utc_error) SetDuration(*snapshot.host_utc_error, *out.mutable_host_utc_error());
  const bool is_fresh = device.state == VisibleDevice::State::kFresh;
  if (is_fresh && snapshot.elapsed > absl::ZeroDuration()) SetDuration(snapshot.elapsed, *out.mutable_elapsed());
  const std::vector<Ratio> ratios = ResolveRatios(device.info->ratios, snapshot.topology->catalog());
  const std::vector<std::string> utilisations = UtilisationNames(*snapshot.topology, ratios);
  for (size_t row = 0; row < snapshot.data.blocks.size(); ++row) {
    mailbox::BlockHeader block = snapshot.data.blocks[row];
    const EventSet events = filter.SelectedEvents(*device.view, block.vm, block.context);
    if (std::find(events.begin(), events.end(), true) == events.end()) continue;
    sideband::v1::ScopeCounters& scope = *out.add_scopes();
    block.flags = snapshot.FlagsOf(row, events);
    FillScopeHeader(*device.info, *snapshot.topology, block, scope);
    // The rates of a stale snapshot are no longer current.
    const auto rates = is_fresh ? snapshot.Rates(row) : std::span<const double>();
    FillCounters(snapshot, row, events, rates, scope);
    FillRatios(ratios, rates, snapshot.Bounds(row), events, scope);
    if (is_fresh) {
      FillUtilisations(utilisations, snapshot, row, events, *device.view->Events(block.vm, block.context), scope);
    }
  }
  return out;
}

SnapshotBodies::SnapshotBodies(Reader& reader, RequestMetrics& metrics)
    : reader_(reader), metrics_(metrics), policy_version_(reader.CurrentPolicy().version) {
  reader_.AddListener(*this);
}

SnapshotBodies::~SnapshotBodies() { reader_.RemoveListener(*this); }

void SnapshotBodies::OnUpdate() {
  std::vector<OfDevice> dropped;  // declared first: destroyed after the lock is released
  const uint64_t policy_version = reader_.CurrentPolicy().version;
  absl::MutexLock lock(&mu_);
  const bool has_changed = std::exchange(policy_version_, policy_version) != policy_version;
  absl::erase_if(devices_, [&](auto& of) {
    if (!has_changed && reader_.IsNewest(of.first, *of.second.snapshot)) return false;
    dropped.push_back(std::move(of.second));
    return true;
  });
}

size_t SnapshotBodies::kept() const {
  absl::MutexLock lock(&mu_);
  size_t kept = 0;
  for (const auto& [index, of_device] : devices_) {
    for (const auto& [view, of_view] : of_device.views) kept += of_view.entries.size();
  }
  return kept;
}

SharedSnapshot SnapshotBodies::Get(const VisibleDevice& device, const RowFilter& filter) {
  SharedSnapshot shared{.body = BodyOf(device, filter), .moment = MomentMessage(device).SerializeAsString()};
  if (shared.body->has_rows) metrics_.SnapshotSent();
  return shared;
}

std::shared_ptr<const SnapshotBody> SnapshotBodies::BodyOf(const VisibleDevice& device, const RowFilter& filter) {
  const std::shared_ptr<Entry> entry = Find(device, filter);
  if (entry == nullptr) return Make(device, filter);
  absl::MutexLock lock(&entry->mu);
  if (entry->body == nullptr) {
    entry->body = Make(device, filter);
    if (entry->filtered_bytes != nullptr) *entry->filtered_bytes += entry->body->bytes.size();
  }
  return entry->body;
}

std::shared_ptr<const SnapshotBody> SnapshotBodies::Make(const VisibleDevice& device, const RowFilter& filter) {
  metrics_.SnapshotSerialised();
  const sideband::v1::Snapshot message = SnapshotBodyMessage(device, filter);
  auto body = std::make_shared<SnapshotBody>();
  body->has_rows = message.scopes_size() > 0;
  body->is_whole = message.ByteSizeLong() <= std::numeric_limits<int>::max();
  if (body->is_whole) body->bytes = message.SerializeAsString();
  return body;
}

std::shared_ptr<SnapshotBodies::Entry> SnapshotBodies::Find(const VisibleDevice& device, const RowFilter& filter) {
  OfDevice dropped;  // declared first: destroyed after the lock is released
  absl::MutexLock lock(&mu_);
  // A late reader's snapshot or configuration of the device would displace the newest's bodies.
  if (!reader_.IsNewest(device.index, *device.snapshot)) return nullptr;
  OfDevice& of_device = devices_[device.index];
  if (of_device.snapshot != device.snapshot || of_device.info != device.info) {
    dropped = std::exchange(of_device, {.snapshot = device.snapshot, .info = device.info});
  }
  return FindIn(OfViewIn(of_device, device.view), device.state == VisibleDevice::State::kFresh, filter.rows_key());
}

SnapshotBodies::OfView& SnapshotBodies::OfViewIn(OfDevice& of_device, const std::shared_ptr<const View>& view) {
  const auto found = of_device.views.find(view.get());
  if (found != of_device.views.end()) return found->second;
  // A view without another holder is never asked for again. While the audit log takes no entries, each request has
  // another one.
  absl::erase_if(of_device.views, [](const auto& of) { return of.second.view.use_count() == 1; });
  OfView& of_view = of_device.views[view.get()];
  of_view.view = view;
  return of_view;
}

std::shared_ptr<SnapshotBodies::Entry> SnapshotBodies::FindIn(OfView& of_view, bool is_fresh,
                                                              const std::string& rows_key) {
  const auto found = of_view.entries.find(FilterKey(is_fresh, rows_key));
  if (found != of_view.entries.end()) return found->second;
  if (!rows_key.empty()) {
    // Clients choose their filters: without bounds they would choose the daemon's memory.
    const bool has_room = of_view.entries.size() < kFiltersMax && *of_view.filtered_bytes < kFilteredBytesMax;
    if (!has_room || rows_key.size() > kFilterKeyBytesMax) return nullptr;
  }
  auto entry = std::make_shared<Entry>();
  if (!rows_key.empty()) entry->filtered_bytes = of_view.filtered_bytes;
  of_view.entries.emplace(FilterKey(is_fresh, rows_key), entry);
  return entry;
}

}  // namespace sideband::daemon
