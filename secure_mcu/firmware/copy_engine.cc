// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/copy_engine.h"

#include <utility>

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
                .counters_per_block = whole.counters_per_block};
  for (size_t i = 0; i < whole.blocks.size(); ++i) {
    if (!IsSelected(selection, whole.blocks[i])) continue;
    part.blocks.push_back(whole.blocks[i]);
    part.counters.insert(part.counters.end(), whole.Counters(i).begin(), whole.Counters(i).end());
  }
  return part;
}

}  // namespace

CopyEngine::CopyEngine(Device& device) : device_(device) { EncodeCatalog(); }

void CopyEngine::EncodeCatalog() {
  const Bytes payload = mailbox::EncodeCatalog(device_.catalog());
  catalog_version_ = device_.catalog_version();
  catalog_hash_ = mailbox::CatalogHash(payload);
  confidential_ = mailbox::ConfidentialVms(device_.catalog());
  catalog_ =
      mailbox::EncodeStream({.kind = mailbox::StreamKind::kCatalog, .boot_id = device_.identity().boot_id}, payload);
}

void CopyEngine::Latch(uint32_t base_id) {
  if (base_id != 0 && base_id == latched_.snapshot_id) Acknowledge();
  const uint32_t id = latched_.snapshot_id + 1;
  latched_ = device_.Latch();
  if (device_.catalog_version() != catalog_version_) EncodeCatalog();
  latched_.boot_id = device_.identity().boot_id;
  latched_.snapshot_id = id;
  latched_.catalog_hash = catalog_hash_;
  is_relative_ = base_id != 0 && base_ && base_->snapshot_id == base_id;
  selected_ = {};
  stream_ = Encode(selected_);
}

Bytes CopyEngine::Encode(const Selection& selection) const {
  switch (selection.selector) {
    case ReadSelector::kLatched:
      return mailbox::EncodeSnapshotStream(latched_, is_relative_ ? &*base_ : nullptr, confidential_);
    case ReadSelector::kWhole:
      return mailbox::EncodeSnapshotStream(latched_, nullptr, confidential_);
    case ReadSelector::kVm:
    case ReadSelector::kContext:
      break;
  }
  const Snapshot part = Part(latched_, selection);
  return part.blocks.empty() ? Bytes() : mailbox::EncodeSnapshotStream(part, nullptr, confidential_);
}

void CopyEngine::Select(const Selection& selection) {
  if (selection == selected_) return;
  selected_ = selection;
  stream_ = Encode(selection);
}

void CopyEngine::Acknowledge() {
  if (base_ && base_->snapshot_id == latched_.snapshot_id) return;  // said again
  base_ = mailbox::AsBase(latched_, confidential_);
  is_relative_ = false;
  device_.Acknowledge();
}

}  // namespace sideband::mcu
