// SPDX-License-Identifier: Apache-2.0
//
// The console of a command: its output streams, the terminal's size, and Ctrl-C as a cancellation.
//   InterruptWatcher watcher(cancellation);   // before other threads start
//   FdOutput out(STDOUT_FILENO, "standard output");
//   if (const std::optional<TerminalSize> size = SizeOfTerminal(STDOUT_FILENO)) Fit(size->columns);
#ifndef SIDEBAND_CLIENT_CLI_CONSOLE_H_
#define SIDEBAND_CLIENT_CLI_CONSOLE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/lib/cancellation.h"
#include "proto/base/file.h"

namespace sideband::client {

// A stream that a command writes to.
class Output {
 public:
  virtual ~Output() = default;
  // Writes all of `text` immediately; nothing is buffered.
  virtual absl::Status Write(absl::string_view text) = 0;
};

// A file descriptor owned by the caller. SIGPIPE must be ignored.
class FdOutput final : public Output {
 public:
  // `name` appears in error messages.
  FdOutput(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  // CANCELLED if the reader has closed the pipe (closed() is then true); else "NAME: system error".
  absl::Status Write(absl::string_view text) override;
  bool closed() const { return closed_; }

 private:
  const int fd_;
  const std::string name_;
  bool closed_ = false;
};

// Collects the output, for tests.
class StringOutput final : public Output {
 public:
  absl::Status Write(absl::string_view text) override;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

struct TerminalSize {
  size_t rows = 24;
  size_t columns = 80;
};

// nullopt if the descriptor is no terminal. A terminal that does not know its size has 24 rows of 80 columns.
std::optional<TerminalSize> SizeOfTerminal(int fd);

// Blocks SIGINT and SIGTERM for the calling thread, and for all threads that it starts later, until the watcher is
// destroyed, which must happen on the same thread. The first signal cancels; a second one ends the process immediately
// with exit status 130. The cancellation must outlive the watcher.
class InterruptWatcher {
 public:
  explicit InterruptWatcher(Cancellation& cancellation);
  ~InterruptWatcher();
  InterruptWatcher(const InterruptWatcher&) = delete;
  InterruptWatcher& operator=(const InterruptWatcher&) = delete;

 private:
  void Watch();

  Cancellation& cancellation_;
  Descriptor signals_;
  Descriptor stop_;
  std::thread thread_;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_CONSOLE_H_
