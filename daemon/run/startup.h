// SPDX-License-Identifier: Apache-2.0
//
// Steps of a start: the command line, the folder for state, the audit log, and the file with the bound ports.
//   Flags flags;
//   const std::unique_ptr<CLI::App> app = MakeCommandLine(flags);
//   SIDEBAND_ASSIGN_OR_RETURN(const bool is_answered, ParseCommandLine(*app, {argv + 1, argv + argc}, PrintText));
//   SIDEBAND_ASSIGN_OR_RETURN(const auto folder, OpenStateFolder(config.state_dir, std::getenv));
//   SIDEBAND_RETURN_IF_ERROR(WritePortsFile("ports", grpc->port(), http->port()));   // "grpc: 40123\nhttp: 40124\n"
//   SIDEBAND_ASSIGN_OR_RETURN(const Audit audit, StartAudit(config.audit, "sidebandd 0.1.0", clock, *metrics));
#ifndef SIDEBAND_DAEMON_RUN_STARTUP_H_
#define SIDEBAND_DAEMON_RUN_STARTUP_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/audit/audit_files.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/base/clock.h"
#include "daemon/config/sections.h"
#include "daemon/http/site.h"
#include "daemon/metrics/self_metrics.h"

namespace sideband::daemon {

inline constexpr char kProgram[] = "sidebandd";

struct Flags {
  std::string config_file;
  bool check = false;
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

#endif  // SIDEBAND_DAEMON_RUN_STARTUP_H_
