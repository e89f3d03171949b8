// SPDX-License-Identifier: Apache-2.0
//
// An audit sink that keeps its entries, for tests.
//   FakeAuditSink audit;
//   audit.Record({.kind = AuditKind::kAccess});
//   EXPECT_EQ(audit.Entries(AuditKind::kAccess).size(), 1u);
#ifndef SIDEBAND_DAEMON_AUDIT_FAKE_AUDIT_SINK_H_
#define SIDEBAND_DAEMON_AUDIT_FAKE_AUDIT_SINK_H_

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/audit/audit_sink.h"

namespace sideband::daemon {

// Thread-safe.
class FakeAuditSink final : public AuditSink {
 public:
  bool Record(AuditEntry entry) override {
    absl::MutexLock lock(&mu_);
    if (room_ == 0) return false;
    --room_;
    entries_.push_back(std::move(entry));
    return true;
  }
  // Accepts this number of entries from now on.
  void SetRoom(size_t entries) {
    absl::MutexLock lock(&mu_);
    room_ = entries;
  }
  // All entries of a kind, in the order of Record().
  std::vector<AuditEntry> Entries(AuditKind kind) const {
    absl::MutexLock lock(&mu_);
    std::vector<AuditEntry> found;
    for (const AuditEntry& entry : entries_) {
      if (entry.kind == kind) found.push_back(entry);
    }
    return found;
  }
  void Clear() {
    absl::MutexLock lock(&mu_);
    entries_.clear();
  }

 private:
  mutable absl::Mutex mu_;
  size_t room_ ABSL_GUARDED_BY(mu_) = std::numeric_limits<size_t>::max();
  std::vector<AuditEntry> entries_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUDIT_FAKE_AUDIT_SINK_H_
