// SPDX-License-Identifier: Apache-2.0
//
// The VMs and contexts of a schedule, with a memory block each and ids in the order of first appearance, and the slices
// that the hypervisor has for itself.
#ifndef SIDEBAND_SECURE_MCU_REPLAY_TENANTS_H_
#define SIDEBAND_SECURE_MCU_REPLAY_TENANTS_H_

#include <string>
#include <vector>

#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/player.h"
#include "sim/waveform/schedule.h"

namespace sideband::mcu {

// A VM with its contexts in the order of first appearance.
struct ScheduledVm {
  std::string name;
  std::vector<std::string> contexts;
};
// Without the hypervisor.
std::vector<ScheduledVm> ScheduledVms(const std::vector<sim::Residency>& schedule);

// Names the slice in each row of the hypervisor: its context becomes "slice3".
void NameHosts(std::vector<sim::Residency>& schedule);
// Creates the host blocks of the chip if a schedule with named hosts has any. Returns the hypervisor on each slice of
// its rows, in the slices' order.
std::vector<Tenant> CreateHosts(const std::vector<sim::Residency>& schedule, Chip& chip);

// Creates the blocks (VM ids from 1, context ids from 0). Returns all possible residents: each VM without a context,
// followed by its contexts.
std::vector<Tenant> CreateBlocks(const std::vector<ScheduledVm>& vms, MemoryBlocks& memory);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_REPLAY_TENANTS_H_
