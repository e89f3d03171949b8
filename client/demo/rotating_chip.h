// SPDX-License-Identifier: Apache-2.0
//
// Two devices of a demonstration that do the same work: one whose events take turns on few counters, and its twin with
// a counter for each event, which knows the truth.
//   RotatingChipFile(text_of_deploy_examples_chip_rotating_yaml)
#ifndef SIDEBAND_CLIENT_DEMO_ROTATING_CHIP_H_
#define SIDEBAND_CLIENT_DEMO_ROTATING_CHIP_H_

#include <string>
#include <vector>

#include "client/demo/demo_steps.h"

namespace sideband::client {

// From the text of deploy/examples/chip-rotating.yaml: one more event that is derived, VMs named vm4 and vm5, and
// contexts that end after a second, so that both devices' counts are of the same cycles from then on.
std::string RotatingChipFile(const std::string& example);

// The same without a rotation.
std::string ExactTwinFile(const std::string& example);

// What takes turns on `device`, and its counts of vm4 beside those of `twin`.
std::vector<DemoStep> RotationSteps(const std::string& device, const std::string& twin);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_DEMO_ROTATING_CHIP_H_
