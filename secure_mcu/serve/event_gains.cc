// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/event_gains.h"

#include <cmath>

namespace sideband::mcu {
namespace {

// The most that one input adds to its event in a cycle.
double GainOf(const CounterInput& input) {
  if (input.masked) return 0;
  if (input.digits > 0) return (std::ldexp(1.0, input.digits) - 1) / kPrescale;
  return std::ldexp(1.0, input.meaning.shift);
}

}  // namespace

EventGains::EventGains(const PipelineConfig& config) : slices_(config.slices), gains_(config.events * (slices_ + 1)) {
  for (const CcuSpec& ccu : config.ccus) {
    const size_t channel = ccu.channel == kDeviceChannel ? slices_ : ccu.channel;
    for (const UlcSpec& ulc : ccu.ulcs) {
      for (const CounterInput& input : ulc.inputs) {
        gains_[input.meaning.event * (slices_ + 1) + channel] += GainOf(input);
      }
    }
  }
}

double EventGains::PerCycle(uint16_t event, SliceSet slices) const {
  const double* const gains = &gains_[event * (slices_ + 1)];
  double sum = slices == kEverySlice ? gains[slices_] : 0;
  for (size_t slice = 0; slice < slices_; ++slice) {
    if ((slices >> slice & 1) != 0) sum += gains[slice];
  }
  return sum;
}

}  // namespace sideband::mcu
