// SPDX-License-Identifier: Apache-2.0
//
// A transport to a bus in this process: the daemon's own code against the microcontroller's own code, without sockets
// or threads.
//   sim::FaultyBus bus(targets, plan);
//   InProcessTransport wire(bus);
#ifndef SIDEBAND_TESTS_CONFORMANCE_IN_PROCESS_BUS_H_
#define SIDEBAND_TESTS_CONFORMANCE_IN_PROCESS_BUS_H_

#include <cstdint>

#include "daemon/transport/transport.h"
#include "proto/smbus/transfer.h"

namespace sideband::tests {

class InProcessTransport final : public daemon::Transport {
 public:
  // `bus` must outlive this object. An adapter that supports only SMBus 2 has blocks of 32 bytes.
  explicit InProcessTransport(smbus::Bus& bus, size_t block_bytes_max = smbus::kBlockBytesMax)
      : bus_(bus), block_bytes_max_(block_bytes_max) {}

  absl::StatusOr<smbus::TransferResult> Execute(const smbus::Transfer& transfer) override {
    ++transfers;
    smbus::TransferResult result = bus_.Execute(transfer);
    // Reported as a socket reports that its peer has closed it.
    if (result.controller_died) return absl::UnavailableError("the controller died");
    return result;
  }

  size_t block_bytes_max() const override { return block_bytes_max_; }

  uint64_t transfers = 0;

 private:
  smbus::Bus& bus_;
  const size_t block_bytes_max_;
};

}  // namespace sideband::tests

#endif  // SIDEBAND_TESTS_CONFORMANCE_IN_PROCESS_BUS_H_
