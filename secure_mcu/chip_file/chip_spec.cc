// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/chip_spec.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"

namespace sideband::mcu {
namespace {

// The largest gain of one counter in one cycle: the number of inputs that share it.
uint64_t GainPerCycleMax(const CcuSpec& ccu) {
  const CounterAllocation counters = AllocateCounters(ccu);
  std::vector<uint64_t> inputs(counters.meanings.size() + 1);
  for (const auto& ulc : counters.mapping) {
    for (const uint16_t counter : ulc) {
      if (counter != CounterCollectionUnit::kMasked) ++inputs[counter];
    }
  }
  return *std::max_element(inputs.begin(), inputs.end());
}

}  // namespace

absl::Status CheckThresholdPace(const CcuSpec& ccu, uint64_t clock_hz) {
  const uint64_t gain = GainPerCycleMax(ccu);
  // The whole content of the unit-level counters may arrive at once.
  const uint64_t lowest = gain * (kUlcHistoryCycles + CyclesBetweenMin(clock_hz));
  if (ccu.threshold == 0 || ccu.threshold >= lowest) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "threshold is ", ccu.threshold, ", must be 0 or from ", lowest, " to ", kCcuCounterMax, " (a counter of '",
      ccu.name, "' gains up to ", gain, " a cycle; ", kPerSecondMax, " triggers a second at ", clock_hz, " Hz)"));
}

}  // namespace sideband::mcu
