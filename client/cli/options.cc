// SPDX-License-Identifier: Apache-2.0
#include "client/cli/options.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"

namespace sideband::client {
namespace {

void AddNames(CLI::App& app, const std::string& flag, const std::string& what, std::vector<std::string>& names) {
  app.add_option(flag, names, absl::StrCat("Only this ", what, ", or those that match * and ?; repeatable"))
      ->type_name("NAME")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
}

}  // namespace

void FormatOption::AddTo(CLI::App& app) {
  app.add_option("--format", name, "How to print: table, json or csv (RFC 4180)")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  app.add_flag("--wide", style.wide, absl::StrCat("All columns of a table, beyond ", kTableColumns, " characters"));
  app.add_flag("--raw", style.raw, "Numbers of a table in full, without groups and units");
}

void FormatOption::AddWithoutCsvTo(CLI::App& app) {
  app.add_option("--format", name, "How to print: table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
}

void AddDeviceOption(CLI::App& app, std::vector<std::string>& devices) { AddNames(app, "--device", "device", devices); }

void FilterOptions::AddTo(CLI::App& app) {
  AddDeviceOption(app, devices);
  AddNames(app, "--vm", "VM", vms);
  app.add_option("--context", context, "Only this context")->type_name("NAME");
  AddNames(app, "--event", "event", events);
}

}  // namespace sideband::client
