// SPDX-License-Identifier: Apache-2.0
#include "client/demo/board_device.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace sideband::client {
namespace {

// The operator's samples of `device` that the pattern selects, without their HELP and TYPE.
std::string Samples(const std::string& families, const std::string& device, const DemoPorts& ports) {
  return absl::StrCat(ScrapeCommand("operator", ports), " | grep -E '^sideband_(", families, ").device=.", device, "'");
}

std::string Sample(const std::string& family, const std::string& device) {
  return absl::StrCat("sideband_", family, "{device=\"", device, "\"");
}

}  // namespace

std::string BoardChipFile(const std::string& example) {
  return absl::StrReplaceAll(example, {{"3e005", "3e006"}, {"SB-EMU-0005", "SB-EMU-0006"}});
}

std::vector<DemoStep> BoardSteps(const std::string& device, const std::string& tenant, const DemoPorts& ports) {
  // The first metrics come with the board's second capture.
  const std::string partitions = Repeated(Samples("partition_(sm_activity|dram_usage)_ratio", device, ports));
  return {{.title = absl::StrCat("Beside devices with counters, ", device,
                                 " is a board of today: it has neither a clock nor a boot of counters"),
           .command = "sideband --config operator.yaml devices",
           .present = {device, "gpu0"}},
          {.title = "… but sensors, which it reports by SMBPBI's base commands: heat, power and what slows it down",
           .command = absl::StrCat(
               Samples("temperature(_margin)?_celsius|power(_limit)?_watts|throttle_active", device, ports),
               " | grep -vE 'minimum|maximum|default'"),
           .present = {Sample("temperature_celsius", device), Sample("temperature_margin_celsius", device),
                       Sample("power_watts", device), Sample("power_limit_watts", device),
                       Sample("throttle_active", device)}},
          {.title = "… and how busy its partitions (GPU instances) and their compute instances are",
           .command = partitions,
           .present = {Sample("partition_sm_activity_ratio", device), Sample("partition_dram_usage_ratio", device)}},
          // What a board reports is of everybody on it. grep -c exits with 1 if it counts no lines.
          {.title = absl::StrCat("Lines of ", device, " in ", tenant, "'s scrape: none"),
           .command = absl::StrCat(ScrapeCommand(tenant, ports), " | grep -c '", device, "'"),
           .exit_status = 1,
           .present = {"0"}}};
}

}  // namespace sideband::client
