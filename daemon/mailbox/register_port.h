// SPDX-License-Identifier: Apache-2.0
//
// The mailbox's registers and windows as SMBus transactions with PEC, each tried again a bounded number of times.
//   RegisterPort port(transport, 0x4F, on_outcome);
//   SIDEBAND_RETURN_IF_ERROR(port.Write(mailbox::kDataRegister, offset));
//   SIDEBAND_ASSIGN_OR_RETURN(const uint32_t status, port.Read(mailbox::kCommandRegister));
#ifndef SIDEBAND_DAEMON_MAILBOX_REGISTER_PORT_H_
#define SIDEBAND_DAEMON_MAILBOX_REGISTER_PORT_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "daemon/transport/transport.h"
#include "proto/base/bytes.h"

namespace sideband::daemon {

// Used by one thread at a time.
class RegisterPort {
 public:
  // A transaction that the wire spoiled is tried so often in all.
  static constexpr int kAttemptsMax = 4;
  // Told how each transaction ended: "ok", "address_nack", …, "bad_pec", "bad_length", "bus_error".
  using OnOutcome = std::function<void(absl::string_view)>;

  // `transport` must outlive the port.
  RegisterPort(Transport& transport, uint8_t address, OnOutcome on_outcome)
      : transport_(transport), address_(address), on_outcome_(std::move(on_outcome)) {}

  // A 32-bit register. UNAVAILABLE where nobody answers at the address, ABORTED for arbitration lost to the end,
  // DEADLINE_EXCEEDED for a clock held too long, DATA_LOSS for a wrong PEC or length to the end; else the transport's.
  // A write is tried again as long as there is an outcome: to set a register twice changes nothing.
  absl::Status Write(uint8_t code, uint32_t value);
  // One attempt: how the transaction ended on the wire. For the command register, since a target may have acted on a
  // write that was spoiled near its end, and its inputs are then no longer what they were.
  absl::StatusOr<smbus::Outcome> WriteOnce(uint8_t code, uint32_t value);
  // The status that an outcome stands for.
  absl::Status StatusOf(smbus::Outcome outcome) const;
  absl::StatusOr<uint32_t> Read(uint8_t code);
  // A block of `size` bytes, 1 to 255; one of another length is DATA_LOSS. The length must be known, since Linux lets
  // the count byte decide only for blocks of up to 32 bytes.
  absl::StatusOr<Bytes> ReadBlock(uint8_t code, uint8_t size);
  // The largest block that can be read.
  uint8_t block_bytes_max() const;

 private:
  absl::StatusOr<smbus::TransferResult> Try(const smbus::Transfer& transfer);
  absl::StatusOr<Bytes> TryReadBlock(uint8_t code, uint8_t size);

  Transport& transport_;
  const uint8_t address_;
  const OnOutcome on_outcome_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MAILBOX_REGISTER_PORT_H_
