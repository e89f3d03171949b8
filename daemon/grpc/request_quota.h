// SPDX-License-Identifier: Apache-2.0
//
// How often one identity may ask: so many times a second on average, and so many at once after a rest.
//   RequestQuota quota({.per_second = 50, .burst = 100}, clock);
//   const RequestQuota::Verdict verdict = quota.Take("spiffe://example.org/acme");
//   if (!verdict.is_admitted) …   // not before verdict.retry_after from now
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

// Thread-safe. `clock` must outlive it. Remembers only who has asked within the time in which a whole burst grows back,
// so that it never holds more than those whom the policy has listed in that time.
class RequestQuota {
 public:
  struct Limits {
    int per_second = 50;
    int burst = 100;
  };
  struct Verdict {
    bool is_admitted = true;
    bool is_repeated = false;    // refused, as the identity's last one was
    absl::Duration retry_after;  // zero where it is admitted
  };

  RequestQuota(Limits limits, const Clock& clock);

  // Counts a request where it is admitted; one that is refused costs nothing.
  Verdict Take(const std::string& identity);

  const Limits& limits() const { return limits_; }
  // For tests: how many identities it remembers.
  size_t remembered() const;

 private:
  struct Entry {
    absl::Duration paid_until;  // steady time; each request moves it on by `interval_`
    bool is_refused = false;    // the last one was
  };

  void Forget(absl::Duration now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Limits limits_;
  const Clock& clock_;
  const absl::Duration interval_;  // between requests at the average rate
  const absl::Duration window_;    // a whole burst of them

  mutable absl::Mutex mu_;
  absl::flat_hash_map<std::string, Entry> entries_ ABSL_GUARDED_BY(mu_);  // by identity
  absl::Duration forget_at_ ABSL_GUARDED_BY(mu_);                         // steady time
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_REQUEST_QUOTA_H_
