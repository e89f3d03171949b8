// SPDX-License-Identifier: Apache-2.0
//
// Reads a fault of the board from a rule of a plan.
//   SIDEBAND_ASSIGN_OR_RETURN(rule.board, ReadBoardFault(map, BoardFaultKind::kEcc));
#ifndef SIDEBAND_SIM_BUS_FAULTS_BOARD_FAULT_READER_H_
#define SIDEBAND_SIM_BUS_FAULTS_BOARD_FAULT_READER_H_

#include "absl/status/statusor.h"
#include "proto/base/yaml.h"
#include "sim/bus_faults/board_fault.h"

namespace sideband::sim {

// Reads the keys of the kind's row and ignores all others, which the caller rejects. Errors are those of YamlNode, one
// line "FILE:LINE: description".
absl::StatusOr<BoardFault> ReadBoardFault(const YamlMap& rule, BoardFaultKind kind);

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_BUS_FAULTS_BOARD_FAULT_READER_H_
