// SPDX-License-Identifier: Apache-2.0
//
// Notifies that the data which callers see may have changed, but not of what changed: no snapshot passes through here.
//   UpdateNotifier updates(store, policy);
//   updates.AddListener(streams);
#ifndef SIDEBAND_DAEMON_VIEW_UPDATE_NOTIFIER_H_
#define SIDEBAND_DAEMON_VIEW_UPDATE_NOTIFIER_H_

#include <cstddef>
#include <memory>
#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/authz/policy_holder.h"
#include "daemon/snapshot/store.h"

namespace sideband::daemon {

// Called after each publication and each change of the policy, on the thread that makes it. OnUpdate must return at
// once and must not call AddListener or RemoveListener.
class UpdateListener {
 public:
  virtual ~UpdateListener() = default;
  virtual void OnUpdate() = 0;
};

// Thread-safe; `store` and `policy` must outlive it.
class UpdateNotifier final : private PublicationListener, private PolicyListener {
 public:
  UpdateNotifier(Store& store, PolicyHolder& policy);
  ~UpdateNotifier() override;

  // `listener` is called until RemoveListener returns; a call may be in progress until then.
  void AddListener(UpdateListener& listener) ABSL_LOCKS_EXCLUDED(mu_);
  void RemoveListener(UpdateListener& listener) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void OnPublish(size_t /*device*/, const std::shared_ptr<const DeviceSnapshot>& /*snapshot*/) override { Notify(); }
  void OnPolicyChange() override { Notify(); }
  void Notify() ABSL_LOCKS_EXCLUDED(mu_);

  Store& store_;
  PolicyHolder& policy_;
  // Held while listeners are called, so that a removed one is never called again.
  absl::Mutex mu_;
  std::set<UpdateListener*> listeners_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_UPDATE_NOTIFIER_H_
