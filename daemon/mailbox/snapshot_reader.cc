// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/snapshot_reader.h"

#include <algorithm>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {
namespace {

// Number of blocks that are always sent in full: those of confidential VMs and their contexts, and the device's beside
// one that is not private (docs/decisions/0009).
size_t WholeBlocks(const mailbox::Catalog& catalog) {
  const mailbox::VmIds whole = mailbox::VmsWrittenWhole(catalog);
  const auto contexts = std::ranges::count_if(
      catalog.contexts, [&](uint16_t vm) { return whole.contains(vm); }, &mailbox::ContextInfo::vm);
  return whole.size() + static_cast<size_t>(contexts);
}

absl::Duration TimeOf(size_t stream_bytes, uint32_t bus_hz, uint32_t window_bytes) {
  return absl::Seconds(1) * static_cast<int64_t>(mailbox::CostOfSnapshot(stream_bytes, window_bytes).bit_times) /
         static_cast<int64_t>(bus_hz);
}

bool IsKnown(const Topology& topology, const mailbox::BlockHeader& block) {
  if (mailbox::IsHostBlock(block)) return topology.HasHostBlock(block.context);
  if (block.vm == mailbox::kHypervisorVm) return true;
  if (block.context == mailbox::kNoContext) return topology.FindVm(block.vm) != nullptr;
  return topology.FindContext(block.vm, block.context) != nullptr;
}

bool IsConfidential(const mailbox::Catalog& catalog, uint16_t vm) {
  return std::ranges::any_of(catalog.vms, [&](const auto& info) { return info.id == vm && info.confidential; });
}

// A device that seals has no blocks of confidential VMs in its snapshots.
size_t ConfidentialBlocks(const mailbox::Catalog& catalog) {
  const auto is_confidential = [&](uint16_t vm) { return IsConfidential(catalog, vm); };
  return std::ranges::count_if(catalog.vms, is_confidential, &mailbox::VmInfo::id) +
         std::ranges::count_if(catalog.contexts, is_confidential, &mailbox::ContextInfo::vm);
}

// No scope occurs twice in a decoded snapshot, so equal numbers and known scopes mean that every scope is present.
absl::Status CheckBlocks(const Topology& topology, const mailbox::Snapshot& snapshot) {
  const mailbox::Catalog& catalog = topology.catalog();
  const bool has_confidential = std::ranges::any_of(
      snapshot.blocks, [&](const mailbox::BlockHeader& block) { return IsConfidential(catalog, block.vm); });
  const size_t all = 1 + catalog.vms.size() + catalog.contexts.size() + catalog.host_blocks.size();
  if (snapshot.blocks.size() != all - (has_confidential ? 0 : ConfidentialBlocks(catalog))) {
    return absl::InvalidArgumentError("the snapshot does not have the catalogue's blocks");
  }
  for (const mailbox::BlockHeader& block : snapshot.blocks) {
    if (!IsKnown(topology, block)) return absl::InvalidArgumentError("the snapshot has a block of an unknown scope");
  }
  return absl::OkStatus();
}

absl::Status CheckSealed(const Topology& topology, const mailbox::Snapshot& snapshot) {
  for (const mailbox::SealedBlocks& sealed : snapshot.sealed) {
    const auto has_block = [&](const mailbox::BlockHeader& block) { return block.vm == sealed.vm; };
    if (IsConfidential(topology.catalog(), sealed.vm) && std::ranges::none_of(snapshot.blocks, has_block)) continue;
    return absl::InvalidArgumentError(
        "the snapshot has a sealed record beside the VM's blocks, or of a VM that is not confidential");
  }
  return absl::OkStatus();
}

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

BusBudget BudgetOf(const Topology& topology, uint32_t bus_hz, uint32_t window_bytes) {
  const mailbox::Catalog& catalog = topology.catalog();
  const size_t blocks = 1 + catalog.vms.size() + catalog.contexts.size() + catalog.host_blocks.size();
  const size_t counters = catalog.events.size();
  const mailbox::RotationShape rotation = mailbox::ShapeOf(catalog);
  const size_t domains = catalog.clock_domains.size();
  const size_t least = mailbox::SnapshotStreamBytesMin(blocks, WholeBlocks(catalog), counters, rotation, domains);
  const size_t most = mailbox::SnapshotStreamBytesMax(blocks, counters, rotation, domains);
  return {TimeOf(least, bus_hz, window_bytes), TimeOf(most, bus_hz, window_bytes)};
}

absl::Status CheckAgainst(const Topology& topology, const mailbox::Snapshot& snapshot) {
  if (snapshot.catalog_hash != topology.hash() || snapshot.counters_per_block != topology.catalog().events.size()) {
    return absl::InvalidArgumentError("the snapshot does not belong to this catalogue");
  }
  const bool has_device = !snapshot.blocks.empty() && snapshot.blocks[0].vm == mailbox::kHypervisorVm;
  if (!has_device || mailbox::IsHostBlock(snapshot.blocks[0])) {
    return absl::InvalidArgumentError("the snapshot does not start with the device's own block");
  }
  if (!snapshot.rotation.empty() && snapshot.layout != mailbox::LayoutOf(topology.catalog())) {
    return absl::InvalidArgumentError("the snapshot's rotation does not match this catalogue");
  }
  if (!snapshot.clocks.empty() && snapshot.clocks.size() != topology.catalog().clock_domains.size()) {
    return absl::InvalidArgumentError("the snapshot's clocks do not match this catalogue");
  }
  SIDEBAND_RETURN_IF_ERROR(CheckBlocks(topology, snapshot));
  return CheckSealed(topology, snapshot);
}

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
