// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/audit/audit_files.h"
#include "daemon/audit/audit_log.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/audit/fake_audit_sink.h"
#include "daemon/base/clock.h"
#include "daemon/metrics/serving_metrics.h"
#include "proto/audit/entry.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

void Write(const AuditEntry& entry);

absl::Status UseAuditFiles(absl::string_view lines) {
  //@ daemon/audit/audit_files.h
  return absl::OkStatus();
}

absl::Status UseAuditLog(const Clock& clock, AuditMetrics& metrics, const AuditEntry& entry) {
  //@ daemon/audit/audit_log.h
  return absl::OkStatus();
}

void UseAuditSink(AuditSink& audit, const std::string& identity) {
  //@ daemon/audit/audit_sink.h
}

void UseFakeAuditSink() {
  //@ daemon/audit/fake_audit_sink.h
}

}  // namespace
}  // namespace sideband::daemon
