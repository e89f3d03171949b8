// SPDX-License-Identifier: Apache-2.0
//
// The clock domains of a chip: what they must satisfy, where they are, and their clocks. Domain 0 is the reference
// clock's; domain i + 1 is PipelineConfig::domains[i].
//   SIDEBAND_RETURN_IF_ERROR(CheckDomains(config));
//   for (const DomainRow& row : RowsOf(config)) monitors.emplace_back(MakeClock(config, row), MonitorConfig(row));
#ifndef SIDEBAND_SECURE_MCU_CHIP_DOMAIN_RULES_H_
#define SIDEBAND_SECURE_MCU_CHIP_DOMAIN_RULES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "sim/wires/domain_clock.h"

namespace sideband::mcu {

// Monitors of a chip: a selection names them by bits of 64.
inline constexpr size_t kDomainRowsMax = 64;

// INVALID_ARGUMENT: the message names the domain, the field and its range. Part of Validate.
absl::Status CheckDomains(const PipelineConfig& config);

// A domain where it has units: it has a monitor there.
struct DomainRow {
  uint8_t channel;  // a slice, or kDeviceChannel
  uint32_t domain;
  auto operator<=>(const DomainRow&) const = default;
};

// The slices' in ascending order, then the device's. None without domains.
std::vector<DomainRow> RowsOf(const PipelineConfig& config);

// The clock of a domain, other than 0, on a slice or on the device: the same one everywhere if it is shared, else of
// the same specification with another phase and another wander. The configuration must be valid.
std::shared_ptr<const sim::DomainClock> MakeClock(const PipelineConfig& config, const DomainRow& row);
// The clocks of all domains, for the source of the channel's wires.
sim::LocalClocks MakeClocks(const PipelineConfig& config, uint8_t channel);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_DOMAIN_RULES_H_
