// SPDX-License-Identifier: Apache-2.0
//
// Options that several subcommands have. Each must outlive the parsing.
#ifndef SIDEBAND_CLIENT_CLI_OPTIONS_H_
#define SIDEBAND_CLIENT_CLI_OPTIONS_H_

#include <string>
#include <vector>

#include "sideband/v1/telemetry.pb.h"

namespace CLI {
class App;
}

namespace sideband::client {

// --format table|json; anything else is refused.
struct FormatOption {
  std::string name = "table";

  void AddTo(CLI::App& app);
  bool json() const { return name == "json"; }
};

// --device --vm --context --event.
struct FilterOptions {
  std::string device;
  std::string vm;
  std::string context;
  std::vector<std::string> events;

  void AddTo(CLI::App& app);
  v1::Filter ToFilter() const;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_OPTIONS_H_
