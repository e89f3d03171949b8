// SPDX-License-Identifier: Apache-2.0
//
// A transport straight into a virtual bus, and one that spoils what passes: the daemon's own code against the
// microcontroller's own code, without sockets or threads.
#ifndef SIDEBAND_TESTS_CONFORMANCE_IN_PROCESS_BUS_H_
#define SIDEBAND_TESTS_CONFORMANCE_IN_PROCESS_BUS_H_

#include <cstdint>
#include <random>

#include "daemon/transport/transport.h"
#include "secure_mcu/bus/virtual_bus.h"

namespace sideband::tests {

class InProcessTransport final : public daemon::Transport {
 public:
  explicit InProcessTransport(mcu::VirtualBus& bus) : bus_(bus) {}
  absl::StatusOr<smbus::TransferResult> Execute(const smbus::Transfer& transfer) override {
    ++transfers;
    return bus_.Execute(transfer);
  }

  uint64_t transfers = 0;

 private:
  mcu::VirtualBus& bus_;
};

// The faults that a wire may make: a transaction is not acknowledged, loses arbitration or times out before it reaches
// the target, or one bit of what is read or written flips. One transaction in `one_in` has one, drawn from a seed.
class FaultyTransport final : public daemon::Transport {
 public:
  FaultyTransport(daemon::Transport& inner, uint32_t one_in, uint32_t seed)
      : inner_(inner), one_in_(one_in), random_(seed) {}

  absl::StatusOr<smbus::TransferResult> Execute(const smbus::Transfer& transfer) override {
    if (random_() % one_in_ != 0) return inner_.Execute(transfer);
    ++faults;
    switch (random_() % 5) {
      case 0:
        return smbus::TransferResult{.outcome = smbus::Outcome::kAddressNack};
      case 1:
        return smbus::TransferResult{.outcome = smbus::Outcome::kArbitrationLost};
      case 2:
        return smbus::TransferResult{.outcome = smbus::Outcome::kTimeout};
      case 3:
        return SpoilRead(transfer);
      default:
        return SpoilWrite(transfer);
    }
  }

  uint64_t faults = 0;

 private:
  void Flip(Bytes& bytes) {
    if (!bytes.empty()) bytes[random_() % bytes.size()] ^= 1 << random_() % 8;
  }
  absl::StatusOr<smbus::TransferResult> SpoilRead(const smbus::Transfer& transfer) {
    auto result = inner_.Execute(transfer);
    if (result.ok() && !result->read.empty()) Flip(result->read[random_() % result->read.size()]);
    return result;
  }
  absl::StatusOr<smbus::TransferResult> SpoilWrite(smbus::Transfer transfer) {
    Flip(transfer.messages[0].write_bytes);
    return inner_.Execute(transfer);
  }

  daemon::Transport& inner_;
  const uint32_t one_in_;
  std::mt19937 random_;
};

}  // namespace sideband::tests

#endif  // SIDEBAND_TESTS_CONFORMANCE_IN_PROCESS_BUS_H_
