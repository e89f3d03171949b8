// SPDX-License-Identifier: Apache-2.0
#include "daemon/authz/policy.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {
namespace {

constexpr size_t kPolicyBytesMax = 16 << 20;
constexpr char kVersion[] = "1";

const std::string kRightNames[kRights] = {"read", "mark", "peek", "seal"};

absl::Status CheckVersion(const YamlMap& map) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string version, map.String("version"));
  if (version == kVersion) return absl::OkStatus();
  return map.Find("version")->Error(absl::StrCat("version ", version, " is not known; ", kVersion, " is"));
}

absl::StatusOr<RightSet> ReadRights(const YamlMap& map) {
  RightSet rights;
  const auto node = map.Find("rights");
  if (!node) return rights.set(static_cast<size_t>(Right::kRead));
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<YamlNode> words, node->List());
  for (const YamlNode& word : words) {
    SIDEBAND_ASSIGN_OR_RETURN(const std::string text, word.String());
    const auto* known = std::find(std::begin(kRightNames), std::end(kRightNames), text);
    if (known == std::end(kRightNames)) {
      return word.Error(absl::StrCat("unknown right '", text, "'", MustBeOneOf(kRightNames)));
    }
    rights.set(known - std::begin(kRightNames));
  }
  return rights;
}

// An absent key is all names; an empty list is none.
absl::StatusOr<NameSet> ReadContexts(const YamlMap& map) {
  const auto node = map.Find("contexts");
  if (!node) return NameSet();
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<std::string> names, node->StringList());
  return NameSet(std::set<std::string>(names.begin(), names.end()));
}

absl::StatusOr<NameSet> ReadEvents(const YamlMap& map, EventGroups& groups) {
  const auto node = map.Find("events");
  if (!node) return NameSet();
  SIDEBAND_ASSIGN_OR_RETURN(std::set<std::string> events, groups.Expand(*node));
  return NameSet(std::move(events));
}

}  // namespace

// Fills a policy while it checks that nothing is given to two.
class PolicyReader {
 public:
  explicit PolicyReader(const std::string& path) { policy_->path_ = path; }
  absl::StatusOr<std::shared_ptr<const Policy>> Read(const YamlNode& root);

 private:
  // Whoever has a name and identities alone.
  absl::Status Staff(const YamlMap& map, const std::string& key, Principal::Role role);
  absl::Status TenantEntry(const YamlNode& node);
  absl::Status Name(const YamlMap& map, std::string& name);
  absl::Status Identities(const YamlMap& map, const Principal& principal);
  absl::Status Identity(const YamlNode& node, Principal principal);
  absl::StatusOr<Uuid> NewVm(const YamlMap& map);
  absl::StatusOr<VmGrant> Grant(const YamlNode& node);

  std::shared_ptr<Policy> policy_{new Policy};
  EventGroups groups_;
  absl::flat_hash_set<std::string> names_;  // of operators, auditors and tenants
  absl::flat_hash_set<Uuid> vms_;
};

absl::StatusOr<std::shared_ptr<const Policy>> PolicyReader::Read(const YamlNode& root) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, root.Map({"version", "operators", "auditors", "tenants", "event_groups",
                                                         "allow_absent_vms", "allow_absent_events"}));
  SIDEBAND_RETURN_IF_ERROR(CheckVersion(map));
  SIDEBAND_ASSIGN_OR_RETURN(policy_->allows_absent_vms_, map.BoolOr("allow_absent_vms", false));
  SIDEBAND_ASSIGN_OR_RETURN(policy_->allows_absent_events_, map.BoolOr("allow_absent_events", false));
  SIDEBAND_ASSIGN_OR_RETURN(groups_, EventGroups::Read(map));
  SIDEBAND_RETURN_IF_ERROR(Staff(map, "operators", Principal::Role::kOperator));
  SIDEBAND_RETURN_IF_ERROR(Staff(map, "auditors", Principal::Role::kAuditor));
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<YamlNode> tenants, map.ListOrEmpty("tenants"));
  for (const YamlNode& node : tenants) SIDEBAND_RETURN_IF_ERROR(TenantEntry(node));
  policy_->named_events_ = groups_.named();
  return std::shared_ptr<const Policy>(std::move(policy_));
}

absl::Status PolicyReader::Name(const YamlMap& map, std::string& name) {
  SIDEBAND_ASSIGN_OR_RETURN(name, map.String("name"));
  if (names_.insert(name).second) return absl::OkStatus();
  return map.Find("name")->Error(absl::StrCat("name '", name, "' is given twice"));
}

