// SPDX-License-Identifier: Apache-2.0
//
// The copy engine: latches the memory blocks and holds them as a stream until the next latch, so that they can be read
// in pieces. (pipeline.md, "Memory blocks"; patent text, paragraph 79.)
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_COPY_ENGINE_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_COPY_ENGINE_H_

#include <cstdint>

#include "proto/base/bytes.h"
#include "secure_mcu/firmware/device.h"

namespace sideband::mcu {

// Not thread-safe.
class CopyEngine {
 public:
  // `device` must outlive it.
  explicit CopyEngine(Device& device);

  // A new snapshot, with the catalogue that fits it; those before are gone.
  void Latch();
  // 0 before the first latch; ids count up from 1.
  uint32_t snapshot_id() const { return snapshot_id_; }
  ByteSpan snapshot() const { return snapshot_; }

  ByteSpan catalog() const { return catalog_; }
  uint32_t catalog_hash() const { return catalog_hash_; }

  // The controller holds this snapshot.
  void Acknowledge() { device_.Acknowledge(); }

 private:
  void EncodeCatalog();

  Device& device_;
  Bytes catalog_;
  uint64_t catalog_version_ = 0;
  uint32_t catalog_hash_ = 0;
  Bytes snapshot_;
  uint32_t snapshot_id_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_COPY_ENGINE_H_
