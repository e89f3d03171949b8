// SPDX-License-Identifier: Apache-2.0
//
// A bus on which time passes with each transaction, and on which something happens before some of them.
//   BusyBus bus(targets, elapsed);
//   bus.meanwhile = [&] { if (random() % 40 == 0) other.Change(); };
#ifndef SIDEBAND_TESTS_CONFORMANCE_BUSY_BUS_H_
#define SIDEBAND_TESTS_CONFORMANCE_BUSY_BUS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/time/time.h"
#include "proto/smbus/transfer.h"

namespace sideband::tests {

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
  // Of each transaction so far.
  std::vector<smbus::TransferResult> results;
  std::vector<uint64_t> bit_times;

 private:
  smbus::Bus& bus_;
  absl::Duration& elapsed_;
};

}  // namespace sideband::tests

#endif  // SIDEBAND_TESTS_CONFORMANCE_BUSY_BUS_H_
