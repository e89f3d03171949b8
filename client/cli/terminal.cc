// SPDX-License-Identifier: Apache-2.0
#include "client/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace sideband::client {

std::optional<TerminalSize> SizeOfTerminal(int fd) {
  if (::isatty(fd) == 0) return std::nullopt;
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return TerminalSize();
  return TerminalSize{.rows = size.ws_row, .columns = size.ws_col};
}

}  // namespace sideband::client
