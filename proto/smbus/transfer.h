// SPDX-License-Identifier: Apache-2.0
//
// One bus transaction: messages joined by repeated STARTs, between one START and one STOP. The structure is that of
// Linux' I2C_RDWR, so that it is the same for the virtual bus and for /dev/i2c-N.
//   Transfer transfer;                                   // block read of command 0x5C at 0x4F:
//   transfer.messages.push_back(Message::Write(0x4F, {0x5C}));
//   transfer.messages.push_back(Message::Read(0x4F, 5));
#ifndef SIDEBAND_PROTO_SMBUS_TRANSFER_H_
#define SIDEBAND_PROTO_SMBUS_TRANSFER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "proto/base/bytes.h"

namespace sideband::smbus {

// Limits of Linux' i2c-dev, which also apply to the virtual bus.
inline constexpr size_t kMessagesMax = 42;
inline constexpr size_t kMessageBytesMax = 8192;
// The largest block of SMBus 3.
inline constexpr size_t kBlockBytesMax = 255;

struct Message {
  uint8_t address;  // 7 bits
  bool read;
  // Read only: the first byte received is the count of the following bytes (Linux' I2C_M_RECV_LEN). `read_size` is then
  // the number of bytes that the controller clocks after those (1 for a PEC byte, else 0).
  bool block = false;
  uint16_t read_size = 0;  // number of bytes that the controller reads
  Bytes write_bytes;       // bytes that the controller writes; empty for a read, and to probe an address

  static Message Write(uint8_t address, Bytes bytes) { return {address, false, false, 0, std::move(bytes)}; }
  static Message Read(uint8_t address, uint16_t size) { return {address, true, false, size, {}}; }
  static Message ReadBlock(uint8_t address, uint16_t beyond) { return {address, true, true, beyond, {}}; }
  bool operator==(const Message&) const = default;
};

struct Transfer {
  std::vector<Message> messages;
  bool operator==(const Transfer&) const = default;
};

// The end of a transaction on the wire. The numbers are part of the virtual bus protocol.
enum class Outcome : uint8_t {
  kOk = 0,
  kAddressNack = 1,      // no target at the address (Linux: ENXIO)
  kDataNack = 2,         // the target refused a byte (EIO)
  kArbitrationLost = 3,  // another controller won the bus (EAGAIN)
  kTimeout = 4,          // the clock was held low for longer than 35 ms (ETIMEDOUT)
  kBadCount = 5,         // a block read's count byte was 0 or above 255 (EPROTO)
};
inline constexpr uint8_t kOutcomeMax = 5;

struct TransferResult {
  Outcome outcome = Outcome::kOk;
  // The received bytes of the read messages, in order. There is one entry per read message if the outcome is kOk.
  std::vector<Bytes> read;
  // How long the target held the clock low, in microseconds.
  uint32_t stretch_us = 0;
  // The controller vanished during the transaction, so no result is sent. Only set by a bus that simulates faults.
  bool controller_died = false;
  bool operator==(const TransferResult&) const = default;
};

}  // namespace sideband::smbus

#endif  // SIDEBAND_PROTO_SMBUS_TRANSFER_H_
