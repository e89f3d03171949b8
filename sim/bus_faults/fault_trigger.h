// SPDX-License-Identifier: Apache-2.0
//
// Decides when a rule of a fault plan fires: identically in every run with the same seed and the same transactions.
//   FaultTrigger trigger(rule, plan.seed);
//   if (trigger.Fires(transaction, transfer)) FlipBit(trigger.Draw(8));
#ifndef SIDEBAND_SIM_BUS_FAULTS_FAULT_TRIGGER_H_
#define SIDEBAND_SIM_BUS_FAULTS_FAULT_TRIGGER_H_

#include <cstdint>
#include <random>

#include "proto/smbus/transfer.h"
#include "sim/bus_faults/fault_plan.h"

namespace sideband::sim {

// Not thread-safe.
class FaultTrigger {
 public:
  // `seed` is this rule's own, so that other rules do not affect its draws.
  FaultTrigger(const FaultRule& rule, uint64_t seed) : rule_(rule), random_(seed) {}

  const FaultRule& rule() const { return rule_; }
  // `transaction` counts from 1.
  bool Fires(uint64_t transaction, const smbus::Transfer& transfer);
  // A number below `size`, which must not be 0.
  uint64_t Draw(uint64_t size) { return random_() % size; }

 private:
  const FaultRule rule_;
  std::mt19937_64 random_;
  uint64_t fitting_ = 0;
  uint64_t fired_ = 0;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_BUS_FAULTS_FAULT_TRIGGER_H_
