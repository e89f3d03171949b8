// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/copy_engine.h"

#include "proto/mailbox/stream.h"

namespace sideband::mcu {

CopyEngine::CopyEngine(Device& device) : device_(device) {
  const Bytes payload = mailbox::EncodeCatalog(device.catalog());
  catalog_hash_ = mailbox::CatalogHash(payload);
  catalog_ =
      mailbox::EncodeStream({.kind = mailbox::StreamKind::kCatalog, .boot_id = device.identity().boot_id}, payload);
}

void CopyEngine::Latch() {
  mailbox::Snapshot snapshot = device_.Latch();
  snapshot.boot_id = device_.identity().boot_id;
  snapshot.snapshot_id = ++snapshot_id_;
  snapshot.catalog_hash = catalog_hash_;
  snapshot_ = mailbox::EncodeSnapshotStream(snapshot);
}

}  // namespace sideband::mcu
