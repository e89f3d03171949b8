// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/register_port.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/word.h"
#include "proto/smbus/transfer.h"

namespace sideband::daemon {
namespace {

using smbus::Message;
using smbus::Outcome;

constexpr size_t kCountBytes = 1;
constexpr size_t kPecBytes = 1;

const char* OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
      return "ok";
    case Outcome::kAddressNack:
      return "address_nack";
    case Outcome::kDataNack:
      return "data_nack";
    case Outcome::kArbitrationLost:
      return "arbitration_lost";
    case Outcome::kTimeout:
      return "timeout";
    case Outcome::kBadCount:
      return "bad_count";
  }
  return "unknown";
}

absl::Status OutcomeStatus(Outcome outcome, uint8_t address) {
  if (outcome == Outcome::kOk) return absl::OkStatus();  // of nearly all transactions, without a text
  const std::string where = absl::StrFormat("device at 0x%02x: ", address);
  switch (outcome) {
    case Outcome::kOk:
      return absl::OkStatus();
    case Outcome::kAddressNack:
      return absl::UnavailableError(where + "no device answers at the address");
    case Outcome::kDataNack:
      return absl::UnavailableError(where + "refused a byte");
    case Outcome::kArbitrationLost:
      return absl::AbortedError(where + "another controller has the bus");
    case Outcome::kTimeout:
      return absl::DeadlineExceededError(where + "held the clock for too long");
    case Outcome::kBadCount:
      return absl::DataLossError(where + "sent an impossible block length");
  }
  return absl::InternalError(where + "unknown outcome");
}

}  // namespace

absl::StatusOr<smbus::TransferResult> RegisterPort::Try(const smbus::Transfer& transfer) {
  auto result = transport_.Execute(transfer);
  if (!result.ok()) {
    // DATA_LOSS: the adapter checks the PEC itself and found it wrong.
    on_outcome_(absl::IsDataLoss(result.status()) ? "bad_pec" : "bus_error");
    return result.status();
  }
  if (result->outcome != Outcome::kOk) on_outcome_(OutcomeName(result->outcome));
  SIDEBAND_RETURN_IF_ERROR(OutcomeStatus(result->outcome, address_));
  return result;
}

absl::StatusOr<Outcome> RegisterPort::WriteOnce(uint8_t code, uint32_t value) {
  ByteWriter block;
  block.U32(value);
  return WriteBlockOnce(code, block.written());
}

absl::StatusOr<Outcome> RegisterPort::WriteBlockOnce(uint8_t code, ByteSpan block) {
  ByteWriter out;
  out.U8(code);
  out.U8(static_cast<uint8_t>(block.size()));
  out.Raw(block);
  // The PEC covers the address byte, too, although the adapter sends it.
  const uint8_t address_byte = smbus::AddressByte(address_, /*read=*/false);
  out.U8(smbus::Pec(out.written(), smbus::Pec({&address_byte, 1})));
  const auto result = transport_.Execute({{Message::Write(address_, std::move(out).Take())}});
  on_outcome_(result.ok() ? OutcomeName(result->outcome) : "bus_error");
  SIDEBAND_RETURN_IF_ERROR(result.status());
  return result->outcome;
}

absl::Status RegisterPort::StatusOf(Outcome outcome) const { return OutcomeStatus(outcome, address_); }

absl::Status RegisterPort::Write(uint8_t code, uint32_t value) {
  ByteWriter block;
  block.U32(value);
  return WriteBlock(code, block.written());
}

absl::Status RegisterPort::WriteBlock(uint8_t code, ByteSpan block) {
  Outcome outcome = Outcome::kOk;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    // Any failure on the wire is retried: writing a register or a window twice has no further effect.
    SIDEBAND_ASSIGN_OR_RETURN(outcome, WriteBlockOnce(code, block));
    if (outcome == Outcome::kOk) break;
  }
  return StatusOf(outcome);
}

absl::StatusOr<Bytes> RegisterPort::TryProbe(uint8_t code, uint8_t size) {
  // A read of fixed size: the adapter does not have to evaluate the count byte during the transfer.
  const auto read_size = static_cast<uint16_t>(kCountBytes + size + kPecBytes);
  SIDEBAND_ASSIGN_OR_RETURN(const smbus::TransferResult result,
                            Try({{Message::Write(address_, {code}), Message::Read(address_, read_size)}}));
  if (result.read.size() != 1 || result.read[0].size() != read_size || result.read[0][0] != size) return Bytes();
  const Bytes& block = result.read[0];
  const uint8_t before[] = {smbus::AddressByte(address_, false), code, smbus::AddressByte(address_, true)};
  if (smbus::Pec(block, smbus::Pec(before)) != 0) {  // the checksum over data and PEC is 0 if correct
    on_outcome_("bad_pec");
    return absl::DataLossError(absl::StrFormat("device at 0x%02x: wrong PEC", address_));
  }
  on_outcome_("ok");
  return Bytes(block.begin() + kCountBytes, block.end() - kPecBytes);
}

absl::StatusOr<Bytes> RegisterPort::TryReadBlock(uint8_t code, uint8_t size) {
  auto block = TryProbe(code, size);
  if (!block.ok() || !block->empty()) return block;
  on_outcome_("bad_length");
  return absl::DataLossError(absl::StrFormat("device at 0x%02x: wrong block length", address_));
}

absl::StatusOr<Bytes> RegisterPort::Probe(uint8_t code, uint8_t size) {
  absl::StatusOr<Bytes> block;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    block = TryProbe(code, size);
    if (block.ok()) break;
  }
  if (block.ok() && block->empty()) on_outcome_("ok");  // the transaction was as it should be
  return block;
}

absl::StatusOr<Bytes> RegisterPort::ReadBlock(uint8_t code, uint8_t size) {
  absl::StatusOr<Bytes> block;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    // A read changes nothing in the device, so that any failure may be retried.
    block = TryReadBlock(code, size);
    if (block.ok()) break;
  }
  return block;
}

uint8_t RegisterPort::block_bytes_max() const {
  return static_cast<uint8_t>(std::clamp<size_t>(transport_.block_bytes_max(), 1, smbus::kBlockBytesMax));
}

absl::StatusOr<uint32_t> RegisterPort::Read(uint8_t code) {
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes block, ReadBlock(code, mailbox::kRegisterBytes));
  return ByteReader(block).U32();
}

}  // namespace sideband::daemon
