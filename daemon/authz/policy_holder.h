// SPDX-License-Identifier: Apache-2.0
//
// The policy in force and the keys that verify bearer tokens. A reload replaces both together.
//   PolicyHolder holder(LoadPolicy(path, errors), LoadKeySet(jwks_file, errors));
//   if (errors.empty()) holder.Replace(policy, keys);   // on SIGHUP; after an error nothing changes
#ifndef SIDEBAND_DAEMON_AUTHZ_POLICY_HOLDER_H_
#define SIDEBAND_DAEMON_AUTHZ_POLICY_HOLDER_H_

#include <cstdint>
#include <memory>
#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/authz/policy.h"

namespace sideband::daemon {

// Notified of each replacement, on the replacing thread. OnPolicyChange must return at once and must not call
// AddListener or RemoveListener.
class PolicyListener {
 public:
  virtual ~PolicyListener() = default;
  virtual void OnPolicyChange() = 0;
};

class KeySet;

// A policy with its keys and their common version: 1, 2, 3, … in a run of the daemon.
struct VersionedPolicy {
  std::shared_ptr<const Policy> policy;  // shared by all current readers
  std::shared_ptr<const KeySet> keys;    // likewise; nullptr: every bearer token is rejected
  uint64_t version = 0;
};

// Thread-safe.
class PolicyHolder {
 public:
  explicit PolicyHolder(std::shared_ptr<const Policy> policy, std::shared_ptr<const KeySet> keys = nullptr);

  VersionedPolicy Current() const;
  // Replaces both at once, so that no request sees a new policy with old keys or the reverse.
  void Replace(std::shared_ptr<const Policy> policy, std::shared_ptr<const KeySet> keys = nullptr);

  // `listener` is notified of replacements until RemoveListener returns.
  void AddListener(PolicyListener& listener);
  void RemoveListener(PolicyListener& listener);

 private:
  mutable absl::Mutex mu_;
  VersionedPolicy current_ ABSL_GUARDED_BY(mu_);
  // Held while listeners are notified.
  absl::Mutex listeners_mu_;
  std::set<PolicyListener*> listeners_ ABSL_GUARDED_BY(listeners_mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_POLICY_HOLDER_H_
