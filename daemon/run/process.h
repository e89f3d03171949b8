// SPDX-License-Identifier: Apache-2.0
//
// Settings of the whole process: signals, the log, memory and limits. They are applied before the first additional
// thread starts.
//   Signals signals;   // before any other thread
//   PrepareProcess();
//   StartLog(config.log, "sidebandd");
//   const int signal = signals.WaitFor(absl::Seconds(1));   // 0: none
//   SetLogLevel(LogLevel::kDebug);                          // after a reload
#ifndef SIDEBAND_DAEMON_RUN_PROCESS_H_
#define SIDEBAND_DAEMON_RUN_PROCESS_H_

#include <spdlog/formatter.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/config/sections.h"

namespace sideband::daemon {

// Blocks SIGINT, SIGTERM and SIGHUP in this thread and all threads created later; the main thread receives them one by
// one by WaitFor(). SIGPIPE is ignored.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set_, signal);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
  }
  // Acts as if `signal` had come from outside. From any thread.
  static void Raise(int signal) { kill(getpid(), signal); }
  // Returns 0 if none has come within `timeout`.
  int WaitFor(absl::Duration timeout) {
    const timespec time = absl::ToTimespec(timeout);
    return std::max(0, sigtimedwait(&set_, nullptr, &time));
  }

 private:
  sigset_t set_;
};

// Lines go to standard output, with times in UTC, or to the journal, with a priority instead of a time and a level. To
// be called before other threads log. gRPC's messages are logged at level debug: it writes several for each failed
// handshake, with text from the peer, which is escaped.
void StartLog(const LogConfig& log, absl::string_view program);
void SetLogLevel(LogLevel level);

// Makes the lines of the log on standard output, for kText, kLogfmt or kJson, with times in UTC:
// text:   2026-11-22T10:20:11.482Z info device gpu0: snapshots every 1s
// logfmt: time=2026-11-22T10:20:11.482Z level=info msg="device gpu0: snapshots every 1s"
// json:   {"time":"2026-11-22T10:20:11.482Z","level":"info","msg":"device gpu0: snapshots every 1s"}
std::unique_ptr<spdlog::formatter> MakeLogFormatter(LogFormat format);

// Keys are kept in locked memory and out of core dumps. The limit of open files is raised to the hard limit. Freed
// memory is returned to the system.
void PrepareProcess();

// Returns to the system freed memory that the allocator keeps, where it has become much more: after a crowd of
// connections has gone.
//   MemoryTrim memory;
//   memory.Trim(clock.Steady());   // as often as wanted: it acts every ten seconds at most
// Not thread-safe.
class MemoryTrim {
 public:
  void Trim(absl::Duration now);

 private:
  absl::Duration next_;
  int64_t kept_ = 0;  // the fewest unused bytes since the last trim
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_PROCESS_H_
