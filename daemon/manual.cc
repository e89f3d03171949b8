// SPDX-License-Identifier: Apache-2.0
//
// Prints the manual page of `sidebandd`, or its completion for a shell.
#include <memory>
#include <string>

#include "daemon/startup.h"
#include "proto/base/man_page.h"
#include "proto/base/version.h"

namespace sideband::daemon {
namespace {

manual::ManPage Page() {
  return {.section = 8,
          .release = std::string("sideband ") + kVersion,
          .sections = {{"EXIT STATUS",
                        {{"0", "Stopped by SIGTERM or SIGINT; with --check: all files are valid."},
                         {"1", "A failure, such as an address that is in use."},
                         {"2", "A mistake in the command line, the configuration or a file that it names."}}},
                       {"ENVIRONMENT",
                        {{"STATE_DIRECTORY", "The folder for state, if the configuration has no state_dir."},
                         {"XDG_STATE_HOME", "The parent of that folder, if STATE_DIRECTORY is not set, either."}}},
                       {"FILES",
                        {{"/etc/sideband/sidebandd.yaml", "The configuration of the service."},
                         {"/etc/sideband/policy.yaml", "Who may see which VMs, contexts and events."},
                         {"/usr/share/doc/sideband/", "The documentation of both files, and examples."}}}},
          .see_also = {"sideband(1)", "sideband-mcu(1)", "systemd.service(5)"}};
}

int Main(int argc, char** argv) {
  Flags flags;
  const std::unique_ptr<CLI::App> app = MakeCommandLine(flags);
  return manual::PrintManual(argc, argv, *app, Page());
}

}  // namespace
}  // namespace sideband::daemon

int main(int argc, char** argv) { return sideband::daemon::Main(argc, argv); }
