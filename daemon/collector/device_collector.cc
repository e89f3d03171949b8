// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_collector.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/collector/conservation.h"
#include "daemon/collector/rates.h"
#include "daemon/collector/redact.h"
#include "daemon/collector/seal_vms.h"
#include "daemon/mailbox/bus_budget.h"
#include "daemon/model/ratio.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {

DeviceCollector::DeviceCollector(size_t device, Store& store, MailboxSession& session, SealerSet& sealers,
                                 SelfMetrics& metrics, const Clock& clock)
    : device_(device),
      store_(store),
      session_(session),
      sealers_(sealers),
      metrics_(metrics),
      clock_(clock),
      reader_(session, clock) {}

absl::Status DeviceCollector::CheckInterval(const Topology& topology) const {
  const DeviceInfo& info = store_.devices()[device_];
  if (info.bus_hz == 0) return absl::OkStatus();
  const absl::Duration least = BudgetOf(topology, info.bus_hz, session_.window_bytes()).least;
  if (info.interval >= least) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("an interval of ", absl::FormatDuration(info.interval), " is below what a bus of ", info.bus_hz,
                   " Hz can carry of this device, even if nothing changes: ", absl::FormatDuration(least)));
}

absl::Status DeviceCollector::CheckUuid(const Topology& topology) const {
  const Uuid& uuid = topology.catalog().device;
  const auto holds_it = [&](size_t device) {
    const auto newest = store_.Newest(device);
    return newest != nullptr && newest->topology->catalog().device == uuid &&
           newest->IsFresh(clock_.Steady(), store_.devices()[device]);
  };
  const bool had_it = holds_it(device_);
  for (size_t other = 0; other < store_.devices().size(); ++other) {
    // Who has published first keeps it; of two that did so at once, the first in the configuration.
    if (other == device_ || (had_it && other > device_) || !holds_it(other)) continue;
    return absl::AlreadyExistsError(absl::StrCat("says that it is ", uuid.ToString(), ", which device ",
                                                 store_.devices()[other].name,
                                                 " is: one device is configured twice, or two have one UUID"));
  }
  return absl::OkStatus();
}

absl::Status DeviceCollector::Publish(TakenSnapshot taken) {
  const DeviceInfo& info = store_.devices()[device_];
  const Topology& topology = *taken.topology;
  auto snapshot = std::make_shared<DeviceSnapshot>();
  SIDEBAND_ASSIGN_OR_RETURN(snapshot->sealed, SealVms(info, topology, taken.raw, taken.host_time, sealers_));
  for (size_t i = 0; i < snapshot->sealed.size(); ++i) metrics_.SealedRecord(info.name);
  metrics_.Conservation(info.name, CheckConservation(topology, taken.raw));
  const auto before = store_.Newest(device_);
  snapshot->topology = taken.topology;
  const auto seconds = static_cast<uint32_t>(absl::ToUnixSeconds(taken.host_time));
  Redacted redacted = Redact(topology, std::move(taken.raw), before.get(), seconds);
  snapshot->device_scope_withheld = redacted.device_scope_withheld;
  snapshot->data = std::move(redacted.shown);
  snapshot->rates = Rates(before == nullptr ? nullptr : &before->data, snapshot->data);
  snapshot->created = creation_times_.Of(snapshot->data, taken.host_time, redacted.device_row_is_new);
  snapshot->host_time = taken.host_time;
  snapshot->host_time_error = taken.host_time_error;
  snapshot->steady_time = taken.steady_time;
  snapshot->publication = ++publication_;
  ReportQuality(*snapshot);
  store_.Publish(device_, std::move(snapshot));
  return absl::OkStatus();
}

void DeviceCollector::ReportQuality(const DeviceSnapshot& snapshot) {
  const DeviceInfo& info = store_.devices()[device_];
  for (const Ratio& ratio : ResolveRatios(info.ratios, snapshot.topology->catalog())) {
    for (size_t row = 0; row < snapshot.data.blocks.size(); ++row) {
      bool is_over_one = false;
      RatioOf(ratio, snapshot.Rates(row), &is_over_one);
      if (is_over_one) metrics_.RatioOverOne(info.name);
    }
  }
}

absl::Status DeviceCollector::CollectOnce() {
  const std::string& name = store_.devices()[device_].name;
  const absl::Duration start = clock_.Steady();
  const absl::Status status = [&]() -> absl::Status {
    SIDEBAND_ASSIGN_OR_RETURN(TakenSnapshot taken, reader_.Take());
    SIDEBAND_RETURN_IF_ERROR(CheckInterval(*taken.topology));
    SIDEBAND_RETURN_IF_ERROR(CheckUuid(*taken.topology));
    SIDEBAND_RETURN_IF_ERROR(Publish(std::move(taken)));
    metrics_.SnapshotPublished(name);
    // Another controller may have latched since; what was published is right all the same.
    const absl::Status acknowledged = reader_.Acknowledge();
    return absl::IsAborted(acknowledged) ? absl::OkStatus() : acknowledged;
  }();
  metrics_.CollectDuration(name, clock_.Steady() - start);
  if (!status.ok()) metrics_.CollectError(name, status.code());
  return status;
}

}  // namespace sideband::daemon
