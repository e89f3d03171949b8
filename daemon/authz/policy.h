// SPDX-License-Identifier: Apache-2.0
//
// The access policy, read from the policy file; README.md has the format. The file is read all or nothing. A holder
// has the policy in force and the keys that verify bearer tokens.
//   const std::shared_ptr<const Policy> policy = LoadPolicy("/etc/sideband/policy.yaml", errors);
//   if (const auto principal = policy->Identify(names)) Serve(*principal);
//   PolicyHolder holder(policy, LoadKeySet(jwks_file, errors));
//   if (errors.empty()) holder.Replace(policy, keys);   // on SIGHUP; after an error nothing changes
#ifndef SIDEBAND_DAEMON_AUTHZ_POLICY_H_
#define SIDEBAND_DAEMON_AUTHZ_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/identity/identity.h"
#include "proto/base/errors.h"
#include "proto/base/uuid.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {

// The policy file's event_groups: named lists of events, which grants refer to as "@GROUP".

// An event's name and its line in the policy file.
struct NamedEvent {
  std::string name;
  size_t line = 0;
};

class EventGroups {
 public:
  // Reads the key `event_groups` of the policy, which may be absent. Groups do not nest. Errors have FILE:LINE and are
  // appended to `errors`; reading continues after an error.
  static EventGroups Read(const YamlMap& policy, ErrorList& errors);

  // Returns the events of a grant's list, including those of its groups. An unknown group is an error.
  std::set<std::string> Expand(const YamlNode& list, ErrorList& errors);
  // Every event that a group or an expanded list names directly, once per occurrence.
  const std::vector<NamedEvent>& named() const { return named_; }

 private:
  void Add(const std::string& name, const YamlNode& list, ErrorList& errors);
  absl::Status AddEvent(const YamlNode& node, std::vector<std::string>& events);
  absl::StatusOr<std::string> ParseName(const YamlNode& node);
  absl::Status ExpandInto(const YamlNode& node, std::set<std::string>& events);
  absl::Status Unknown(const YamlNode& node, const std::string& name) const;

  std::map<std::string, std::vector<std::string>> groups_;
  std::vector<NamedEvent> named_;
};

enum class Right : uint8_t { kRead, kMark, kPeek, kSeal, kConfigure, kRotate };

// Every right with its name in the policy file.
struct NamedRight {
  Right right;
  const char* name;
};
inline constexpr NamedRight kRights[] = {{Right::kRead, "read"},           {Right::kMark, "mark"},
                                         {Right::kPeek, "peek"},           {Right::kSeal, "seal"},
                                         {Right::kConfigure, "configure"}, {Right::kRotate, "rotate"}};

class RightSet {
 public:
  RightSet(std::initializer_list<Right> rights = {}) {
    for (const Right right : rights) Add(right);
  }
  bool operator==(const RightSet&) const = default;

  void Add(Right right) { bits_ |= Bit(right); }
  bool Contains(Right right) const { return (bits_ & Bit(right)) != 0; }

 private:
  static constexpr uint32_t Bit(Right right) { return uint32_t{1} << static_cast<uint8_t>(right); }

  uint32_t bits_ = 0;
};

// The names that a grant lists, or all names.
class NameSet {
 public:
  NameSet() = default;  // all
  explicit NameSet(std::set<std::string> names) : names_(std::move(names)) {}
  bool all() const { return !names_.has_value(); }
  bool Contains(absl::string_view name) const { return all() || names_->contains(std::string(name)); }

 private:
  std::optional<std::set<std::string>> names_;
};

// A tenant's rights on one of its VMs.
struct VmGrant {
  Uuid vm;
  size_t line = 0;  // of the policy file, where the VM is named
  NameSet contexts;
  NameSet events;
  RightSet rights;
  // With the right `configure`: the gate groups whose gates the tenant may open and close for this VM, and the events
  // that it may select.
  std::set<std::string> gate_groups;
  std::set<std::string> selectable_events;
  // From when on the VM's past is the tenant's; absent: from the reload that made the grant.
  std::optional<absl::Time> since;
};

// A partition of a device whose metrics a tenant may read.
struct PartitionGrant {
  std::string device;               // its name in the daemon's configuration
  uint8_t partition = 0;            // its GPU instance
  size_t line = 0;                  // of the policy file, where the device is named
  NameSet metrics;                  // words of mailbox::kMetrics
  std::optional<absl::Time> since;  // as of a VmGrant
};

