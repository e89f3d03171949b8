// SPDX-License-Identifier: Apache-2.0
#include "daemon/authz/policy_holder.h"

#include <utility>

namespace sideband::daemon {

PolicyHolder::PolicyHolder(std::shared_ptr<const Policy> policy, std::shared_ptr<const KeySet> keys)
    : current_{std::move(policy), std::move(keys), 1} {}

VersionedPolicy PolicyHolder::Current() const {
  absl::ReaderMutexLock lock(&mu_);
  return current_;
}

void PolicyHolder::Replace(std::shared_ptr<const Policy> policy, std::shared_ptr<const KeySet> keys) {
  {
    absl::MutexLock lock(&mu_);
    // Swapped: the old policy is destroyed without the lock.
    current_.policy.swap(policy);
    current_.keys.swap(keys);
    ++current_.version;
  }
  // mu_ is free here, so that listeners may call Current().
  absl::MutexLock lock(&listeners_mu_);
  for (PolicyListener* listener : listeners_) listener->OnPolicyChange();
}

void PolicyHolder::AddListener(PolicyListener& listener) {
  absl::MutexLock lock(&listeners_mu_);
  listeners_.insert(&listener);
}

void PolicyHolder::RemoveListener(PolicyListener& listener) {
  absl::MutexLock lock(&listeners_mu_);
  listeners_.erase(&listener);
}

}  // namespace sideband::daemon
