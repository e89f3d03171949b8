// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/audit.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "daemon/audit/audit_log.h"
#include "daemon/metrics/self_metrics.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

void ReportAuditLog(const absl::Status& status) {
  if (status.ok()) return spdlog::info("audit: entries are being written again");
  spdlog::error("audit: entries are being lost: {}", std::string(status.message()));
}

}  // namespace

absl::StatusOr<Audit> StartAudit(const AuditConfig& config, std::string greeting, const Clock& clock,
                                 SelfMetrics& metrics) {
  Audit audit;
  if (config.file.empty()) return audit;
  SIDEBAND_ASSIGN_OR_RETURN(audit.files, AuditFiles::Open({config.file, config.max_bytes, config.files}));
  AuditLog::Options options{.greeting = std::move(greeting), .on_change = ReportAuditLog};
  SIDEBAND_ASSIGN_OR_RETURN(audit.sink,
                            AuditLog::Start(std::move(options), audit.files->end(), *audit.files, clock, metrics));
  return audit;
}

Site::AuditLogReader LogReader(const Audit& audit) {
  if (audit.files == nullptr) return nullptr;
  return [&files = *audit.files](uint64_t after, size_t bytes_max) { return files.ReadAfter(after, bytes_max); };
}

}  // namespace sideband::daemon
