// SPDX-License-Identifier: Apache-2.0
//
// Metrics of the audit log.
//   metrics.AuditWritten(entries.size());
#ifndef SIDEBAND_DAEMON_METRICS_AUDIT_METRICS_H_
#define SIDEBAND_DAEMON_METRICS_AUDIT_METRICS_H_

#include <cstdint>
#include <memory>

namespace prometheus {
class Registry;
}

namespace sideband::daemon {

// Thread-safe. Label values must come from fixed sets (devices of the configuration, status codes, known paths): each
// new one is a series that stays.
class AuditMetrics {
 public:
  void AuditWritten(uint64_t entries);
  void AuditLost(uint64_t entries);

 protected:
  // Registers its families; throws what prometheus-cpp does.
  explicit AuditMetrics(prometheus::Registry& registry);
  ~AuditMetrics();

 private:
  struct Families;
  const std::unique_ptr<Families> families_;  // locks itself
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_METRICS_AUDIT_METRICS_H_
