// SPDX-License-Identifier: Apache-2.0
//
// The parts of a board besides its chip: sensors, limits, links, and memory that can fail. Every part is absent unless
// the chip file names it, and then SMBPBI announces it (chip_file/README.md, key `board`).
//   BoardSpec spec{.name = "Example", .thermal = ThermalLimits{}, .nvlink = NvlinkSpec{.count = 4}};
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_BOARD_SPEC_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_BOARD_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sideband::mcu {

// Degrees Celsius. Over the two slowdowns the clock is lowered, in steps, until the temperature is below again.
struct ThermalLimits {
  double target_c = 83;             // that fans aim at
  double software_slowdown_c = 87;  // by the driver
  double slowdown_c = 92;           // by the hardware, to the lowest level at once
  double shutdown_c = 97;
  double memory_slowdown_c = 95;
};

// Milliwatts. Over the limit in force the clock is lowered.
struct PowerLimits {
  uint32_t least_mw = 100'000;
  uint32_t most_mw = 400'000;
  uint32_t default_mw = 350'000;
};

// The memory's part of the board's power, and its own temperature.
struct MemorySensorSpec {
  std::vector<std::string> events;  // whose energy is the memory's
  double idle_mw = 0;
  double c_per_watt = 0.3;
};

// The generations of GET_ECC, of which a board has one.
enum class EccGeneration : uint8_t { kV2 = 2, kV3 = 3, kV4 = 4, kV5 = 5, kV6 = 6 };

struct NvlinkSpec {
  uint8_t count = 0;  // 1 to 32
  uint32_t mbps = 25'000;
};

struct PcieSpec {
  uint8_t generation = 4;  // 1 to 5
  uint8_t lanes = 16;      // 1, 2, 4, 8, 16 or 32
};

struct BoardSpec {
  std::string name;  // as marketed; at most 24 characters are shown
  std::optional<ThermalLimits> thermal;
  std::optional<PowerLimits> power_limit;
  std::optional<double> module_overhead_mw;  // the module's power beyond the board's
  std::optional<MemorySensorSpec> memory;
  uint32_t throttled_domain = 0;  // the domain whose levels are the clock's (UlcSpec::domain); 0: it is never lowered
  std::optional<EccGeneration> ecc;
  bool row_remapping = false;
  bool page_retirement = false;
  std::optional<NvlinkSpec> nvlink;
  std::optional<PcieSpec> pcie;
  bool power_connector = false;  // that tells whether its power suffices
  bool write_protection = false;
  bool driver_events = false;
  bool bundles = false;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_BOARD_SPEC_H_
