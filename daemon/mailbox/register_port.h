// SPDX-License-Identifier: Apache-2.0
//
// The mailbox's registers and windows as SMBus transactions with PEC, with a bounded number of retries.
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
  // Total number of attempts for a transaction that fails on the wire.
  static constexpr int kAttemptsMax = 4;
  // Receives the outcome of each transaction ("ok", "address_nack", …, "bad_pec", "bad_length", "bus_error") and the
  // outcomes passed to Report().
  using OnOutcome = std::function<void(absl::string_view)>;

  // `transport` must outlive the port.
  RegisterPort(Transport& transport, uint8_t address, OnOutcome on_outcome)
      : transport_(transport), address_(address), on_outcome_(std::move(on_outcome)) {}

  // Writes a 32-bit register. Errors: UNAVAILABLE if no device acknowledges the address, ABORTED if arbitration was
  // lost in every attempt, DEADLINE_EXCEEDED if the clock was held too long; otherwise the transport's error. A
  // device refuses a byte (UNAVAILABLE) also because of a wrong PEC. A failed write is retried as long as the transport
  // reports an outcome: writing a register twice has no further effect.
  absl::Status Write(uint8_t code, uint32_t value);
  // Writes once and returns the outcome on the wire. For the command register: the target may have executed a write
  // that failed near its end, and has then overwritten the command's inputs.
  absl::StatusOr<smbus::Outcome> WriteOnce(uint8_t code, uint32_t value);
  // The status that corresponds to an outcome.
  absl::Status StatusOf(smbus::Outcome outcome) const;
  // Writes a block of 1 to 255 bytes, likewise.
  absl::Status WriteBlock(uint8_t code, ByteSpan block);
  absl::StatusOr<uint32_t> Read(uint8_t code);
  // Reads a block of `size` bytes, 1 to 255. A block of another length is DATA_LOSS. The caller must know the length,
  // since Linux takes the length from the count byte only for blocks of up to 32 bytes.
  absl::StatusOr<Bytes> ReadBlock(uint8_t code, uint8_t size);
  // Like ReadBlock, for a block that the device may lack: empty if the device answers with another length. Devices that
  // refuse an unknown code give UNAVAILABLE.
  absl::StatusOr<Bytes> Probe(uint8_t code, uint8_t size);
  // Reports an outcome that is not visible in a single transaction.
  void Report(absl::string_view outcome) const { on_outcome_(outcome); }
  // The largest block that can be read or written, in bytes.
  uint8_t block_bytes_max() const;

 private:
  absl::StatusOr<smbus::Outcome> WriteBlockOnce(uint8_t code, ByteSpan block);
  absl::StatusOr<smbus::TransferResult> Try(const smbus::Transfer& transfer);
  // DATA_LOSS for a wrong PEC; empty if the device has no block of `size` bytes at this code.
  absl::StatusOr<Bytes> TryProbe(uint8_t code, uint8_t size);
  absl::StatusOr<Bytes> TryReadBlock(uint8_t code, uint8_t size);

  Transport& transport_;
  const uint8_t address_;
  const OnOutcome on_outcome_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MAILBOX_REGISTER_PORT_H_
