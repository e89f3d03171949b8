// SPDX-License-Identifier: Apache-2.0
//
// A malicious device: it obeys the protocol only as far as needed to lead a controller to the next trap. Packet error
// codes and checksums are correct; its script determines statuses, ids, lengths, counts and blocks, and some answers on
// the wire.
//   HostileDevice device(script, mailbox::ExtensionVersion::kTwo);
//   InProcessTransport wire(device);
#ifndef SIDEBAND_TESTS_SIMULATION_HOSTILE_DEVICE_H_
#define SIDEBAND_TESTS_SIMULATION_HOSTILE_DEVICE_H_

#include <cstdint>

#include "proto/base/bytes.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/snapshot.h"
#include "proto/smbus/transfer.h"
#include "secure_mcu/firmware/command_handler.h"
#include "secure_mcu/firmware/mailbox_target.h"

namespace sideband::tests {

// Not thread-safe. Its behaviour depends on the script only. After the script's end it acknowledges no transaction.
class HostileDevice final : public smbus::Bus, private mcu::CommandHandler {
 public:
  static constexpr uint8_t kAddress = 0x4F;

  // `script` must outlive this object. A device of version 2 has its own registers and their signature.
  HostileDevice(ByteSpan script, mailbox::ExtensionVersion version);

  smbus::TransferResult Execute(const smbus::Transfer& transfer) override;

  // The first snapshot and its catalogue, from which the device makes its streams: two slices, on each a VM with one
  // context, the second confidential; an event with a capacity, and resident_cycles. A second passes between latches.
  static mailbox::Catalog ExampleCatalog();
  static mailbox::Snapshot ExampleSnapshot(mailbox::ExtensionVersion version = mailbox::ExtensionVersion::kOne);

 private:
  Reply Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) override;
  ByteSpan Window(uint8_t index) const override;

  uint8_t Next() const { return script_.U8(); }
  bool OneIn(uint8_t cases) const { return Next() % cases == 0; }
  // Returns `honest`, or a malicious number, as the script determines.
  uint32_t Number(uint32_t honest);
  // Returns `payload` with some bytes or numbers replaced from the script.
  Bytes Spoiled(Bytes payload);
  Reply Discover(mailbox::DiscoverItem item);
  // Lies that keep to the format.
  void LieInTheCatalog();
  void LieInTheSnapshot();
  void MakeCatalog();
  // Makes a snapshot, relative to the acknowledged one if its id is `base_id`.
  void MakeSnapshot(uint32_t base_id);
  Reply Stream(const mailbox::CommandWord& command, uint32_t offset);

  mutable ByteReader script_;
  const mailbox::ExtensionVersion version_;
  mcu::MailboxTarget target_;
  mcu::VirtualBus bus_;
  uint32_t snapshot_id_ = 0;
  uint32_t acknowledged_id_ = 0;
  mailbox::Catalog catalog_;
  mailbox::Snapshot latched_;
  mailbox::Snapshot acknowledged_;
  Bytes stream_;  // the stream that the windows expose, starting at offset_
  uint32_t offset_ = 0;
  uint8_t window_bytes_ = 0;
  mutable Bytes window_;
};

}  // namespace sideband::tests

#endif  // SIDEBAND_TESTS_SIMULATION_HOSTILE_DEVICE_H_
