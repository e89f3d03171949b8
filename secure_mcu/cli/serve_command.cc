// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <random>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady_time.h"
#include "secure_mcu/cli/commands.h"
#include "secure_mcu/cli/stop_signals.h"
#include "secure_mcu/firmware/system_info.h"
#include "secure_mcu/serve/serve.h"

namespace sideband::mcu {
namespace {

struct ServeFlags {
  ServeOptions options;
  std::string persona = "sideband";
};

absl::Status RunServeCommand(const ServeFlags& flags) {
  ServeOptions options = flags.options;
  SIDEBAND_ASSIGN_OR_RETURN(options.persona, ParsePersona(flags.persona));
  // Boot ids of different starts must differ.
  std::random_device random;
  options.boot_id = uint64_t{random()} << 32 | random();
  // A device's oscillator is no business of the host's time service.
  options.elapsed = [start = RawNow()] { return RawNow() - start; };
  options.time_of_day = absl::Now;
  return Serve(options, StopOnSignals());
}

}  // namespace

Command AddServeCommand(CLI::App& app) {
  const auto flags = std::make_shared<ServeFlags>();
  CLI::App* const command = app.add_subcommand("serve", "Serve an emulated device on a virtual bus");
  command
      ->add_option("--chip", flags->options.chips,
                   "What the device is and does (YAML), and FILE@0x4e its address; may be repeated for several devices "
                   "on one bus")
      ->type_name("FILE")
      ->required()
      ->take_all();
  command->add_option("--bus", flags->options.bus, "Where: unix:PATH or unix:PATH@0xADDRESS")
      ->type_name("BUS")
      ->required();
  command
      ->add_option("--guest-views", flags->options.guest_views,
                   "Folder for a file of each VM's own counters; of a confidential VM, its records if the device seals")
      ->type_name("FOLDER");
  command
      ->add_option(
          "--guest-ports", flags->options.guest_ports,
          "Folder for a socket of each VM and each context, by which it reads counters by registers; made unless it "
          "exists")
      ->type_name("FOLDER");
  command
      ->add_option(
          "--persona", flags->persona,
          "The vendor that the board identifies as: sideband, or nvidia for tests with public clients that look for "
          "NVIDIA's vendor id")
      ->type_name("VENDOR")
      ->capture_default_str();
  command
      ->add_option("--faults", flags->options.faults,
                   "Fault plan for the bus (YAML, see sim/bus_faults/README.md); change_catalog is rejected, and a "
                   "delay is reported to the controller as a stretched clock")
      ->type_name("FILE");
  return {command, [flags] { return RunServeCommand(*flags); }};
}

}  // namespace sideband::mcu
