// SPDX-License-Identifier: Apache-2.0
//
// The copy engine: latches the memory blocks and holds the snapshot until the next latch, so that it can be read in
// pieces. It also keeps the snapshot that the controller acknowledged last, so that later latches can be encoded
// relative to it. (pipeline.md, "Memory blocks"; patent text, paragraph 79.)
//   CopyEngine engine(device, mailbox::ExtensionVersion::kTwo);
//   engine.Latch(/*base_id=*/0);
//   Send(engine.stream());
//   engine.Acknowledge();
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_COPY_ENGINE_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_COPY_ENGINE_H_

#include <cstdint>
#include <optional>

#include "proto/base/bytes.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/snapshot.h"
#include "secure_mcu/firmware/device.h"

namespace sideband::mcu {

// Not thread-safe.
class CopyEngine {
 public:
  // The blocks of the latched snapshot that a stream contains.
  struct Selection {
    mailbox::ReadSelector selector = mailbox::ReadSelector::kLatched;
    uint16_t vm = 0;       // for kVm and kContext
    uint16_t context = 0;  // for kContext
    bool operator==(const Selection&) const = default;
  };

  // `device` must outlive it. `version` determines the encoding of the streams.
  CopyEngine(Device& device, mailbox::ExtensionVersion version);

  // Takes a new snapshot with its matching catalogue, and discards the previous one. `base_id` is the snapshot that the
  // controller holds, 0 for none: if it is the latched snapshot, it is acknowledged; if it is the acknowledged one, the
  // new snapshot is encoded relative to it.
  void Latch(uint32_t base_id);
  // 0 before the first latch; ids count up from 1.
  uint32_t snapshot_id() const { return latched_.snapshot_id; }
  // The snapshot that the controller acknowledged last; 0: none.
  uint32_t acknowledged_id() const { return base_ ? base_->snapshot_id : 0; }
  // Encodes the selected blocks of the latched snapshot as the stream, unless the stream has that selection already.
  // The stream is empty if no block matches.
  void Select(const Selection& selection);
  // The stream of the last latch or selection.
  ByteSpan stream() const { return stream_; }

  ByteSpan catalog() const { return catalog_; }
  uint32_t catalog_hash() const { return catalog_hash_; }

  // The controller holds the latched snapshot: makes it the base and notifies the device. Repeating it has no effect.
  void Acknowledge();

 private:
  void EncodeCatalog();
  Bytes Encode(const Selection& selection) const;
  Bytes Encode(const mailbox::Snapshot& snapshot, const mailbox::Snapshot* base) const;

  Device& device_;
  const mailbox::ExtensionVersion version_;
  Bytes catalog_;
  uint64_t catalog_version_ = 0;
  uint32_t catalog_hash_ = 0;
  mailbox::RotationLayout layout_;
  mailbox::VmIds whole_;  // VMs of the catalogue whose blocks are written whole
  mailbox::Snapshot latched_;
  bool is_relative_ = false;               // to base_
  std::optional<mailbox::Snapshot> base_;  // last acknowledged snapshot
  Bytes stream_;                           // of latched_, according to selected_
  Selection selected_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_COPY_ENGINE_H_
