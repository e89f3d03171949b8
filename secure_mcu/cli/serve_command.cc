// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <random>

#include "absl/time/time.h"
#include "secure_mcu/cli/commands.h"
#include "secure_mcu/cli/stop_signals.h"
#include "secure_mcu/serve/serve.h"

namespace sideband::mcu {
namespace {

absl::Status Run(ServeOptions options) {
  std::random_device random;
  options.boot_id = uint64_t{random()} << 32 | random();
  options.elapsed = [start = std::chrono::steady_clock::now()] {
    return absl::FromChrono(std::chrono::steady_clock::now() - start);
  };
  return Serve(options, StopOnSignals());
}

}  // namespace

Command AddServeCommand(CLI::App& app) {
  const auto options = std::make_shared<ServeOptions>();
  CLI::App* const command = app.add_subcommand("serve", "Serve an emulated device on a virtual bus");
  command->add_option("--chip", options->chip_file, "what the device is and does (YAML)")->required();
  command->add_option("--bus", options->bus, "where: unix:PATH or unix:PATH@0xADDRESS")->required();
  command->add_option(
      "--guest-views", options->guest_views,
      "folder in which each VM that is not confidential finds its own counters as a shared-memory file");
  command->add_option("--faults", options->faults,
                      "fault plan for the bus (YAML, see sim/bus_faults/README.md); change_catalog is not possible, "
                      "and a delay is only told to the controller, as held clock");
  return {command, [options] { return Run(*options); }};
}

}  // namespace sideband::mcu
