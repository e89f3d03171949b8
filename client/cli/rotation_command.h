// SPDX-License-Identifier: Apache-2.0
//
// `sideband rotation show|plan|set|learn`: which events are multiplexed on a device's counters.
//   SIDEBAND_ASSIGN_OR_RETURN(const RotationFile file, LoadRotationFile("rotation.yaml", RotationUse::kRequest));
//   request = RequestOf(file);
#ifndef SIDEBAND_CLIENT_CLI_ROTATION_COMMAND_H_
#define SIDEBAND_CLIENT_CLI_ROTATION_COMMAND_H_

#include <string>

#include "client/cli/table.h"
#include "proto/mailbox/rotation_file.h"
#include "sideband/v1/counting.pb.h"

namespace sideband::client {

// The plans of a device's multiplexing, then for each row and event the share of its time in which it was counted.
std::string RotationText(const v1::GetRotationResponse& response, const TableStyle& style);
// The plans, then what is counted together: a line for each set of each plan.
std::string PlansText(const v1::GetRotationResponse& response, const TableStyle& style);

// A request without device, VM and contexts. It has every setting, also those that the file leaves to the default.
v1::SetRotationRequest RequestOf(const RotationFile& file);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_ROTATION_COMMAND_H_
