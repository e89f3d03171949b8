// SPDX-License-Identifier: Apache-2.0
//
// Units with fewer counters than inputs, for a slice whose events take turns.
//   std::vector<CcuSpec> ccus = DealUnits("slice0", 0, inputs_by_domain, /*counters=*/68);
#ifndef SIDEBAND_SECURE_MCU_REPLAY_UNIT_DEALER_H_
#define SIDEBAND_SECURE_MCU_REPLAY_UNIT_DEALER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "secure_mcu/chip/pipeline_config.h"

namespace sideband::mcu {

// Divides `counters` among the clock domains by their inputs, at least one each, and those of a domain evenly among as
// few unit-level counters as can have them. An event's inputs of a domain are of one unit; units have about as many
// inputs as each other. A domain that needs no more counters than it gets has one for each input, as Pack makes them.
// The result is a function of the arguments.
std::vector<CcuSpec> DealUnits(const std::string& name, uint8_t channel,
                               const std::map<uint32_t, std::vector<CounterInput>>& inputs_by_domain,
                               uint32_t counters);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_REPLAY_UNIT_DEALER_H_
