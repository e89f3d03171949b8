// SPDX-License-Identifier: Apache-2.0
//
// A device of a demonstration that is a board of today: it has no counters of VMs, and its sensors are for operators.
//   BoardChipFile(text_of_deploy_examples_chip_board_yaml)
#ifndef SIDEBAND_CLIENT_DEMO_BOARD_DEVICE_H_
#define SIDEBAND_CLIENT_DEMO_BOARD_DEVICE_H_

#include <string>
#include <vector>

#include "client/demo/demo_steps.h"

namespace sideband::client {

// From the text of deploy/examples/chip-board.yaml: the UUID and serial number are no other device's.
std::string BoardChipFile(const std::string& example);

// What an operator sees of the board `device` beside the other devices, and that `tenant` sees nothing of it.
std::vector<DemoStep> BoardSteps(const std::string& device, const std::string& tenant, const DemoPorts& ports);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_DEMO_BOARD_DEVICE_H_
