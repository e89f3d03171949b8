// SPDX-License-Identifier: Apache-2.0
//
// The copy engine: latches the memory blocks and holds them until the next latch, so that they can be read in pieces;
// and keeps what the controller has acknowledged, so that later latches are written relative to it. (pipeline.md,
// "Memory blocks"; patent text, paragraph 79.)
//   CopyEngine engine(device);
//   engine.Latch(/*base_id=*/0);
//   Send(engine.stream());
//   engine.Acknowledge(engine.snapshot_id());
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_COPY_ENGINE_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_COPY_ENGINE_H_

#include <cstdint>
#include <optional>

#include "proto/base/bytes.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/snapshot_stream.h"
#include "secure_mcu/firmware/device.h"

namespace sideband::mcu {

// Not thread-safe.
class CopyEngine {
 public:
  // Which blocks of the latched snapshot a stream has.
  struct Selection {
    mailbox::ReadSelector selector = mailbox::ReadSelector::kLatched;
    uint16_t vm = 0;       // of kVm and kContext
    uint16_t context = 0;  // of kContext
    bool operator==(const Selection&) const = default;
  };

  // `device` must outlive it.
  explicit CopyEngine(Device& device);

  // A new snapshot, with the catalogue that fits it; those before are gone. The controller holds `base_id`: if that is
  // the latched one it is acknowledged, and if it is the acknowledged one the new one is relative to it.
  void Latch(uint32_t base_id);
  // 0 before the first latch; ids count up from 1.
  uint32_t snapshot_id() const { return latched_.snapshot_id; }
  // Writes such blocks of the latched snapshot as the stream, unless it has them already; empty where there are none.
  void Select(const Selection& selection);
  // What was latched or selected last.
  ByteSpan stream() const { return stream_; }

  ByteSpan catalog() const { return catalog_; }
  uint32_t catalog_hash() const { return catalog_hash_; }

  // The controller holds the latched snapshot.
  void Acknowledge();

 private:
  void EncodeCatalog();
  Bytes Encode(const Selection& selection) const;

  Device& device_;
  Bytes catalog_;
  uint64_t catalog_version_ = 0;
  uint32_t catalog_hash_ = 0;
  mailbox::VmIds confidential_;  // of the catalogue
  mailbox::Snapshot latched_;
  bool is_relative_ = false;               // to base_
  std::optional<mailbox::Snapshot> base_;  // what was acknowledged
  Bytes stream_;                           // of latched_, as selected_ says
  Selection selected_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_COPY_ENGINE_H_
