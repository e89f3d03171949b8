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

void AddFormat(CLI::App& app, const char* help, const std::vector<std::string>& names, std::string& name) {
  app.add_option("-o,--format", name, help)->check(CLI::IsMember(names))->type_name("FORMAT")->capture_default_str();
}

void AddStyle(CLI::App& app, TableStyle& style) {
  app.add_flag("--wide", style.wide, "All columns, in full");
  app.add_flag("--raw", style.raw, "Numbers in full, without groups and units");
}

}  // namespace

void FormatOption::AddTo(CLI::App& app) {
  AddFormat(app, "How to print: table, json or csv (RFC 4180)", {"table", "json", "csv"}, name);
  AddStyle(app, style);
}

void FormatOption::AddWithLinesTo(CLI::App& app) {
  name = kLines;
  AddFormat(app, "How to print: lines, table, json or csv (RFC 4180)", {kLines, "table", "json", "csv"}, name);
  AddStyle(app, style);
}

void FormatOption::AddWithoutCsvTo(CLI::App& app) {
  AddFormat(app, "How to print: table or json", {"table", "json"}, name);
}

void AddDeviceOption(CLI::App& app, std::vector<std::string>& devices) { AddNames(app, "--device", "device", devices); }

void AddEventOption(CLI::App& app, std::vector<std::string>& events) { AddNames(app, "--event", "event", events); }

void FilterOptions::AddTo(CLI::App& app) {
  AddDeviceOption(app, devices);
  AddNames(app, "--vm", "VM", vms);
  app.add_option("--context", context, "Only this context")->type_name("NAME");
  AddEventOption(app, events);
}

}  // namespace sideband::client
