// SPDX-License-Identifier: Apache-2.0
//
// Options shared by several subcommands. Each object must outlive the parsing.
#ifndef SIDEBAND_CLIENT_CLI_OPTIONS_H_
#define SIDEBAND_CLIENT_CLI_OPTIONS_H_

#include <string>
#include <vector>

#include "client/cli/table.h"

namespace CLI {
class App;
}

namespace sideband::client {

// --format table|json|csv (or lines), --wide and --raw; other formats are rejected.
struct FormatOption {
  static constexpr char kLines[] = "lines";
  std::string name = "table";
  TableStyle style;

  // For listings.
  void AddTo(CLI::App& app);
  // For streams: lines, too, which is the default.
  void AddWithLinesTo(CLI::App& app);
  // For single objects: table or json, without --wide and --raw.
  void AddWithoutCsvTo(CLI::App& app);
  bool lines() const { return name == kLines; }
  bool json() const { return name == "json"; }
  bool csv() const { return name == "csv"; }
};

// --device, repeatable, with wildcards.
void AddDeviceOption(CLI::App& app, std::vector<std::string>& devices);

// --event, likewise.
void AddEventOption(CLI::App& app, std::vector<std::string>& events);

// --device --vm --context --event; empty members do not narrow the selection.
struct FilterOptions {
  std::vector<std::string> devices;  // names, or patterns (name_pattern.h)
  std::vector<std::string> vms;      // names, UUIDs, or patterns
  std::string context;
  std::vector<std::string> events;  // names, or patterns

  void AddTo(CLI::App& app);
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_OPTIONS_H_
