// SPDX-License-Identifier: Apache-2.0
//
// The commands of each group of a board's values, and what their replies mean: one function plans a group's round, and
// kBoardGroups (board_groups.h) has it in the group's row.
//   PlanPower(round);   // later: round.draft().power
#ifndef SIDEBAND_DAEMON_BOARD_GROUP_PLANS_H_
#define SIDEBAND_DAEMON_BOARD_GROUP_PLANS_H_

#include <cstdint>
#include <optional>
#include <span>

namespace sideband::daemon {

class GroupRound;

// The capability dwords (GET_CAPABILITIES), which may change at run time, and with them whether it is still the same
// board. Selects page 0 of scratch memory, which other groups read.
//
// A dword that the board does not have is 0. One that it cannot tell now stays as it was. Commands that the board has
// refused are forgotten.
void PlanCapabilities(GroupRound& round);

// A board's identity (GET_SYS_ID, and the driver's version), and by what another board is recognised. Plausible: texts
// of printable ASCII, ended by zeros.
void PlanIdentity(GroupRound& round);

// Temperatures, the margin to the limit, and thresholds (GET_TEMP, GET_EXT_TEMP, GET_THERM_PARAM). Plausible: -60 to
// 250 °C.
void PlanTemperature(GroupRound& round);
void PlanMargin(GroupRound& round);
void PlanThresholds(GroupRound& round);

// Power, energy, and limits of power (GET_POWER, GET_ENERGY_COUNTER, ASYNC_REQUEST 00, 02, 08, 12 and 14). Plausible:
// at most 10 kW. Energy that falls has restarted, except where a counter of 32 bits has wrapped within that power.
void PlanPower(GroupRound& round);
void PlanEnergy(GroupRound& round);
void PlanPowerLimits(GroupRound& round);

// Clocks and their limits, the P-state, reasons of throttling, and violations (GET_CLOCK_FREQ_INFO, ASYNC_REQUEST 09).
// Plausible: at most 100 GHz. Reasons without a name are left out.
void PlanClocks(GroupRound& round);
void PlanClockLimits(GroupRound& round);
void PlanViolations(GroupRound& round);

// Pending events (REGISTER_ACCESS, register 1), which are counted and cleared, and the driver's messages
// (GET_DRIVER_EVENT_MSG), which the board drops when they are read.
// A restart of the board, cold or warm, sets BoardMemory::saw_reset.
//
// A round reads at most this many; the next round goes on.
inline constexpr int kMessagesPerRoundMax = 4;

// Events are cleared by writing 0, as public scripts do: on a board that stores what is written, anything else would
// raise events. One that is raised between the read and the write is lost.
void PlanEvents(GroupRound& round);
// Without scratch memory, nothing is added.
void PlanDriverMessages(GroupRound& round);

// GPU_PERFORMANCE_MONITORING: metrics of the whole device, of its partitions (GPU instances) and of their compute
// instances, all of one captured snapshot; and which partitions there are. Plausible: percentages from 0 to 100, a
// little above being 100. Metrics for each link are read with the links, those for each NVDEC and NVJPG by themselves.
//
// Values are of the time between the two latest captures. Of partitions, those of the last PlanPartitions.
void PlanMetrics(GroupRound& round);

// Asks for a metric of each possible partition, and of each compute instance of one that exists: one that does not
// answers ERR_ARG2 or ERR_DATA. Nothing is asked where the flags say that MIG is off.
void PlanPartitions(GroupRound& round);

// GPU_PERFORMANCE_MONITORING for each NVDEC and NVJPG of the device: how busy it was between the two latest captures of
// metrics.
inline constexpr uint8_t kDecodersMax = 16;  // of a kind

// A board does not tell how many it has: each is asked for until one is refused. Plausible: as other percentages.
void PlanDecoders(GroupRound& round);

// The board's memory in use, and what is left of it (ASYNC_REQUEST 15, SYS_ID 17, REMAP_ROW_STATS,
// GET_PAGE_RETIREMENT_STATS). Plausible: at most 16 TiB.
void PlanMemory(GroupRound& round);
void PlanRowRemaps(GroupRound& round);
void PlanRetiredPages(GroupRound& round);

// The PCIe link and NVLinks (GET_PCIE_LINK_INFO, GET_NVLINK_INFO). Plausible: at most 32 NVLinks of 1 Tbit/s. Traffic
// of the PCIe link is not read: its unit is not public.
void PlanPcie(GroupRound& round);
// The number of links is read first.
void PlanNvlink(GroupRound& round);

// Flags of the board (GET_MISC_FLAGS) and its write protection (ACCESS_WP_MODE).
void PlanFlags(GroupRound& round);

// Errors of a board's memories by the newest generation of GET_ECC that it announces. Versions 2 to 4 count for each
// unit of a memory, and do not say how many there are: units are asked for until the board does not have the next one.
void PlanEcc(GroupRound& round);

// The unit after `unit`, whose number has fields of these widths, the lowest first. After a unit that the board does
// not have, the first one of the next group. nullopt after the last one.
std::optional<uint8_t> NextUnit(uint8_t unit, bool exists, std::span<const int> widths);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_GROUP_PLANS_H_