// A whole device that one tenant has, such as a GPU behind a BMC.
struct DeviceGrant {
  std::string device;               // its name in the daemon's configuration
  size_t line = 0;                  // of the policy file, where it is named
  std::optional<absl::Time> since;  // as of a VmGrant
};

struct Tenant {
  std::string name;
  std::vector<VmGrant> vms;
  std::vector<PartitionGrant> partitions;
  std::vector<DeviceGrant> devices;

  const VmGrant* FindVm(const Uuid& uuid) const;
  const DeviceGrant* FindDevice(absl::string_view device) const;
  const PartitionGrant* FindPartition(absl::string_view device, uint8_t partition) const;
};

// An authenticated caller. Valid only with the policy that returned it.
struct Principal {
  enum class Role : uint8_t { kOperator, kAuditor, kTenant };
  Role role = Role::kTenant;
  size_t tenant = 0;     // index in Policy::tenants(); 0 for others
  std::string identity;  // as the policy lists it

  // Principals of a group see the same data: all operators form a group, all auditors another, and each tenant its own.
  size_t group() const { return role == Role::kTenant ? tenant + 2 : static_cast<size_t>(role); }
};

// Immutable, therefore thread-safe.
class Policy {
 public:
  // INVALID_ARGUMENT with FILE:LINE for an unknown or repeated name, for an identity, VM, partition or device that is
  // listed twice: an identity has one role, each of the others one tenant; and for the right `peek` without `read`.
  // `path` is for messages.
  static absl::StatusOr<std::shared_ptr<const Policy>> Parse(const std::string& text, const std::string& path);
  // Does the same, but appends every error to `errors`; returns nullptr after an error.
  static std::shared_ptr<const Policy> Parse(const std::string& text, const std::string& path, ErrorList& errors);

  const std::vector<Tenant>& tenants() const { return tenants_; }
  const std::string& path() const { return path_; }
  // Whether a tenant has the right `seal` on the VM. Such a VM is confidential.
  bool GrantsSeal(const Uuid& vm) const { return sealed_vms_.contains(vm); }
  // Whether the file may name VMs that are on no device.
  bool allows_absent_vms() const { return allows_absent_vms_; }
  // Whether the file may name events that no device counts.
  bool allows_absent_events() const { return allows_absent_events_; }
  // Every place in the file that names an event.
  const std::vector<NamedEvent>& named_events() const { return named_events_; }
  // The principal with the names of a certificate; nullopt for unlisted and for ambiguous names.
  std::optional<Principal> Identify(const SubjectNames& names) const;
  // The principal with the identity; nullopt for an unlisted identity.
  std::optional<Principal> Find(absl::string_view identity) const;
  // All identities that are listed, sorted.
  std::set<std::string> Identities() const;

 private:
  friend class PolicyReader;
  Policy() = default;

  std::string path_;
  bool allows_absent_vms_ = false;
  bool allows_absent_events_ = false;
  std::vector<NamedEvent> named_events_;
  std::vector<Tenant> tenants_;
  absl::flat_hash_set<Uuid> sealed_vms_;
  absl::flat_hash_map<std::string, Principal> principals_;  // by identity
};

// Reads the file at `path`. Returns nullptr after an error: those of Policy::Parse, an unreadable file, or a
// world-writable file (FileTrust::kNotWritable). Every error is appended to `errors`.
std::shared_ptr<const Policy> LoadPolicy(const std::string& path, ErrorList& errors);

// The name of a principal's role in the audit log: "operator", "auditor", "tenant:NAME". Principals with the same role
// name see the same data. `principal` must be from `policy`.
std::string RoleName(const Policy& policy, const Principal& principal);

// A line for each identity whose role is another one in `now`: "dns:a is now tenant:x, was operator". If there are more
// than `lines`, the last line says how many.
std::vector<std::string> IdentityChanges(const Policy& before, const Policy& now, size_t lines = 20);

// Notified of each replacement of the policy, on the replacing thread. OnPolicyChange must return at once and must not
// call AddListener or RemoveListener.
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

// The policy in force and the keys that verify bearer tokens. A reload replaces both together. Thread-safe.
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

#endif  // SIDEBAND_DAEMON_AUTHZ_POLICY_H_
