// SPDX-License-Identifier: Apache-2.0
//
// A device that means harm: it keeps to the protocol just as far as it takes to get a controller to the next trap.
// Packet error codes and checksums are right; statuses, ids, lengths, counts and blocks are whatever its script says.
// On the wire, too, some answers are the script's.
//   HostileDevice device(script);
//   InProcessTransport wire(device);
#ifndef SIDEBAND_TESTS_SIMULATION_HOSTILE_DEVICE_H_
#define SIDEBAND_TESTS_SIMULATION_HOSTILE_DEVICE_H_

#include <cstdint>

#include "proto/base/bytes.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"
#include "proto/smbus/bus.h"
#include "secure_mcu/bus/command_handler.h"
#include "secure_mcu/bus/mailbox_target.h"
#include "secure_mcu/bus/virtual_bus.h"

namespace sideband::tests {

// Not thread-safe. A function of its script alone. When that has ended it acknowledges nothing any more.
class HostileDevice final : public smbus::Bus, private mcu::CommandHandler {
 public:
  static constexpr uint8_t kAddress = 0x4F;

  // `script` must outlive it.
  explicit HostileDevice(ByteSpan script);

  smbus::TransferResult Execute(const smbus::Transfer& transfer) override;

  // A snapshot and the catalogue that fits it, from which it makes its streams.
  static mailbox::Catalog ExampleCatalog();
  static mailbox::Snapshot ExampleSnapshot();

 private:
  Reply Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) override;
  ByteSpan Window(uint8_t index) const override;

  uint8_t Next() const { return script_.U8(); }
  bool OneIn(uint8_t cases) const { return Next() % cases == 0; }
  // `honest`, or a number that hurts.
  uint32_t Number(uint32_t honest);
  // Some bytes, or numbers, of it are the script's.
  Bytes Spoiled(Bytes payload);
  void MakeCatalog();
  // Relative to the acknowledged one where that is `base_id`.
  void MakeSnapshot(uint32_t base_id);
  Reply Stream(const mailbox::CommandWord& command, uint32_t offset);

  mutable ByteReader script_;
  mcu::MailboxTarget target_{kAddress, *this};
  mcu::VirtualBus bus_;
  uint32_t snapshot_id_ = 0;
  uint32_t acknowledged_id_ = 0;
  Bytes stream_;  // that the windows show, from offset_ on
  uint32_t offset_ = 0;
  uint8_t window_bytes_ = 0;
  mutable Bytes window_;
};

}  // namespace sideband::tests

#endif  // SIDEBAND_TESTS_SIMULATION_HOSTILE_DEVICE_H_
