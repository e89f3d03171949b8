// SPDX-License-Identifier: Apache-2.0
//
// Which of the polls of a page are audited: one a minute for each identity, so that a page that stays open does not
// displace the rest of the audit log.
//   if (poll_audit.IsDue(identity, clock.Steady())) Audit(request);
#ifndef SIDEBAND_DAEMON_HTTP_POLL_AUDIT_H_
#define SIDEBAND_DAEMON_HTTP_POLL_AUDIT_H_

#include <cstddef>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace sideband::daemon {

// Thread-safe.
class PollAudit {
 public:
  static constexpr absl::Duration kInterval = absl::Minutes(1);
  // More identities than this within a minute are forgotten, and then audited once more.
  static constexpr size_t kIdentitiesMax = 4096;

  // Whether the last poll of the identity for which this was true is a minute ago, at `now` of the steady clock.
  bool IsDue(const std::string& identity, absl::Duration now) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  absl::Mutex mu_;
  absl::flat_hash_map<std::string, absl::Duration> last_ ABSL_GUARDED_BY(mu_);  // by identity
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_POLL_AUDIT_H_
