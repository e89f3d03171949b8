// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/audit_metrics.h"

#include <string>

#include "daemon/metrics/families.h"

namespace sideband::daemon {
struct AuditMetrics::Families {
  explicit Families(prometheus::Registry& to) : registry(to) {}

  prometheus::Registry& registry;
  prometheus::Counter& audit_entries =
      Counters(registry, "sideband_audit_entries_total", "Entries written to the audit log.").Add({});
  prometheus::Counter& audit_lost =
      Counters(registry, "sideband_audit_lost_total", "Entries that could not be written to the audit log.").Add({});
};

AuditMetrics::AuditMetrics(prometheus::Registry& registry) : families_(std::make_unique<Families>(registry)) {}

AuditMetrics::~AuditMetrics() = default;

void AuditMetrics::AuditWritten(uint64_t entries) { families_->audit_entries.Increment(static_cast<double>(entries)); }

void AuditMetrics::AuditLost(uint64_t entries) { families_->audit_lost.Increment(static_cast<double>(entries)); }

}  // namespace sideband::daemon
