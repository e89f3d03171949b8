// SPDX-License-Identifier: Apache-2.0
//
// `sideband rotation show|plan|set|learn`: what takes turns on a device's counters.
#ifndef SIDEBAND_CLIENT_ROTATION_ROTATION_COMMAND_H_
#define SIDEBAND_CLIENT_ROTATION_ROTATION_COMMAND_H_

#include <memory>
#include <string>

#include "client/cli/command.h"
#include "client/cli/table.h"
#include "sideband/v1/counting.pb.h"

namespace sideband::client {

// What takes turns on a device's counters, as text.

// The plans, then for each row and event the share of its time in which it was counted.
std::string RotationText(const v1::GetRotationResponse& response, const TableStyle& style);
// The plans, then what is counted together: a line for each set of each plan.
std::string PlansText(const v1::GetRotationResponse& response, const TableStyle& style);

std::unique_ptr<Command> NewRotationCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_ROTATION_ROTATION_COMMAND_H_
