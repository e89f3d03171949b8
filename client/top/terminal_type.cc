// SPDX-License-Identifier: Apache-2.0
#include "client/top/terminal_screen.h"

// term.h defines macros for hundreds of common words: nothing else is in this file.
#include <curses.h>
#include <term.h>
#include <unistd.h>

namespace sideband::client::top {

bool HasFullScreen(const std::string& type) {
  int error = 0;
  return setupterm(type.c_str(), STDOUT_FILENO, &error) == OK && cursor_address != nullptr;
}

}  // namespace sideband::client::top
