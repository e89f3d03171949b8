// SPDX-License-Identifier: Apache-2.0
//
// Steps of a start: the command line, the settings of the whole process (signals, the log, memory, limits), the folder
// for state, the audit log, and the file with the bound ports.
//   Signals signals;   // before any other thread
//   Flags flags;
//   const std::unique_ptr<CLI::App> app = MakeCommandLine(flags);
//   SIDEBAND_ASSIGN_OR_RETURN(const bool is_answered, ParseCommandLine(*app, {argv + 1, argv + argc}, PrintText));
//   PrepareProcess();
//   StartLog(config.log, "sidebandd");
//   SIDEBAND_ASSIGN_OR_RETURN(const auto folder, OpenStateFolder(config.state_dir, std::getenv));
//   SIDEBAND_RETURN_IF_ERROR(WritePortsFile("ports", grpc->port(), http->port()));   // "grpc: 40123\nhttp: 40124\n"
//   SIDEBAND_ASSIGN_OR_RETURN(const Audit audit, StartAudit(config.audit, "sidebandd 0.1.0", clock, *metrics));
//   const int signal = signals.WaitFor(absl::Seconds(1));   // 0: none
//   SetLogLevel(LogLevel::kDebug);                          // after a reload
#ifndef SIDEBAND_DAEMON_STARTUP_H_
#define SIDEBAND_DAEMON_STARTUP_H_

#include <spdlog/formatter.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/audit/audit_files.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/base/clock.h"
#include "daemon/config/config.h"
#include "daemon/http/site.h"
#include "daemon/metrics/self_metrics.h"

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

inline constexpr char kProgram[] = "sidebandd";

struct Flags {
  std::string config_file;
  bool check = false;
  bool probe = false;  // only with `check`
};

// Parsing stores the options in `flags`, which must outlive the result. The manual page is generated from it, too.
std::unique_ptr<CLI::App> MakeCommandLine(Flags& flags);

// The folder for state that outlives the daemon.
//
// Returns `configured` unless it is empty; else the first folder of systemd's $STATE_DIRECTORY; else `sideband` in
// $XDG_STATE_HOME or in .local/state of $HOME, which must exist. A missing folder is created with mode 0700. `variable`
// returns the value of an environment variable, or nullptr if it is not set. NOT_FOUND if no source names a folder;
// PERMISSION_DENIED if other users may write to it; otherwise the system's error.
absl::StatusOr<std::string> OpenStateFolder(const std::string& configured,
                                            const std::function<const char*(const char*)>& variable);

// A file with the daemon's bound ports, for configurations with port 0.
//
// Replaces the file atomically; the file is world-readable. The temporary file in the same folder has an unpredictable
// name, and symbolic links are not followed. UNAVAILABLE "PATH: why". Does nothing if `path` is empty.
absl::Status WritePortsFile(const std::string& path, uint16_t grpc_port, uint16_t http_port);

// The sink for audit entries and the files behind it. Without a configured file, entries are discarded.
struct Audit {
  std::unique_ptr<AuditFiles> files;
  std::unique_ptr<AuditSink> sink = std::make_unique<NullAuditSink>();
};

// Opens the files and starts the log. When entries begin to be lost, and when they are written again, one line is
// logged. `clock` and `metrics` must outlive the result. Errors are those of the file.
absl::StatusOr<Audit> StartAudit(const AuditConfig& config, std::string greeting, const Clock& clock,
                                 SelfMetrics& metrics);

// Returns nullptr if there is no file. Otherwise `audit` must outlive the result.
Site::AuditLogReader LogReader(const Audit& audit);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_STARTUP_H_
