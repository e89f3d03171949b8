// SPDX-License-Identifier: Apache-2.0
//
// The wires of an emulated device, the units that count them, and the timeline of the slices, made from a chip file
// with synthetic workloads, a recorded waveform or programs.
//   SIDEBAND_ASSIGN_OR_RETURN(const Wiring wiring, MakeWiring(file));
#ifndef SIDEBAND_SECURE_MCU_DEVICE_WIRING_H_
#define SIDEBAND_SECURE_MCU_DEVICE_WIRING_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "secure_mcu/chip/host_plan.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/player.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/chip_file/event_table.h"
#include "secure_mcu/device/slice_program.h"
#include "secure_mcu/firmware/device.h"
#include "sim/wires/domain_clock.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {

struct Wiring {
  EventTable events;
  std::vector<CcuSpec> ccus;
  std::vector<std::shared_ptr<sim::WireSource>> slices;  // one per slice; a waveform is shared by all
  std::shared_ptr<sim::WireSource> device;               // wires of the device-scope units
  std::vector<std::shared_ptr<SliceProgram>> programs;   // what drives the wires of `slices`; empty: no programs
  // Makes the timeline of residencies once the tenants have their memory blocks. Tenants are a VM without a context,
  // then its contexts, VM by VM in the chip file's order.
  std::function<std::unique_ptr<Timeline>(std::vector<Tenant>)> make_timeline;
  // Steps the clock of a domain of all wires after an instant, as LocalClocks::Step; null: the clocks cannot be
  // stepped.
  std::function<void(uint32_t domain, sim::Instant at, uint64_t hz)> step_clock;
  HostPlan host;                        // when the hypervisor runs
  std::vector<SliceSet> tenant_slices;  // per tenant, the slices of its turns
};

// By what the chip file has.
absl::StatusOr<Wiring> MakeWiring(const ChipFile& file);

absl::StatusOr<Wiring> MakeSyntheticWiring(const ChipFile& file);
absl::StatusOr<Wiring> MakeWaveformWiring(const ChipFile& file);
absl::StatusOr<Wiring> MakeProgramWiring(const ChipFile& file);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_WIRING_H_
