// SPDX-License-Identifier: Apache-2.0
//
// The store as one caller sees it: where every server gets its data, so that none can forget the policy.
//   Reader reader(store, policy_holder, clock, audit);
//   if (const auto caller = reader.Identify(credentials)) for (const VisibleDevice& device : reader.Devices(*caller)) …
#ifndef SIDEBAND_DAEMON_API_READER_H_
#define SIDEBAND_DAEMON_API_READER_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/api/view_auditor.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/authz/absent_names.h"
#include "daemon/authz/credentials.h"
#include "daemon/authz/policy_holder.h"
#include "daemon/authz/token_verifier.h"
#include "daemon/authz/view.h"
#include "daemon/authz/view_cache.h"
#include "daemon/base/clock.h"
#include "daemon/model/device_snapshot.h"
#include "daemon/store/store.h"

namespace sideband::daemon {

// A principal under the policy that knows it.
struct Caller {
  VersionedPolicy policy;
  Principal principal;

  bool May(const Resource& resource, Right right) const {
    return Decide(*policy.policy, principal, resource, right).allowed;
  }
};

// A device of which a caller may see something.
struct VisibleDevice {
  enum class State { kFresh, kStale, kAway };
  size_t index = 0;                                // in Store::devices()
  const DeviceInfo* info = nullptr;                // lives as long as the store
  State state = State::kAway;                      // at the time of asking
  absl::Duration age;                              // of the snapshot; zero where there is none
  std::shared_ptr<const DeviceSnapshot> snapshot;  // nullptr exactly where the device is away
  std::shared_ptr<const View> view;                // of the snapshot's topology; nullptr with it
};

// Thread-safe. The constructor's arguments must outlive it.
class Reader {
 public:
  // Without `tokens` (nullptr) no bearer token is anyone's.
  Reader(Store& store, PolicyHolder& policy, const Clock& clock, AuditSink& audit, TokenVerifier* tokens = nullptr)
      : store_(store),
        policy_(policy),
        clock_(clock),
        audit_(audit),
        tokens_(tokens),
        view_auditor_(store.devices(), audit) {}

  Store& store() const { return store_; }
  PolicyHolder& policy() const { return policy_; }
  const Clock& clock() const { return clock_; }
  // Where requests are told; what a group may see of a device is told by the reader itself.
  AuditSink& audit() const { return audit_; }
  // For what shows the past.
  ViewAuditor& view_auditor() { return view_auditor_; }
  bool takes_tokens() const { return tokens_ != nullptr; }
  // Who that is under the policy now in force: a request with a token is
  // whom the token says, and nobody if the token is bad, or if the certificate is somebody else whom the policy lists;
  // else the peer of a Unix socket is the operator; else the certificate counts. Errors are for the audit log, never
  // for the caller: UNAUTHENTICATED where nothing good was shown, PERMISSION_DENIED where it is known who asks, and
  // that is nobody of the policy.
  absl::StatusOr<Caller> Authenticate(const Credentials& credentials) const;
  // The same without a reason. nullopt: nobody.
  std::optional<Caller> Identify(const Credentials& credentials) const;
  // In the configuration's order. A device that was never heard of shows itself to operators only, since nobody knows
  // whose VMs it holds.
  std::vector<VisibleDevice> Devices(const Caller& caller);
  // How many of the configured devices are fresh: what may be told to anybody.
  size_t FreshDevices() const;
  // Who is on the devices; nullopt unless every configured device is fresh, since only then it is known who is not.
  std::optional<Topologies> FreshTopologies() const;

 private:
  absl::StatusOr<Principal> PrincipalOf(const VersionedPolicy& policy, const Credentials& credentials) const;
  absl::StatusOr<Principal> PrincipalOfToken(const VersionedPolicy& policy, const Credentials& credentials) const;
  std::shared_ptr<const DeviceSnapshot> Fresh(size_t device) const;
  VisibleDevice Look(size_t index, const Caller& caller);

  Store& store_;
  PolicyHolder& policy_;
  const Clock& clock_;
  AuditSink& audit_;
  TokenVerifier* const tokens_;
  ViewAuditor view_auditor_;
  ViewCache views_{view_auditor_};
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_API_READER_H_
