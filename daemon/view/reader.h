// SPDX-License-Identifier: Apache-2.0
//
// The store as one caller sees it. All servers get their data here, so that no server can bypass the policy.
//   Reader reader(store, policy_holder, clock, audit);
//   if (const auto caller = reader.Identify(credentials)) Show(reader.Devices(*caller));
#ifndef SIDEBAND_DAEMON_VIEW_READER_H_
#define SIDEBAND_DAEMON_VIEW_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/authz/absent_names.h"
#include "daemon/authz/policy_holder.h"
#include "daemon/base/clock.h"
#include "daemon/identity/identity.h"
#include "daemon/identity/token_verifier.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/store.h"
#include "daemon/view/decision_log.h"
#include "daemon/view/tenure.h"
#include "daemon/view/update_notifier.h"
#include "daemon/view/view.h"

namespace sideband::daemon {

// Called for each view that is computed and cached, on the thread that requested it. Must be thread-safe.
class ViewListener {
 public:
  virtual ~ViewListener() = default;
  // False where the view could not be audited. The cache then drops the view, and the next request for it calls again.
  virtual bool OnView(size_t device, const VersionedPolicy& policy, const Principal& principal,
                      const DecisionLog& decisions) = 0;
};

// Views, computed once per (policy version, topology, group of principals). Thread-safe. Holds one view per device and
// group, the most recently requested. Older views live while readers hold them.
class ViewCache {
 public:
  // `listener` must outlive the cache.
  explicit ViewCache(ViewListener& listener) : listener_(listener) {}

  // `principal` must be from `policy`; `topology` must be the device's.
  std::shared_ptr<const View> Get(size_t device, const VersionedPolicy& policy, const Principal& principal,
                                  std::shared_ptr<const Topology> topology);

 private:
  struct Entry {
    uint64_t policy_version = 0;
    std::shared_ptr<const View> view;  // shared with readers and their caches
  };
  using Key = std::pair<size_t, size_t>;  // device, group

  std::shared_ptr<const View> Find(const Key& key, uint64_t policy_version, const Topology* topology)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns `made`, or the view that another thread has cached meanwhile.
  std::shared_ptr<const View> Keep(const Key& key, uint64_t policy_version, std::shared_ptr<const View> made);
  void Drop(const Key& key, const View* view);

  ViewListener& listener_;

  absl::Mutex mu_;
  uint64_t policy_version_ ABSL_GUARDED_BY(mu_) = 0;  // the newest seen
  absl::flat_hash_map<Key, Entry> entries_ ABSL_GUARDED_BY(mu_);
};

// Writes the decisions behind each view to the audit log when the view is computed.
//
// Thread-safe. A view is recomputed whenever a context appears or disappears. It is audited again only if its outcomes
// or the policy differ from those of the last view of its group and device, or if the log did not accept the last view.
// Memory is bounded: one outcome per device and group, and kOutcomesMax past outcomes.
class ViewAuditor final : public ViewListener {
 public:
  // `store` and `audit` must outlive the auditor.
  ViewAuditor(const Store& store, AuditSink& audit) : store_(store), audit_(audit) {}

  bool OnView(size_t device, const VersionedPolicy& policy, const Principal& principal,
              const DecisionLog& decisions) override;
  // For the view of a topology that may be past. Audited unless a present or past view with the same outcomes was
  // audited.
  void OnPastView(const DeviceInfo& device, const VersionedPolicy& policy, const Principal& principal,
                  const DecisionLog& decisions);

 private:
  using Key = std::pair<size_t, size_t>;  // device, group
  static constexpr size_t kOutcomesMax = 4096;

  // False where the log did not accept all entries.
  bool Audit(const std::string& device, const VersionedPolicy& policy, const Principal& principal,
             const std::vector<std::string>& texts, const std::string& why);
  // False under a policy that has been replaced. Its outcomes are not remembered.
  bool Enter(uint64_t policy_version) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsNews(const Key& key, uint64_t policy_version, const std::string& outcome);
  bool IsNewsOfThePast(uint64_t policy_version, const std::string& outcome);
  // `key` is nullptr for a past view.
  void Remember(const Key* key, uint64_t policy_version, const std::string& outcome);

  const Store& store_;
  AuditSink& audit_;

  absl::Mutex mu_;
  uint64_t policy_version_ ABSL_GUARDED_BY(mu_) = 0;                 // the newest seen
  absl::flat_hash_map<Key, std::string> told_ ABSL_GUARDED_BY(mu_);  // hashes of the last outcomes under it
  absl::flat_hash_set<std::string> told_ever_ ABSL_GUARDED_BY(mu_);  // likewise of all outcomes, past views included
};

// A principal and the policy under which it was authenticated.
struct Caller {
  VersionedPolicy policy;
  Principal principal;