absl::Status PolicyReader::Staff(const YamlMap& map, const std::string& key, Principal::Role role) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<YamlNode> nodes, map.ListOrEmpty(key));
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(const YamlMap entry, node.Map({"name", "identities"}));
    std::string name;
    SIDEBAND_RETURN_IF_ERROR(Name(entry, name));
    SIDEBAND_RETURN_IF_ERROR(Identities(entry, {.role = role}));
  }
  return absl::OkStatus();
}

absl::Status PolicyReader::TenantEntry(const YamlNode& node) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"name", "identities", "vms"}));
  Tenant tenant;
  SIDEBAND_RETURN_IF_ERROR(Name(map, tenant.name));
  SIDEBAND_RETURN_IF_ERROR(Identities(map, {.role = Principal::Role::kTenant, .tenant = policy_->tenants_.size()}));
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<YamlNode> vms, map.ListOrEmpty("vms"));
  for (const YamlNode& vm : vms) {
    SIDEBAND_ASSIGN_OR_RETURN(VmGrant grant, Grant(vm));
    tenant.vms.push_back(std::move(grant));
  }
  policy_->tenants_.push_back(std::move(tenant));
  return absl::OkStatus();
}

absl::Status PolicyReader::Identities(const YamlMap& map, const Principal& principal) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode list, map.Get("identities"));
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<YamlNode> nodes, list.List());
  // Nobody could ever be it: whoever writes that has forgotten something.
  if (nodes.empty()) return list.Error("identities names nobody: at least one identity is needed");
  for (const YamlNode& node : nodes) SIDEBAND_RETURN_IF_ERROR(Identity(node, principal));
  return absl::OkStatus();
}

absl::Status PolicyReader::Identity(const YamlNode& node, Principal principal) {
  SIDEBAND_ASSIGN_OR_RETURN(principal.identity, node.String());
  if (!IsIdentity(principal.identity)) {
    return node.Error(absl::StrCat("identity '", principal.identity,
                                   "' is neither spiffe://DOMAIN/PATH nor dns:NAME nor jwt:SUBJECT"));
  }
  const std::string identity = principal.identity;
  if (policy_->principals_.emplace(identity, std::move(principal)).second) return absl::OkStatus();
  return node.Error(absl::StrCat("identity '", identity, "' is given twice"));
}

absl::StatusOr<Uuid> PolicyReader::NewVm(const YamlMap& map) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, map.Get("uuid"));
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node.String());
  const auto uuid = Uuid::Parse(text);
  if (!uuid.ok()) return node.Locate(uuid.status());
  if (uuid->is_nil()) return node.Error("the nil UUID is no VM");
  if (!vms_.insert(*uuid).second) return node.Error(absl::StrCat("VM ", uuid->ToString(), " is given twice"));
  return *uuid;
}

absl::StatusOr<VmGrant> PolicyReader::Grant(const YamlNode& node) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"uuid", "contexts", "events", "rights"}));
  VmGrant grant;
  SIDEBAND_ASSIGN_OR_RETURN(grant.vm, NewVm(map));
  grant.line = map.Find("uuid")->line();
  SIDEBAND_ASSIGN_OR_RETURN(grant.contexts, ReadContexts(map));
  SIDEBAND_ASSIGN_OR_RETURN(grant.events, ReadEvents(map, groups_));
  SIDEBAND_ASSIGN_OR_RETURN(grant.rights, ReadRights(map));
  return grant;
}

const VmGrant* Tenant::FindVm(const Uuid& uuid) const {
  const auto found = std::find_if(vms.begin(), vms.end(), [&](const VmGrant& grant) { return grant.vm == uuid; });
  return found == vms.end() ? nullptr : &*found;
}

absl::StatusOr<std::shared_ptr<const Policy>> Policy::Parse(const std::string& text, const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode root, YamlNode::Parse(text, path));
  return PolicyReader(path).Read(root);
}

std::optional<Principal> Policy::Identify(const SubjectNames& names) const {
  const auto identity =
      IdentityFromNames(names, [&](absl::string_view listed) { return principals_.contains(listed); });
  return identity ? Find(*identity) : std::nullopt;
}

std::optional<Principal> Policy::Find(absl::string_view identity) const {
  const auto found = principals_.find(identity);
  return found == principals_.end() ? std::nullopt : std::optional(found->second);
}

absl::StatusOr<std::shared_ptr<const Policy>> LoadPolicy(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kPolicyBytesMax));
  return Policy::Parse(text, path);
}

}  // namespace sideband::daemon
