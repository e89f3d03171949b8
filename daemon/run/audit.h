// SPDX-License-Identifier: Apache-2.0
//
// The audit log as the configuration has it.
//   SIDEBAND_ASSIGN_OR_RETURN(const Audit audit, StartAudit(config.audit, "sidebandd 0.1.0", clock, *metrics));
#ifndef SIDEBAND_DAEMON_RUN_AUDIT_H_
#define SIDEBAND_DAEMON_RUN_AUDIT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/audit/audit_files.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/base/clock.h"
#include "daemon/config/audit_config.h"
#include "daemon/http/site.h"
#include "daemon/metrics/self_metrics.h"

namespace sideband::daemon {

// Where what is decided is told, and the files behind it; without a file, nowhere.
struct Audit {
  std::unique_ptr<AuditFiles> files;
  std::unique_ptr<AuditSink> sink = std::make_unique<NullAuditSink>();
};

// The log says when entries are being lost, and when no longer. `clock` and `metrics` must outlive it. The file's
// error.
absl::StatusOr<Audit> StartAudit(const AuditConfig& config, std::string greeting, const Clock& clock,
                                 SelfMetrics& metrics);

// nullptr where there is no file; else `audit` must outlive it.
Site::AuditLogReader LogReader(const Audit& audit);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_AUDIT_H_
