// SPDX-License-Identifier: Apache-2.0
//
// The policy in force and the keys of bearer tokens, which a reload replaces together.
//   PolicyHolder holder(*LoadPolicy(path), *LoadKeySet(jwks_file));
//   if (policy.ok() && keys.ok()) holder.Replace(*policy, *keys);   // on SIGHUP; else the old ones stay
#ifndef SIDEBAND_DAEMON_AUTHZ_POLICY_HOLDER_H_
#define SIDEBAND_DAEMON_AUTHZ_POLICY_HOLDER_H_

#include <cstdint>
#include <memory>
#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/authz/policy.h"

namespace sideband::daemon {

// Told of each replacement, on the thread that makes it: it must return at once and must not call AddListener or
// RemoveListener.
class PolicyListener {
 public:
  virtual ~PolicyListener() = default;
  virtual void OnPolicyChange() = 0;
};

class KeySet;

// A policy with the keys of its time, and their version: 1, 2, 3, … in this run of the daemon.
struct VersionedPolicy {
  std::shared_ptr<const Policy> policy;  // shared by all readers that are at work with it
  std::shared_ptr<const KeySet> keys;    // likewise; nullptr: no bearer token is anyone's
  uint64_t version = 0;
};

// Thread-safe.
class PolicyHolder {
 public:
  explicit PolicyHolder(std::shared_ptr<const Policy> policy, std::shared_ptr<const KeySet> keys = nullptr);

  VersionedPolicy Current() const;
  // Both at once, so that nobody is ever judged by the one with the other's predecessor.
  void Replace(std::shared_ptr<const Policy> policy, std::shared_ptr<const KeySet> keys = nullptr);

  // `listener` is told of replacements until RemoveListener returns.
  void AddListener(PolicyListener& listener);
  void RemoveListener(PolicyListener& listener);

 private:
  mutable absl::Mutex mu_;
  VersionedPolicy current_ ABSL_GUARDED_BY(mu_);
  // Held while listeners are told.
  absl::Mutex listeners_mu_;
  std::set<PolicyListener*> listeners_ ABSL_GUARDED_BY(listeners_mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_POLICY_HOLDER_H_
