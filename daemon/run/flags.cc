// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/flags.h"

#include "absl/strings/str_cat.h"
#include "proto/base/version.h"

namespace sideband::daemon {

std::unique_ptr<CLI::App> MakeCommandLine(Flags& flags) {
  auto app = std::make_unique<CLI::App>(
      "Out-of-band performance telemetry for shared accelerators: reads devices over their management bus and "
      "serves operators and tenants over gRPC and HTTPS. Each caller sees only what the policy grants.",
      kProgram);
  app->add_option("--config", flags.config_file, "The configuration (YAML)")->type_name("FILE")->required();
  app->add_flag("--check", flags.check,
                "Read the configuration and all files that it names, report every error, and end");
  app->set_version_flag("--version", absl::StrCat(kProgram, " ", BuildVersion()));
  app->footer("SIGHUP reloads all files; SIGTERM drains and stops.");
  return app;
}

}  // namespace sideband::daemon
