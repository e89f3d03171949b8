// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/reader.h"

#include <utility>

#include "daemon/collector/redact.h"
#include "proto/base/status_macros.h"

namespace sideband::tests {

absl::StatusOr<Reader::Taken> Reader::LatchAndRead() {
  Taken taken;
  SIDEBAND_ASSIGN_OR_RETURN(taken.latched, session_.Latch());
  SIDEBAND_ASSIGN_OR_RETURN(taken.snapshot, session_.ReadSnapshot(taken.latched));
  return taken;
}

absl::StatusOr<Reader::Taken> Reader::Take() {
  absl::StatusOr<Taken> taken;
  for (int latch = 0; latch < kLatchesMax; ++latch) {
    taken = LatchAndRead();
    const absl::Status& status = taken.status();
    if (!absl::IsAborted(status) && !absl::IsDataLoss(status) && !absl::IsInvalidArgument(status)) break;
  }
  return taken;
}

absl::Status Reader::FollowCatalog(const mailbox::Snapshot& snapshot) {
  if (topology_ != nullptr && snapshot.boot_id == boot_id_ && snapshot.catalog_hash == topology_->hash()) {
    return absl::OkStatus();
  }
  SIDEBAND_ASSIGN_OR_RETURN(daemon::CatalogOfBoot catalog, session_.ReadCatalog());
  topology_ = std::move(catalog.topology);
  boot_id_ = catalog.boot_id;
  if (snapshot.boot_id != boot_id_) return absl::AbortedError("restarted between a snapshot and its catalogue");
  return absl::OkStatus();
}

absl::Status Reader::Collect() {
  if (!extension_checked_) SIDEBAND_RETURN_IF_ERROR(session_.CheckExtension());
  extension_checked_ = true;
  SIDEBAND_ASSIGN_OR_RETURN(const Taken taken, Take());
  SIDEBAND_RETURN_IF_ERROR(FollowCatalog(taken.snapshot));
  SIDEBAND_RETURN_IF_ERROR(daemon::CheckAgainst(*topology_, taken.snapshot));
  accept_(taken.snapshot, *topology_);
  const absl::Status acknowledged = session_.Acknowledge(taken.latched);
  return absl::IsAborted(acknowledged) ? absl::OkStatus() : acknowledged;
}

absl::Status Reader::CollectOnce() {
  const absl::Status status = Collect();
  if (!status.ok()) extension_checked_ = false;
  return status;
}

}  // namespace sideband::tests
