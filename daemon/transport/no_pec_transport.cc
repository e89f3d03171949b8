// SPDX-License-Identifier: Apache-2.0
#include "daemon/transport/no_pec_transport.h"

#include "daemon/transport/smbus_shape.h"
#include "proto/base/status_macros.h"
#include "proto/smbus/transfer.h"

namespace sideband::daemon {
namespace {

smbus::Transfer WithoutPec(smbus::Transfer write) {
  write.messages[0].write_bytes.pop_back();
  return write;
}

uint8_t PecOf(const BlockRead& read, ByteSpan clocked) {
  const uint8_t before[] = {smbus::AddressByte(read.address, /*read=*/false), read.code,
                            smbus::AddressByte(read.address, /*read=*/true)};
  return smbus::Pec(clocked, smbus::Pec(before));
}

}  // namespace

absl::StatusOr<smbus::TransferResult> NoPecTransport::Execute(const smbus::Transfer& transfer) {
  if (AsBlockWrite(transfer)) return inner_->Execute(WithoutPec(transfer));
  return AsBlockRead(transfer) ? Read(transfer) : inner_->Execute(transfer);
}

absl::StatusOr<smbus::TransferResult> NoPecTransport::Read(const smbus::Transfer& transfer) {
  smbus::Transfer shorter = transfer;
  --shorter.messages[1].read_size;
  SIDEBAND_ASSIGN_OR_RETURN(smbus::TransferResult result, inner_->Execute(shorter));
  // What a failed transaction has read goes to nobody.
  if (result.outcome == smbus::Outcome::kOk && result.read.size() == 1) {
    result.read[0].push_back(PecOf(*AsBlockRead(transfer), result.read[0]));
  }
  return result;
}

}  // namespace sideband::daemon
