// SPDX-License-Identifier: Apache-2.0
//
// Where what was decided is told. Everything that decides gets one.
//   audit.Record({.kind = AuditKind::kAccess, .principal = identity, .decision = AuditDecision::kAllow});
#ifndef SIDEBAND_DAEMON_AUDIT_AUDIT_SINK_H_
#define SIDEBAND_DAEMON_AUDIT_AUDIT_SINK_H_

#include "proto/audit/entry.h"

namespace sideband::daemon {

// Thread-safe.
class AuditSink {
 public:
  virtual ~AuditSink() = default;
  // Returns at once. The sink gives the entry its sequence and time. False: there was no room, and the entry will be
  // among those that a "lost" entry counts.
  virtual bool Record(AuditEntry entry) = 0;
};

// For a daemon without an audit log.
class NullAuditSink final : public AuditSink {
 public:
  bool Record(AuditEntry) override { return true; }
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUDIT_AUDIT_SINK_H_
