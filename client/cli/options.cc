// SPDX-License-Identifier: Apache-2.0
#include "client/cli/options.h"

#include <CLI/CLI.hpp>

namespace sideband::client {

void FormatOption::AddTo(CLI::App& app) {
  app.add_option("--format", name, "How to print: table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
}

void FilterOptions::AddTo(CLI::App& app) {
  app.add_option("--device", device, "Only this device")->type_name("NAME");
  app.add_option("--vm", vm, "Only this VM")->type_name("NAME");
  app.add_option("--context", context, "Only this context")->type_name("NAME");
  app.add_option("--event", events, "Only this event; may be given several times")
      ->type_name("NAME")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
}

v1::Filter FilterOptions::ToFilter() const {
  v1::Filter filter;
  filter.set_device(device);
  filter.set_vm(vm);
  filter.set_context(context);
  for (const std::string& event : events) filter.add_events(event);
  return filter;
}

}  // namespace sideband::client
