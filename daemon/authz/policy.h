// SPDX-License-Identifier: Apache-2.0
//
// Who may see what, as the policy file says it; README.md has the format. It is read all or nothing.
//   SIDEBAND_ASSIGN_OR_RETURN(std::shared_ptr<const Policy> policy, LoadPolicy("/etc/sideband/policy.yaml"));
//   if (const auto principal = policy->Identify(names)) …
#ifndef SIDEBAND_DAEMON_AUTHZ_POLICY_H_
#define SIDEBAND_DAEMON_AUTHZ_POLICY_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "daemon/authz/event_groups.h"
#include "daemon/authz/identity.h"
#include "proto/base/uuid.h"

namespace sideband::daemon {

enum class Right : uint8_t { kRead, kMark, kPeek, kSeal };
inline constexpr size_t kRights = 4;
using RightSet = std::bitset<kRights>;

// Names that a grant lists, or all of them.
class NameSet {
 public:
  NameSet() = default;  // all
  explicit NameSet(std::set<std::string> names) : names_(std::move(names)) {}
  bool all() const { return !names_.has_value(); }
  bool Contains(absl::string_view name) const { return all() || names_->contains(std::string(name)); }

 private:
  std::optional<std::set<std::string>> names_;
};

// What a tenant may do with one of its VMs.
struct VmGrant {
  Uuid vm;
  size_t line = 0;  // of the policy file, where the VM is named
  NameSet contexts;
  NameSet events;
  RightSet rights;
};

struct Tenant {
  std::string name;
  std::vector<VmGrant> vms;

  const VmGrant* FindVm(const Uuid& uuid) const;
};

// Somebody the policy knows. Meaningful only with the policy that gave it.
struct Principal {
  enum class Role : uint8_t { kOperator, kAuditor, kTenant };
  Role role = Role::kTenant;
  size_t tenant = 0;     // index in Policy::tenants(); 0 for others
  std::string identity;  // as the policy lists it

  // Principals of one group see the same: all operators are one group, so are all auditors, and each tenant is one.
  size_t group() const { return role == Role::kTenant ? tenant + 2 : static_cast<size_t>(role); }
};

// Immutable, therefore thread-safe.
class Policy {
 public:
  // INVALID_ARGUMENT with FILE:LINE for whatever is unknown, repeated or given to two: an identity has one role, a VM
  // one tenant. `path` is for messages.
  static absl::StatusOr<std::shared_ptr<const Policy>> Parse(const std::string& text, const std::string& path);

  const std::vector<Tenant>& tenants() const { return tenants_; }
  const std::string& path() const { return path_; }
  // Whether VMs may be named that are on no device.
  bool allows_absent_vms() const { return allows_absent_vms_; }
  // Whether events may be named that no device counts.
  bool allows_absent_events() const { return allows_absent_events_; }
  // Wherever the file names an event.
  const std::vector<NamedEvent>& named_events() const { return named_events_; }
  // Whom a certificate's names are; nullopt: nobody.
  std::optional<Principal> Identify(const SubjectNames& names) const;
  // Whose an identity is; nullopt: nobody's.
  std::optional<Principal> Find(absl::string_view identity) const;

 private:
  friend class PolicyReader;
  Policy() = default;

  std::string path_;
  bool allows_absent_vms_ = false;
  bool allows_absent_events_ = false;
  std::vector<NamedEvent> named_events_;
  std::vector<Tenant> tenants_;
  absl::flat_hash_map<std::string, Principal> principals_;  // by identity
};

absl::StatusOr<std::shared_ptr<const Policy>> LoadPolicy(const std::string& path);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_POLICY_H_
