// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/copy_engine.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "proto/mailbox/catalog.h"
#include "proto/mailbox/stream.h"

namespace sideband::mcu {
namespace {

using mailbox::ReadSelector;
using mailbox::Snapshot;

bool IsSelected(const CopyEngine::Selection& selection, const mailbox::BlockHeader& block) {
  const bool is_context = selection.selector == ReadSelector::kContext;
  return block.vm == selection.vm && (!is_context || block.context == selection.context);
}

Snapshot Part(const Snapshot& whole, const CopyEngine::Selection& selection) {
  Snapshot part{.boot_id = whole.boot_id,
                .snapshot_id = whole.snapshot_id,
                .catalog_hash = whole.catalog_hash,
                .trigger_id = whole.trigger_id,
                .reference_time_ns = whole.reference_time_ns,
                .counters_per_block = whole.counters_per_block,
                .layout = whole.layout};
  // A record is of the VM with all its contexts.
  std::ranges::copy_if(whole.sealed, std::back_inserter(part.sealed),
                       [&](const mailbox::SealedBlocks& sealed) { return sealed.vm == selection.vm; });
  for (size_t i = 0; i < whole.blocks.size(); ++i) {
    if (!IsSelected(selection, whole.blocks[i])) continue;
    part.blocks.push_back(whole.blocks[i]);
    if (!whole.rotation.empty()) part.rotation.push_back(whole.rotation[i]);
    part.counters.insert(part.counters.end(), whole.Counters(i).begin(), whole.Counters(i).end());
  }
  return part;
}

}  // namespace

CopyEngine::CopyEngine(Device& device, mailbox::ExtensionVersion version) : device_(device), version_(version) {
  EncodeCatalog();
}

void CopyEngine::EncodeCatalog() {
  const Bytes payload = version_ == mailbox::ExtensionVersion::kOne ? mailbox::EncodeCatalog(device_.catalog())
                                                                    : mailbox::EncodeCatalogSections(device_.catalog());
  catalog_version_ = device_.catalog_version();
  catalog_hash_ = mailbox::CatalogHash(payload);
  whole_ = mailbox::VmsWrittenWhole(device_.catalog());
  layout_ = mailbox::LayoutOf(device_.catalog());
  // Its catalogue does not tell which VMs are private, so that the other end takes no VM for private.
  if (version_ == mailbox::ExtensionVersion::kOne && !whole_.empty()) whole_.insert(mailbox::kHypervisorVm);
  catalog_ = mailbox::EncodeStream({.kind = mailbox::StreamKind::kCatalog,
                                    .framing = mailbox::CatalogFraming(version_),
                                    .boot_id = device_.identity().boot_id},
                                   payload);
}

void CopyEngine::Latch(uint32_t base_id) {
  // First, while latched_ is still the snapshot with this id.
  if (base_id != 0 && base_id == latched_.snapshot_id) Acknowledge();
  const uint32_t id = latched_.snapshot_id + 1;
  latched_ = device_.Latch();
  // The acknowledgement or the latch may have changed the catalogue.
  if (device_.catalog_version() != catalog_version_) EncodeCatalog();
  latched_.boot_id = device_.identity().boot_id;
  latched_.snapshot_id = id;
  latched_.catalog_hash = catalog_hash_;
  if (!latched_.rotation.empty()) latched_.layout = layout_;
  is_relative_ = base_id != 0 && base_ && base_->snapshot_id == base_id;
  selected_ = {};
  stream_ = Encode(selected_);
}

Bytes CopyEngine::Encode(const Selection& selection) const {
  switch (selection.selector) {
    case ReadSelector::kLatched:
      return Encode(latched_, is_relative_ ? &*base_ : nullptr);
    case ReadSelector::kWhole:
      return Encode(latched_, nullptr);
    case ReadSelector::kVm:
    case ReadSelector::kContext:
      break;
  }
  const Snapshot part = Part(latched_, selection);
  return part.blocks.empty() && part.sealed.empty() ? Bytes() : Encode(part, nullptr);
}

Bytes CopyEngine::Encode(const Snapshot& snapshot, const Snapshot* base) const {
  return mailbox::EncodeSnapshotStream(snapshot, base, whole_, mailbox::SnapshotFraming(version_));
}

void CopyEngine::Select(const Selection& selection) {
  // Each READ of a stream names its selection again: the stream is encoded only once.
  if (selection == selected_) return;
  selected_ = selection;
  stream_ = Encode(selection);
}

void CopyEngine::Acknowledge() {
  if (base_ && base_->snapshot_id == latched_.snapshot_id) return;  // repeated
  base_ = mailbox::AsBase(latched_, whole_);
  // The previous base is gone, so latched_ can only be encoded whole from now on.
  is_relative_ = false;
  device_.Acknowledge();
}

}  // namespace sideband::mcu
