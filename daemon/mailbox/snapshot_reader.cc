// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/snapshot_reader.h"

#include <algorithm>
#include <utility>

#include "daemon/mailbox/check_against.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/snapshot_stream.h"

namespace sideband::daemon {
namespace {

// Superseded, restarted, or corrupted on the wire in a way that only the complete stream shows.
bool IsWorthAnotherLatch(const absl::Status& status) {
  return absl::IsAborted(status) || absl::IsDataLoss(status) || absl::IsInvalidArgument(status) ||
         absl::IsUnavailable(status);
}

// An inconsistent answer, which may have been another controller's.
bool IsContradiction(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsInvalidArgument(status) || absl::IsInternal(status);
}

HeldSnapshot Held(const std::optional<mailbox::Snapshot>& snapshot) {
  return snapshot ? HeldSnapshot{snapshot->boot_id, snapshot->snapshot_id} : HeldSnapshot{};
}

bool HasRetiredBlock(const mailbox::Snapshot& snapshot) {
  return std::any_of(snapshot.blocks.begin(), snapshot.blocks.end(),
                     [](const mailbox::BlockHeader& block) { return block.state == mailbox::BlockState::kRetired; });
}

}  // namespace

absl::Status SnapshotReader::CheckExtension() {
  if (!extension_checked_) SIDEBAND_RETURN_IF_ERROR(session_.CheckExtension());
  extension_checked_ = true;
  return absl::OkStatus();
}

absl::Status SnapshotReader::FollowCatalog(const mailbox::Snapshot& raw) {
  if (topology_ == nullptr || raw.boot_id != boot_id_ || raw.catalog_hash != topology_->hash()) {
    SIDEBAND_ASSIGN_OR_RETURN(CatalogOfBoot catalog, session_.ReadCatalog());
    topology_ = std::move(catalog.topology);
    boot_id_ = catalog.boot_id;
    // The catalogue is read after the latch and may already be a newer one.
    if (raw.boot_id != boot_id_ || raw.catalog_hash != topology_->hash()) {
      return absl::AbortedError("the catalogue has changed since the latch");
    }
  }
  return CheckAgainst(*topology_, raw);
}

absl::StatusOr<TakenSnapshot> SnapshotReader::LatchAndRead(const LatchStep& latch) {
  TakenSnapshot taken;
  // Before the exchange, so that the age of the snapshot is never understated.
  taken.steady_time = clock_.Steady();
  taken.raw_before = clock_.Raw();
  SIDEBAND_ASSIGN_OR_RETURN(const Latched latched, latch());
  taken.raw_after = clock_.Raw();
  const absl::Duration steady_after = clock_.Steady();
  taken.wall = ReadWall(clock_);
  taken.latched = PlaceBySteady(taken.wall, taken.steady_time, steady_after);
  taken.suspended = clock_.Suspended();
  SIDEBAND_ASSIGN_OR_RETURN(taken.raw, session_.ReadSnapshot(latched, base_ ? &*base_ : nullptr));
  SIDEBAND_RETURN_IF_ERROR(FollowCatalog(taken.raw));
  taken.topology = topology_;
  return taken;
}

absl::StatusOr<TakenSnapshot> SnapshotReader::Take() {
  SIDEBAND_RETURN_IF_ERROR(CheckExtension());
  absl::StatusOr<TakenSnapshot> taken;
  for (int latch = 0; latch < kLatchesMax; ++latch) {
    taken = LatchAndRead([this] { return session_.Latch(Held(base_)); });
    if (taken.ok()) {
      Keep(taken->raw);
      break;
    }
    if (IsContradiction(taken.status())) taken = session_.Explain(taken.status());
    StartAnew();
    if (!IsWorthAnotherLatch(taken.status())) break;
  }
  return taken;
}

// Neither end needs the counters of blocks in a base that are always sent whole.
void SnapshotReader::Keep(const mailbox::Snapshot& raw) {
  taken_ = mailbox::AsBase(raw, mailbox::VmsWrittenWhole(topology_->catalog()));
}

// The device may have restarted or have lost the base, so the next latch is complete.
void SnapshotReader::StartAnew() {
  base_.reset();
  taken_.reset();
  extension_checked_ = false;  // the address may be another device's from now on
}

bool SnapshotReader::IsOfBase(const ConfigChange& change) const {
  return base_ && !taken_ && base_->boot_id == change.boot_id && base_->catalog_hash == change.catalog_hash;
}

absl::StatusOr<TakenSnapshot> SnapshotReader::TakeClosing(ConfigWriter& writer, const ConfigChange& change,
                                                          std::optional<CommittedConfig>& committed) {
  if (!IsOfBase(change)) return absl::FailedPreconditionError("the change belongs to another boot or catalogue");
  SIDEBAND_RETURN_IF_ERROR(CheckExtension());
  // A COMMIT names no base: its snapshot is relative to the acknowledged one, which may be another controller's. If the
  // device has restarted instead, the change is refused, since it names its boot.
  const absl::Status is_base = session_.Acknowledge(Held(base_));
  if (!is_base.ok() && !absl::IsAborted(is_base)) return is_base;
  auto taken = LatchAndRead([&]() -> absl::StatusOr<Latched> {
    SIDEBAND_ASSIGN_OR_RETURN(committed, writer.Commit(change));
    return session_.OpenClosing(committed->closing_id, /*is_whole=*/!is_base.ok());
  });
  if (taken.ok()) {
    Keep(taken->raw);
  } else if (committed) {
    StartAnew();
  }
  return taken;
}

absl::Status SnapshotReader::Acknowledge() {
  if (!taken_) return absl::FailedPreconditionError("there is no snapshot to acknowledge");
  base_ = std::exchange(taken_, std::nullopt);
  // Otherwise the next LATCH acknowledges it, which saves a tenth of the bus time of a quiet device
  // (docs/decisions/0009).
  return HasRetiredBlock(*base_) ? session_.Acknowledge(Held(base_)) : absl::OkStatus();
}

}  // namespace sideband::daemon
