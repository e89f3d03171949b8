// SPDX-License-Identifier: Apache-2.0
#include <prometheus/registry.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "daemon/metrics/collection_metrics.h"
#include "daemon/metrics/expect_metric.h"
#include "daemon/metrics/families.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/metrics/serving_metrics.h"
#include "proto/audit/entry.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog.h"

namespace sideband::daemon {
namespace {

void UseServingMetrics(AuditMetrics& audit, const std::vector<AuditEntry>& entries, ListenerMetrics& listeners,
                       RequestMetrics& requests, const absl::Status& status) {
  //@ daemon/metrics/serving_metrics.h
}

void UseCollectionMetrics(CollectionMetrics& metrics, absl::Duration took) {
  //@ daemon/metrics/collection_metrics.h
}

void UseExpectMetric(const std::unique_ptr<SelfMetrics>& metrics) {
  //@ daemon/metrics/expect_metric.h
}

void UseFamilies(prometheus::Registry& registry) {
  //@ daemon/metrics/families.h
}

absl::Status UseSelfMetrics(absl::Duration took, std::string& body) {
  //@ daemon/metrics/self_metrics.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::daemon
