// SPDX-License-Identifier: Apache-2.0
//
// A bus with a board that has no packet error code (PEC), for callers that send and check one: it is removed from what
// they write, and added to what they read. Errors of the bus are then no longer detected.
//   NoPecTransport transport(std::move(inner));
//   RegisterPort port(transport, 0x4F, on_outcome);   // 74 bit times on the caller's side, 65 on the bus
#ifndef SIDEBAND_DAEMON_TRANSPORT_NO_PEC_TRANSPORT_H_
#define SIDEBAND_DAEMON_TRANSPORT_NO_PEC_TRANSPORT_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "daemon/transport/transport.h"
#include "proto/smbus/transfer.h"

namespace sideband::daemon {

class NoPecTransport final : public Transport {
 public:
  explicit NoPecTransport(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}

  // Of a transaction that is neither a block write with a correct PEC nor a block read with room for one, nothing is
  // changed.
  absl::StatusOr<smbus::TransferResult> Execute(const smbus::Transfer& transfer) override;
  size_t block_bytes_max() const override { return inner_->block_bytes_max(); }
  LockFile lock_file() const override { return inner_->lock_file(); }

 private:
  absl::StatusOr<smbus::TransferResult> Read(const smbus::Transfer& transfer);

  const std::unique_ptr<Transport> inner_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_TRANSPORT_NO_PEC_TRANSPORT_H_
