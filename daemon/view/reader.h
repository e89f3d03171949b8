// SPDX-License-Identifier: Apache-2.0
//
// The store as one caller sees it. All servers get their data here, so that no server can bypass the policy. Listeners
// learn that data may have changed, but not what changed: no snapshot passes through them. One of them reports the
// names in files that no device has.
//   Reader reader(store, policy_holder, clock, audit);
//   if (const auto caller = reader.Identify(credentials)) Show(reader.Devices(*caller));
#ifndef SIDEBAND_DAEMON_VIEW_READER_H_
#define SIDEBAND_DAEMON_VIEW_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/authz/absent_names.h"
#include "daemon/authz/policy.h"
#include "daemon/base/clock.h"
#include "daemon/identity/identity.h"
#include "daemon/identity/token_verifier.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/store.h"
#include "daemon/view/tenure.h"
#include "daemon/view/view.h"
#include "proto/audit/chain.h"

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
  const Tenures& tenures() const { return tenures_; }
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
  // In the configuration's order. A device without a snapshot is visible only to operators, and to tenants that have
  // it or a partition of it, since its VMs are unknown.
  std::vector<VisibleDevice> Devices(const Caller& caller);
  // Whether the caller sees all of the device's board: an operator, and the tenant of a GPU behind a BMC.
  static bool SeesBoard(const Caller& caller, const DeviceInfo& device);
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

// A request, for the audit log.
struct Access {
  std::string endpoint;  // "GET /metrics", "Telemetry/GetSnapshot"
  std::string resource;  // the request, unmodified
  std::string note;      // an explanation where needed, such as "stream ended"; may be empty
  std::string id = {};   // of the request; empty: it has none
};

// `outcome` is the status returned to an authenticated caller; every status but OK is logged as denied. The entry of an
// unauthenticated caller has the names in the certificate and whether a token was sent, never the token.
AuditEntry AccessEntry(const Reader& reader, const absl::StatusOr<Caller>& caller, const Credentials& credentials,
                       const Access& access, const absl::Status& outcome);

// Reports VMs and events that files name but no device has. The devices' VMs and events are unknown at start, so the
// check runs once, as soon as every device is fresh. Thread-safe; `reader` must outlive it.
class AbsentNameNotice final : public UpdateListener {
 public:
  // Names outside of the policy.
  struct Names {
    std::vector<NamedVm> vms;
    std::vector<PlacedEvent> events;
  };
  using Report = std::function<void(const std::string& line)>;

  // Calls `warn` with "FILE:LINE: VM … is on no device" or the like for each name of the policy then in force that no
  // device has, then for each such VM of `names`. Calls `fail` for each such event of `names`. Both are called on the
  // thread of an update (UpdateListener) and must return at once.
  AbsentNameNotice(Reader& reader, Names names, Report warn, Report fail);
  ~AbsentNameNotice() override;

  // Checks again, with these names, as soon as all current devices are fresh.
  void LookAgain(Names names) ABSL_LOCKS_EXCLUDED(mu_);

  void OnUpdate() override ABSL_LOCKS_EXCLUDED(mu_);

 private:
  Reader& reader_;
  const Report warn_;
  const Report fail_;
  absl::Mutex mu_;
  std::optional<Names> names_ ABSL_GUARDED_BY(mu_);  // nullopt: already checked
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_READER_H_
