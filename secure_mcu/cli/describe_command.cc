// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "proto/base/command_line.h"
#include "proto/base/status_macros.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/cli/commands.h"
#include "secure_mcu/describe/describe.h"
#include "secure_mcu/describe/format.h"

namespace sideband::mcu {
namespace {

struct DescribeFlags {
  std::string chip_file;
  std::string format = "tree";
};

absl::Status RunDescribeCommand(const DescribeFlags& flags) {
  SIDEBAND_ASSIGN_OR_RETURN(const ChipFile file, LoadChipFile(flags.chip_file));
  SIDEBAND_ASSIGN_OR_RETURN(const Description description, Describe(file));
  return PrintText(flags.format == "json" ? FormatJson(description) : FormatTree(description));
}

}  // namespace

Command AddDescribeCommand(CLI::App& app) {
  const auto flags = std::make_shared<DescribeFlags>();
  CLI::App* const command =
      app.add_subcommand("describe", "Show what a chip file's device is made of, and what it moves and stores");
  command->add_option("--chip", flags->chip_file, "What the device is and does (YAML)")->type_name("FILE")->required();
  command->add_option("--format", flags->format, "How to print: tree or json")
      ->check(CLI::IsMember({"tree", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  return {command, [flags] { return RunDescribeCommand(*flags); }};
}

}  // namespace sideband::mcu
