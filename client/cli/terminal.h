// SPDX-License-Identifier: Apache-2.0
//
// The size of the terminal that a command prints to.
//   if (const std::optional<TerminalSize> size = SizeOfTerminal(STDOUT_FILENO)) Fit(size->columns);
#ifndef SIDEBAND_CLIENT_CLI_TERMINAL_H_
#define SIDEBAND_CLIENT_CLI_TERMINAL_H_

#include <cstddef>
#include <optional>

namespace sideband::client {

struct TerminalSize {
  size_t rows = 24;
  size_t columns = 80;
};

// nullopt if the descriptor is no terminal. A terminal that does not know its size has 24 rows of 80 columns.
std::optional<TerminalSize> SizeOfTerminal(int fd);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_TERMINAL_H_