  bool May(const Resource& resource, Right right) const {
    return Decide(*policy.policy, principal, resource, right).allowed;
  }
  bool is_operator() const { return principal.role == Principal::Role::kOperator; }
  // Also as of the policy in force, which may be newer than the topology: what a device counts now must not be shown.
  bool IsConfidential(const mailbox::VmInfo& vm) const { return vm.confidential || policy.policy->GrantsSeal(vm.uuid); }
};

// A device of which a caller may see at least a part.
struct VisibleDevice {
  enum class State { kFresh, kStale, kAway };
  size_t index = 0;                                // its id in the store
  std::shared_ptr<const DeviceInfo> info;          // as in the store at the time of the call
  State state = State::kAway;                      // at the time of the call
  absl::Duration age;                              // of the snapshot; zero without a snapshot
  std::shared_ptr<const DeviceSnapshot> snapshot;  // nullptr exactly where the device is away
  std::shared_ptr<const View> view;                // of the snapshot's topology; nullptr without a snapshot
  bool shows_board = false;                        // whether its board is read, and the caller may see all of it
};

// Thread-safe. The constructor's arguments must outlive it, to the end of its destructor.
class Reader {
 public:
  // Without `tokens` (nullptr) every bearer token is rejected.
  Reader(Store& store, PolicyHolder& policy, const Clock& clock, AuditSink& audit, TokenVerifier* tokens = nullptr)
      : store_(store), policy_(policy), clock_(clock), audit_(audit), tokens_(tokens), view_auditor_(store, audit) {}

  VersionedPolicy CurrentPolicy() const { return policy_.Current(); }
  const Clock& clock() const { return clock_; }
  // For the entries of requests. The views of a group are audited by the reader itself.
  AuditSink& audit() const { return audit_; }
  // For views of the past.
  ViewAuditor& view_auditor() { return view_auditor_; }
  bool takes_tokens() const { return tokens_ != nullptr; }
  // Which part of the past is the caller's: of all VMs all of it for those who are no tenants.
  VmTenures TenuresOf(const Caller& caller) const;
  Tenures& tenures() { return tenures_; }
  // Called whenever the data that callers see may have changed.
  void AddListener(UpdateListener& listener) { updates_.AddListener(listener); }
  void RemoveListener(UpdateListener& listener) { updates_.RemoveListener(listener); }
  // Authenticates a caller under the policy in force, by the first of these credentials that the request has:
  // 1. A bearer token. It alone determines the principal, but a certificate with another identity that the policy lists
  //    makes the request ambiguous.
  // 2. The peer of a Unix socket that may operate the daemon: an operator.
  // 3. The certificate.
  // Errors are for the audit log, never for the caller. UNAUTHENTICATED: the connection may no longer be used, the
  // token is invalid or tokens are not configured, or the policy does not list the certificate's identity.
  // PERMISSION_DENIED: the token is valid, but its identity is ambiguous or not listed.
  absl::StatusOr<Caller> Authenticate(const Credentials& credentials) const;
  // The same without a reason; nullopt after an error.
  std::optional<Caller> Identify(const Credentials& credentials) const;
  // In the configuration's order. A device without a snapshot is visible only to operators, and to tenants with a
  // partition of it, since its VMs are unknown.
  std::vector<VisibleDevice> Devices(const Caller& caller);
  // Whether the device is one of them while its topology is that of `view`; nullptr: it has none.
  static bool Sees(const Caller& caller, const DeviceInfo& device, const View* view);
  // Devices(). A tenant with a VM in no known topology also gets the devices without a snapshot, where the VM may be.
  // For scrapes only, which must distinguish a device that is down from a device that does not exist; they show only
  // the name of such a device.
  std::vector<VisibleDevice> DevicesToScrape(const Caller& caller);
  // The number of configured devices that are fresh. Unauthenticated callers may see it.
  size_t FreshDevices() const;
  // Whether no later snapshot of the device has been published, and the device is still configured.
  bool IsNewest(size_t device, const DeviceSnapshot& snapshot) const {
    return store_.Newest(device).get() == &snapshot;
  }
  // Whether all configured devices are fresh.
  bool AllFresh() const;
  // The topologies of all devices; nullopt unless every configured device is fresh. Otherwise a VM that is in no
  // topology could still be on a device.
  std::optional<Topologies> FreshTopologies() const;

 private:
  absl::StatusOr<Principal> PrincipalOf(const VersionedPolicy& policy, const Credentials& credentials) const;
  absl::StatusOr<Principal> PrincipalOfToken(const VersionedPolicy& policy, const Credentials& credentials) const;
  std::shared_ptr<const DeviceSnapshot> Fresh(const StoredDevice& device) const;
  VisibleDevice Look(const StoredDevice& stored, const Caller& caller);
  // Whether a VM of the caller is in no known topology.
  bool HasUnplacedVm(const Caller& caller) const;

  Store& store_;
  PolicyHolder& policy_;
  const Clock& clock_;
  AuditSink& audit_;
  TokenVerifier* const tokens_;
  Tenures tenures_{policy_, clock_};
  ViewAuditor view_auditor_;
  ViewCache views_{view_auditor_};
  UpdateNotifier updates_{store_, policy_};
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_READER_H_
