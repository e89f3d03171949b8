// SPDX-License-Identifier: Apache-2.0
//
// What is watched: the wires of an emulated device, the units that count them, and who takes turns on the slices. Made
// from a chip file, either with synthetic workloads or with a recorded waveform.
#ifndef SIDEBAND_SECURE_MCU_SERVE_WIRING_H_
#define SIDEBAND_SECURE_MCU_SERVE_WIRING_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/player.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/serve/chip_file.h"
#include "secure_mcu/serve/event_table.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {

struct Wiring {
  EventTable events;
  std::vector<CcuSpec> ccus;
  std::vector<std::shared_ptr<sim::WireSource>> slices;  // one per slice; a waveform is shared by all
  std::shared_ptr<sim::WireSource> device;               // of the device-scope units
  // Who is resident when, once the tenants have their memory blocks: a tenant per VM (without a context), then one per
  // context, in the chip file's order.
  std::function<std::unique_ptr<Timeline>(std::vector<Tenant>)> make_timeline;
  std::vector<SliceSet> tenant_slices;  // per tenant, where it has its turns
};

absl::StatusOr<Wiring> MakeSyntheticWiring(const ChipFile& file);
absl::StatusOr<Wiring> MakeWaveformWiring(const ChipFile& file);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_WIRING_H_
