// SPDX-License-Identifier: Apache-2.0
//
// The terminal, through ncurses; the only file that uses it.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto terminal, TerminalScreen::Open(context.get_env()));
//   terminal->Draw(Lay(frame, terminal->size()));
//   while (const std::optional<Key> key = terminal->NextKey()) Press(*key);
#ifndef SIDEBAND_CLIENT_TOP_TERMINAL_SCREEN_H_
#define SIDEBAND_CLIENT_TOP_TERMINAL_SCREEN_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "client/cli/console.h"
#include "client/lib/channel.h"
#include "client/top/layout.h"
#include "client/top/view.h"

namespace sideband::client::top {

// At most one at a time, on one thread. The destructor restores the terminal.
class TerminalScreen {
 public:
  // INVALID_ARGUMENT unless standard input and output are a terminal, and TERM names one that is known.
  static absl::Status Check(const GetEnv& get_env);
  // Takes over the terminal of standard input and output: the alternate screen, no cursor, keys as they are pressed.
  // Colours are used if the terminal has them and NO_COLOR is not set. The errors are those of
  // Check().
  static absl::StatusOr<std::unique_ptr<TerminalScreen>> Open(const GetEnv& get_env);
  ~TerminalScreen();
  TerminalScreen(const TerminalScreen&) = delete;
  TerminalScreen& operator=(const TerminalScreen&) = delete;

  // Whether the locale's characters are UTF-8.
  bool is_unicode() const { return is_unicode_; }
  TerminalSize size() const;
  // Takes over the terminal's new size.
  void Resize();
  void Draw(const Screen& screen);
  // Draws everything again at the next Draw().
  void Invalidate();
  // nullopt if no key is pending.
  std::optional<Key> NextKey();
  // Gives the terminal back until Resume().
  void Leave();
  void Resume();

 private:
  TerminalScreen(void* screen, bool is_unicode, bool has_colours);

  void* const screen_;  // ncurses' SCREEN
  const bool is_unicode_;
  const bool has_colours_;
};

// Whether the terminal database knows a type, the value of TERM, and it can place its cursor.
bool HasFullScreen(const std::string& type);

}  // namespace sideband::client::top

#endif  // SIDEBAND_CLIENT_TOP_TERMINAL_SCREEN_H_
