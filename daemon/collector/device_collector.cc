// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_collector.h"

#include <openssl/crypto.h>

#include <utility>

#include "daemon/collector/rates.h"
#include "daemon/collector/redact.h"
#include "daemon/collector/seal_vms.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {

DeviceCollector::DeviceCollector(size_t device, Store& store, MailboxSession& session, SealerSet& sealers,
                                 SelfMetrics& metrics, const Clock& clock)
    : device_(device), store_(store), session_(session), sealers_(sealers), metrics_(metrics), clock_(clock) {}

DeviceCollector::Taken::~Taken() { OPENSSL_cleanse(raw.counters.data(), raw.counters.size() * sizeof(uint64_t)); }

absl::StatusOr<DeviceCollector::Taken> DeviceCollector::LatchAndRead() {
  Taken taken;
  const absl::Time before = clock_.Now();
  taken.steady_time = clock_.Steady();
  SIDEBAND_ASSIGN_OR_RETURN(taken.latched, session_.Latch());
  taken.host_time_error = (clock_.Steady() - taken.steady_time) / 2;
  taken.host_time = before + taken.host_time_error;
  SIDEBAND_ASSIGN_OR_RETURN(taken.raw, session_.ReadSnapshot(taken.latched));
  return taken;
}

absl::StatusOr<DeviceCollector::Taken> DeviceCollector::TakeSnapshot() {
  absl::StatusOr<Taken> taken;
  for (int latch = 0; latch < kLatchesMax; ++latch) {
    taken = LatchAndRead();
    // Superseded, or spoiled on the wire in a way that only the whole stream showed.
    if (!absl::IsAborted(taken.status()) && !absl::IsDataLoss(taken.status()) &&
        !absl::IsInvalidArgument(taken.status())) {
      break;
    }
  }
  return taken;
}

absl::Status DeviceCollector::FollowCatalog(const mailbox::Snapshot& raw) {
  if (topology_ != nullptr && raw.boot_id == boot_id_ && raw.catalog_hash == topology_->hash()) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(CatalogOfBoot catalog, session_.ReadCatalog());
  topology_ = std::move(catalog.topology);
  boot_id_ = catalog.boot_id;
  // Another change in between is no error of the device's: the next snapshot will fit.
  if (raw.boot_id != boot_id_) return absl::AbortedError("the device restarted between a snapshot and its catalogue");
  return absl::OkStatus();
}

absl::Status DeviceCollector::Publish(Taken taken) {
  const DeviceInfo& info = store_.devices()[device_];
  SIDEBAND_RETURN_IF_ERROR(CheckAgainst(*topology_, taken.raw));
  auto snapshot = std::make_shared<DeviceSnapshot>();
  SIDEBAND_ASSIGN_OR_RETURN(snapshot->sealed, SealVms(info, *topology_, taken.raw, taken.host_time, sealers_));
  for (size_t i = 0; i < snapshot->sealed.size(); ++i) metrics_.SealedRecord(info.name);
  const auto before = store_.Newest(device_);
  snapshot->topology = topology_;
  snapshot->data = Redact(*topology_, std::move(taken.raw));
  snapshot->rates = Rates(before == nullptr ? nullptr : &before->data, snapshot->data);
  snapshot->device_scope_withheld = topology_->has_confidential_vm();
  snapshot->host_time = taken.host_time;
  snapshot->host_time_error = taken.host_time_error;
  snapshot->steady_time = taken.steady_time;
  snapshot->publication = ++publication_;
  store_.Publish(device_, std::move(snapshot));
  return absl::OkStatus();
}

absl::Status DeviceCollector::CollectOnce() {
  const std::string& name = store_.devices()[device_].name;
  const absl::Duration start = clock_.Steady();
  const absl::Status status = [&]() -> absl::Status {
    if (!extension_checked_) SIDEBAND_RETURN_IF_ERROR(session_.CheckExtension());
    extension_checked_ = true;
    SIDEBAND_ASSIGN_OR_RETURN(Taken taken, TakeSnapshot());
    const Latched latched = taken.latched;
    SIDEBAND_RETURN_IF_ERROR(FollowCatalog(taken.raw));
    SIDEBAND_RETURN_IF_ERROR(Publish(std::move(taken)));
    metrics_.SnapshotPublished(name);
    // Another controller may have latched since; what was published is right all the same.
    const absl::Status acknowledged = session_.Acknowledge(latched);
    return absl::IsAborted(acknowledged) ? absl::OkStatus() : acknowledged;
  }();
  metrics_.CollectDuration(name, clock_.Steady() - start);
  if (!status.ok()) {
    metrics_.CollectError(name, status.code());
    extension_checked_ = false;  // another device may answer next time
  }
  return status;
}

}  // namespace sideband::daemon
