// SPDX-License-Identifier: Apache-2.0
//
// Receives the audit entries of every component that decides on access.
//   audit.Record({.kind = AuditKind::kAccess, .principal = identity, .decision = AuditDecision::kAllow});
#ifndef SIDEBAND_DAEMON_AUDIT_AUDIT_SINK_H_
#define SIDEBAND_DAEMON_AUDIT_AUDIT_SINK_H_

#include "proto/audit/chain.h"

namespace sideband::daemon {

// Thread-safe.
class AuditSink {
 public:
  virtual ~AuditSink() = default;
  // Returns at once. The sink sets the entry's sequence and time. Returns false where the queue was full: a later
  // "lost" entry counts the entry.
  virtual bool Record(AuditEntry entry) = 0;
};

// For a daemon without an audit log.
class NullAuditSink final : public AuditSink {
 public:
  bool Record(AuditEntry) override { return true; }
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUDIT_AUDIT_SINK_H_
