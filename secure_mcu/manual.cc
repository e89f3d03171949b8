// SPDX-License-Identifier: Apache-2.0
//
// Prints the manual page of `sideband-mcu`, or its completion for a shell.
#include <string>

#include "proto/base/man_page.h"
#include "proto/base/version.h"
#include "secure_mcu/command_line.h"

namespace sideband::mcu {
namespace {

manual::ManPage Page() {
  return {.section = 1,
          .release = std::string("sideband ") + kVersion,
          .sections = {{"EXIT STATUS",
                        {{"0", "Success, or stopped by SIGTERM or SIGINT."},
                         {"1", "A failure."},
                         {"2", "A mistake in the command line or in a file."}}},
                       {"FILES",
                        {{"/usr/share/doc/sideband-emulator/examples/", "Chip files with all their keys explained."}}}},
          .see_also = {"sideband(1)", "sidebandd(8)"}};
}

}  // namespace
}  // namespace sideband::mcu

int main(int argc, char** argv) {
  const auto line = sideband::mcu::MakeCommandLine();
  return sideband::manual::PrintManual(argc, argv, *line.app, sideband::mcu::Page());
}
