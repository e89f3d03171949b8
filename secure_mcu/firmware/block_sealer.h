// SPDX-License-Identifier: Apache-2.0
//
// The firmware's interface to what seals the blocks of confidential VMs (security.md, "Sealed records"). The records
// themselves are in what Device::Latch returns.
//   BlockSealer* const sealer = device.block_sealer();
//   if (sealer == nullptr) return Fail(mailbox::MailboxStatus::kErrOpcode);
//   const absl::StatusOr<Bytes> challenge = sealer->DrawChallenge(/*vm=*/3);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_BLOCK_SEALER_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_BLOCK_SEALER_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"

namespace sideband::mcu {

// Not thread-safe. A VM is one of the catalogue, by its ID.
class BlockSealer {
 public:
  virtual ~BlockSealer() = default;
  // The bytes of an exchange::Challenge. NOT_FOUND: no such confidential VM, or no guest is trusted with its keys.
  // RESOURCE_EXHAUSTED: too many in too short a time.
  virtual absl::StatusOr<Bytes> DrawChallenge(uint16_t vm) = 0;
  // The answer to an exchange's request, from which on the VM's records are sealed for it. Errors say why the request
  // is refused, and must not leave the device.
  virtual absl::StatusOr<Bytes> Exchange(ByteSpan request) = 0;
  // The number of the VM's newest epoch, which is a new one unless that is unused or a second old at most. NOT_FOUND:
  // its guest has exchanged no keys, or there is no such VM. RESOURCE_EXHAUSTED: its guest has to exchange keys again
  // first.
  virtual absl::StatusOr<uint64_t> Rotate(uint16_t vm) = 0;
  // The records of the VM's newest exchange; nullopt: as NOT_FOUND of Rotate.
  virtual std::optional<uint64_t> Records(uint16_t vm) const = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_BLOCK_SEALER_H_
