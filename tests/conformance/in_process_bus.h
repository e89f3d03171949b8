// SPDX-License-Identifier: Apache-2.0
//
// Buses in this process. A transport to one: the daemon's own code against the microcontroller's own code, without
// sockets or threads. A busy bus: time passes with each transaction, and something happens before some of them.
//   sim::FaultyBus bus(targets, plan);
//   InProcessTransport wire(bus);
//   BusyBus busy(targets, elapsed);
//   busy.meanwhile = [&] { if (random() % 40 == 0) other.Change(); };
#ifndef SIDEBAND_TESTS_CONFORMANCE_IN_PROCESS_BUS_H_
#define SIDEBAND_TESTS_CONFORMANCE_IN_PROCESS_BUS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/time/time.h"
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

// Time passes on it with each transaction, and something may happen before one.
class BusyBus final : public smbus::Bus {
 public:
  BusyBus(smbus::Bus& bus, absl::Duration& elapsed) : bus_(bus), elapsed_(elapsed) {}

  smbus::TransferResult Execute(const smbus::Transfer& transfer) override {
    elapsed_ += absl::Microseconds(137);
    if (meanwhile) meanwhile();
    smbus::TransferResult result = bus_.Execute(transfer);
    results.push_back(result);
    bit_times.push_back(smbus::BitTimes(transfer, result));
    return result;
  }

  std::function<void()> meanwhile;
  // Results and bit times of each transaction so far.
  std::vector<smbus::TransferResult> results;
  std::vector<uint64_t> bit_times;

 private:
  smbus::Bus& bus_;
  absl::Duration& elapsed_;
};

}  // namespace sideband::tests

#endif  // SIDEBAND_TESTS_CONFORMANCE_IN_PROCESS_BUS_H_
