// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/copy_engine.h"

#include "proto/mailbox/stream.h"

namespace sideband::mcu {

CopyEngine::CopyEngine(Device& device) : device_(device) { EncodeCatalog(); }

void CopyEngine::EncodeCatalog() {
  const Bytes payload = mailbox::EncodeCatalog(device_.catalog());
  catalog_version_ = device_.catalog_version();
  catalog_hash_ = mailbox::CatalogHash(payload);
  catalog_ =
      mailbox::EncodeStream({.kind = mailbox::StreamKind::kCatalog, .boot_id = device_.identity().boot_id}, payload);
}

void CopyEngine::Latch() {
  mailbox::Snapshot snapshot = device_.Latch();
  if (device_.catalog_version() != catalog_version_) EncodeCatalog();
  snapshot.boot_id = device_.identity().boot_id;
  snapshot.snapshot_id = ++snapshot_id_;
  snapshot.catalog_hash = catalog_hash_;
  snapshot_ = mailbox::EncodeSnapshotStream(snapshot);
}

}  // namespace sideband::mcu
