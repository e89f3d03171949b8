// SPDX-License-Identifier: Apache-2.0
//
// One bus transaction: messages joined by repeated STARTs, between one START and one STOP; its packet error code and
// its duration. The structure is that of Linux' I2C_RDWR, so that it is the same for the virtual bus and for
// /dev/i2c-N.
//   Transfer transfer;                                   // block read of command 0x5C at 0x4F:
//   transfer.messages.push_back(Message::Write(0x4F, {0x5C}));
//   transfer.messages.push_back(Message::Read(0x4F, 5));
//   const TransferResult result = bus.Execute(transfer);
//   const uint64_t bit_times = BitTimes(transfer, result);   // 75, which are 0.75 ms at 100 kHz
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

// The duration of a transaction in bit times (periods of SCL): 9 for each byte with its acknowledgement, 1 for each
// START, repeated START and STOP (smbpbi-facts.md, 6.1). Clock stretching is not included.
// Counts the bytes read according to `result`, and all bytes to be written, whether they were acknowledged or not.
uint64_t BitTimes(const Transfer& transfer, const TransferResult& result);

// SMBus packet error code: CRC-8 with polynomial x^8+x^2+x+1 (0x07), initial value 0, over every byte of a transaction
// from START to STOP, both address bytes included (SMBus 2.0, section 5.4). Pec("123456789") == 0xF4.
// Returns the code after `bytes`, continuing from `pec`, so that a transaction can be processed in pieces.
uint8_t Pec(ByteSpan bytes, uint8_t pec = 0);

// The byte that carries a 7-bit address: address << 1, plus one for a read.
constexpr uint8_t AddressByte(uint8_t address, bool read) {
  return static_cast<uint8_t>(address << 1 | (read ? 1 : 0));
}

// A bus that executes whole transactions: the targets themselves, or a layer between them and a controller.
// Not thread-safe unless the implementation states otherwise.
class Bus {
 public:
  virtual ~Bus() = default;
  virtual TransferResult Execute(const Transfer& transfer) = 0;
};

}  // namespace sideband::smbus

#endif  // SIDEBAND_PROTO_SMBUS_TRANSFER_H_
