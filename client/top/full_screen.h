// SPDX-License-Identifier: Apache-2.0
//
// The loop of `sideband top`: waits for data, keys and signals, and draws.
//   return FullScreen(context, address, {.event = event}, signals, wake, *feeds, *terminal).Run();
#ifndef SIDEBAND_CLIENT_TOP_FULL_SCREEN_H_
#define SIDEBAND_CLIENT_TOP_FULL_SCREEN_H_

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cli/command.h"
#include "client/top/feed.h"
#include "client/top/rows.h"
#include "client/top/terminal_screen.h"
#include "client/top/view.h"
#include "proto/base/file.h"

namespace sideband::client::top {

// Wakes the loop from another thread. Thread-safe.
class Wake {
 public:
  Wake();
  int fd() const { return descriptor_.get(); }
  void Set();
  void Clear();

 private:
  const Descriptor descriptor_;
};

// The signals of a full-screen program, as a descriptor: none of them may interrupt it while the terminal is changed.
// To be made before other threads start.
//
// Blocks SIGHUP, SIGQUIT, SIGTSTP, SIGCONT and SIGWINCH for the calling thread, and for all threads that it starts
// later, until the object is destroyed, which must happen on the same thread. SIGINT and SIGTERM are not among them:
// they cancel (client/cli/console.h).
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Readable when a signal is pending.
  int fd() const { return descriptor_.get(); }
  // Takes the next pending signal; 0 if there is none.
  int Next();
  // Stops the process until SIGCONT, as the default action of SIGTSTP does.
  void Suspend();

 private:
  sigset_t before_;
  Descriptor descriptor_;
};

// All arguments must outlive it.
class FullScreen {
 public:
  FullScreen(CommandContext& context, std::string peer, RowOptions options, Signals& signals, Wake& wake, Feeds& feeds,
             TerminalScreen& terminal)
      : context_(context),
        peer_(std::move(peer)),
        signals_(signals),
        wake_(wake),
        feeds_(feeds),
        terminal_(terminal),
        view_(std::move(options)) {}

  // OK if the user quits or the context is cancelled; the feeds' error; CANCELLED with the exit status of a shell for a
  // signal that ends it.
  absl::Status Run();

 private:
  void Wait();
  // nullopt while the loop goes on.
  std::optional<absl::Status> Handle();
  std::optional<absl::Status> HandleSignals();
  std::optional<absl::Status> HandleKeys();
  void Suspend();
  void Build();
  void Draw();

  CommandContext& context_;
  const std::string peer_;
  Signals& signals_;
  Wake& wake_;
  Feeds& feeds_;
  TerminalScreen& terminal_;

  View view_;
  std::optional<std::vector<HostModel>> frozen_;  // while the view is paused
  absl::Time time_;                               // of the rows
  std::vector<Row> rows_;
  std::vector<std::string> events_;
  std::string event_, connection_;
  absl::Time drawn_ = absl::InfinitePast();
  bool is_hung_up_ = false;
};

}  // namespace sideband::client::top

#endif  // SIDEBAND_CLIENT_TOP_FULL_SCREEN_H_
