// SPDX-License-Identifier: Apache-2.0
//
// How much each event's counter can gain in a cycle, per slice: how many wires there are for it.
//   const EventGains gains(config);
//   gains.PerCycle(event, /*slices*/ 0b01);
#ifndef SIDEBAND_SECURE_MCU_SERVE_EVENT_GAINS_H_
#define SIDEBAND_SECURE_MCU_SERVE_EVENT_GAINS_H_

#include <cstdint>
#include <vector>

#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/firmware/device.h"

namespace sideband::mcu {

// Immutable.
class EventGains {
 public:
  // `config` must be valid.
  explicit EventGains(const PipelineConfig& config);

  // As Device::GainPerCycle: wires that count in full add what they are worth, prescaled ones a 32nd of it, masked ones
  // nothing. A wire of another clock domain counts as if it were of the reference clock's.
  double PerCycle(uint16_t event, SliceSet slices) const;

 private:
  const size_t slices_;
  std::vector<double> gains_;  // event after event, each with its slices and then the device's own units
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_EVENT_GAINS_H_
