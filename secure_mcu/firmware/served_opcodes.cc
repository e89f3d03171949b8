// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/served_opcodes.h"

namespace sideband::mcu {
namespace {

using mailbox::Opcode;

struct ServedRow {
  Opcode opcode;
  bool (*is_served)(const BoardSpec& board, bool has_workload_clock);
};

template <EccGeneration generation>
bool ServesEcc(const BoardSpec& board, bool /*has_workload_clock*/) {
  return board.ecc == generation;
}

// The opcodes that only some boards serve.
constexpr ServedRow kRows[] = {
    {Opcode::kGetEccV2, ServesEcc<EccGeneration::kV2>},
    {Opcode::kGetEccV3, ServesEcc<EccGeneration::kV3>},
    {Opcode::kGetPowerConnector, [](const BoardSpec& board, bool) { return board.power_connector; }},
    {Opcode::kGetRetiredPages, [](const BoardSpec& board, bool) { return board.page_retirement; }},
    {Opcode::kGetEccV4, ServesEcc<EccGeneration::kV4>},
    {Opcode::kGetThermParam, [](const BoardSpec& board, bool) { return board.thermal.has_value(); }},
    {Opcode::kGetEccV5, ServesEcc<EccGeneration::kV5>},
    {Opcode::kAccessWriteProtect, [](const BoardSpec& board, bool) { return board.write_protection; }},
    {Opcode::kGetNvlinkInfo, [](const BoardSpec& board, bool) { return board.nvlink.has_value(); }},
    {Opcode::kLaunchBundle, [](const BoardSpec& board, bool) { return board.bundles; }},
    {Opcode::kGetDriverEvent, [](const BoardSpec& board, bool) { return board.driver_events; }},
    {Opcode::kGetEccV6, ServesEcc<EccGeneration::kV6>},
    {Opcode::kGetRowRemap, [](const BoardSpec& board, bool) { return board.row_remapping; }},
    {Opcode::kGetPcieLink, [](const BoardSpec& board, bool) { return board.pcie.has_value(); }},
    {Opcode::kGetPowerHint, [](const BoardSpec&, bool has_workload_clock) { return has_workload_clock; }},
};

}  // namespace

bool IsServed(Opcode opcode, const BoardSpec& board, bool has_workload_clock) {
  for (const ServedRow& row : kRows) {
    if (row.opcode == opcode) return row.is_served(board, has_workload_clock);
  }
  return true;
}

}  // namespace sideband::mcu
