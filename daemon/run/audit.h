// SPDX-License-Identifier: Apache-2.0
//
// Starts the configured audit log.
//   SIDEBAND_ASSIGN_OR_RETURN(const Audit audit, StartAudit(config.audit, "sidebandd 0.1.0", clock, *metrics));
#ifndef SIDEBAND_DAEMON_RUN_AUDIT_H_
#define SIDEBAND_DAEMON_RUN_AUDIT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/audit/audit_files.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/base/clock.h"
#include "daemon/config/sections.h"
#include "daemon/http/site.h"
#include "daemon/metrics/self_metrics.h"

namespace sideband::daemon {

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

#endif  // SIDEBAND_DAEMON_RUN_AUDIT_H_
