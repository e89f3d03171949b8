// SPDX-License-Identifier: Apache-2.0
//
// The largest gain per cycle of each event's counter, per slice: the number of its wires and their weights.
//   const EventGains gains(config);
//   gains.PerCycle(event, /*slices*/ 0b01);
#ifndef SIDEBAND_SECURE_MCU_DEVICE_EVENT_GAINS_H_
#define SIDEBAND_SECURE_MCU_DEVICE_EVENT_GAINS_H_

#include <cstdint>
#include <vector>

#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/selectable_events.h"
#include "secure_mcu/firmware/device.h"

namespace sideband::mcu {

// Immutable.
class EventGains {
 public:
  // `config` must be valid.
  explicit EventGains(const PipelineConfig& config);

  // As Device::GainPerCycle: a wire counted in full adds its weight, a prescaled wire a 32nd of it, a masked wire
  // nothing. A wire of another clock domain counts as if it were in the domain of the reference clock.
  double PerCycle(uint16_t event, SliceSet slices) const;
  // The same for the catalogue, the event's gate group, and whether it is selectable. The capacity per reference cycle
  // is 0 if a wire is of another clock domain, whose frequency is unknown here.
  mailbox::EventDetails DetailsOf(uint16_t event, mailbox::EventScope scope) const;

 private:
  const size_t slices_;
  std::vector<double> gains_;    // per event: its slices, then the device's own units
  std::vector<uint8_t> groups_;  // per event: its gate group or kNoGateGroup
  const SelectableEvents selectable_;
  std::vector<bool> has_own_clock_;  // per event: a wire is not of the reference clock's domain
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_EVENT_GAINS_H_
