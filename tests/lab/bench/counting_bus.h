// SPDX-License-Identifier: Apache-2.0
//
// A daemon transport to a bus in this process; it counts transactions and bit times.
//   CountingBus transport(bus);
//   RegisterPort port(transport, 0x4F, [](absl::string_view) {});
//   …
//   transport.bit_times();
#ifndef SIDEBAND_TESTS_LAB_BENCH_COUNTING_BUS_H_
#define SIDEBAND_TESTS_LAB_BENCH_COUNTING_BUS_H_

#include <cstdint>

#include "daemon/transport/transport.h"
#include "proto/smbus/transfer.h"

namespace sideband::bench {

// Not thread-safe.
class CountingBus final : public daemon::Transport {
 public:
  // `bus` must outlive it.
  explicit CountingBus(smbus::Bus& bus) : bus_(bus) {}

  absl::StatusOr<smbus::TransferResult> Execute(const smbus::Transfer& transfer) override {
    smbus::TransferResult result = bus_.Execute(transfer);
    bit_times_ += smbus::BitTimes(transfer, result);
    ++transactions_;
    return result;
  }

  uint64_t bit_times() const { return bit_times_; }
  uint64_t transactions() const { return transactions_; }

 private:
  smbus::Bus& bus_;
  uint64_t bit_times_ = 0;
  uint64_t transactions_ = 0;
};

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_LAB_BENCH_COUNTING_BUS_H_
