// SPDX-License-Identifier: Apache-2.0
//
// A limit on the calls of each identity: an average rate, and a burst after a pause.
//   RequestQuota quota({.per_second = 50, .burst = 100}, clock);
//   const RequestQuota::Verdict verdict = quota.Take("spiffe://example.org/acme");
//   if (!verdict.is_admitted) Reject(verdict.retry_after);   // retry no sooner than that from now
#ifndef SIDEBAND_DAEMON_GRPC_REQUEST_QUOTA_H_
#define SIDEBAND_DAEMON_GRPC_REQUEST_QUOTA_H_

#include <cstddef>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"

namespace sideband::daemon {

// Thread-safe. `clock` must outlive it. Entries are dropped once a whole burst is available again, so there are never
// more than the identities that the policy listed within that time.
class RequestQuota {
 public:
  struct Limits {
    int per_second = 50;
    int burst = 100;
  };
  struct Verdict {
    bool is_admitted = true;
    bool is_repeated = false;    // rejected, and so was the identity's previous request
    absl::Duration retry_after;  // zero where admitted
  };

  RequestQuota(Limits limits, const Clock& clock);

  // Charges the request where it is admitted. A rejected request is not charged.
  Verdict Take(const std::string& identity);

  const Limits& limits() const { return limits_; }
  // For tests: the number of entries.
  size_t remembered() const;

 private:
  struct Entry {
    absl::Duration paid_until;  // steady time; each admitted request adds `interval_`
    bool is_refused = false;    // the last request was rejected
  };

  void Forget(absl::Duration now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Limits limits_;
  const Clock& clock_;
  const absl::Duration interval_;  // 1 s / per_second
  const absl::Duration window_;    // burst * interval_

  mutable absl::Mutex mu_;
  absl::flat_hash_map<std::string, Entry> entries_ ABSL_GUARDED_BY(mu_);  // by identity
  absl::Duration forget_at_ ABSL_GUARDED_BY(mu_);                         // steady time
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_REQUEST_QUOTA_H_
