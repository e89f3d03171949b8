// SPDX-License-Identifier: Apache-2.0
//
// The main function of a program that prints the manual page or a completion of another program.
//   int main(int argc, char** argv) { return sideband::manual::PrintManual(argc, argv, app, page); }
#ifndef SIDEBAND_PROTO_MANUAL_PRINT_MANUAL_H_
#define SIDEBAND_PROTO_MANUAL_PRINT_MANUAL_H_

#include <CLI/CLI.hpp>

#include "proto/manual/man_page.h"

namespace sideband::manual {

// The only argument is man, bash, zsh or fish. Returns the exit status: 2 for another argument, which is reported.
int PrintManual(int argc, char** argv, CLI::App& app, const ManPage& page);

}  // namespace sideband::manual

#endif  // SIDEBAND_PROTO_MANUAL_PRINT_MANUAL_H_
