// SPDX-License-Identifier: Apache-2.0
#include "daemon/authz/policy.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/base/errors.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/base/yaml.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

constexpr size_t kPolicyBytesMax = 16 << 20;
constexpr char kVersion[] = "1";

absl::Status CheckVersion(const YamlMap& map) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string version, map.String("version"));
  if (version == kVersion) return absl::OkStatus();
  return map.Find("version")->Error(absl::StrCat("unknown version ", version, ", must be ", kVersion,
                                                 ": it is that of the format, not of the policy's content"));
}

std::vector<std::string> RightNames() {
  std::vector<std::string> names;
  for (const NamedRight& right : kRights) names.push_back(right.name);
  return names;
}

RightSet ReadRights(const YamlMap& map, ErrorList& errors) {
  const auto node = map.Find("rights");
  if (!node) return {Right::kRead};
  RightSet rights;
  std::vector<YamlNode> words;
  errors.Take(node->List(), words);
  for (const YamlNode& word : words) {
    std::string text;
    if (!errors.Take(word.String(), text)) continue;
    const auto* known = std::find_if(std::begin(kRights), std::end(kRights),
                                     [&](const NamedRight& right) { return right.name == text; });
    if (known != std::end(kRights)) {
      rights.Add(known->right);
    } else {
      errors.Add(word.Error(absl::StrCat("unknown right '", text, "'", MustBeOneOf(RightNames()))));
    }
  }
  if (rights.Contains(Right::kPeek) && !rights.Contains(Right::kRead)) {
    errors.Add(node->Error("the right 'peek' needs the right 'read'"));
  }
  return rights;
}

// An absent key grants all names, an empty list no name.
NameSet ReadContexts(const YamlMap& map, ErrorList& errors) {
  const auto node = map.Find("contexts");
  if (!node) return NameSet();
  std::vector<std::string> names;
  errors.Take(node->StringList(), names);
  return NameSet(std::set<std::string>(names.begin(), names.end()));
}

NameSet ReadEvents(const YamlMap& map, EventGroups& groups, ErrorList& errors) {
  const auto node = map.Find("events");
  return node ? NameSet(groups.Expand(*node, errors)) : NameSet();
}

std::set<std::string> ReadNames(const YamlMap& map, const std::string& key, ErrorList& errors) {
  std::vector<std::string> names;
  errors.Take(map.StringListOrEmpty(key), names);
  return {names.begin(), names.end()};
}

std::optional<absl::Time> ReadSince(const YamlMap& map, ErrorList& errors) {
  const auto node = map.Find("since");
  std::string text;
  if (!node || !errors.Take(node->String(), text)) return std::nullopt;
  absl::Time since;
  if (absl::ParseTime(absl::RFC3339_full, text, &since, nullptr)) return since;
  errors.Add(node->Error(absl::StrCat("'", text, "' is not a time such as 2026-11-29T08:00:00Z")));
  return std::nullopt;
}

}  // namespace

EventGroups EventGroups::Read(const YamlMap& policy, ErrorList& errors) {
  EventGroups groups;
  const auto node = policy.Find("event_groups");
  if (!node) return groups;
  for (const auto& [name, list] : node->Entries(errors)) groups.Add(name, list, errors);
  return groups;
}

void EventGroups::Add(const std::string& name, const YamlNode& list, ErrorList& errors) {
  if (absl::StartsWith(name, "@")) {
    errors.Add(list.Error(
        absl::StrCat("event group '", name, "': the name must not begin with @, which marks a reference to a group")));
  }
  std::vector<YamlNode> nodes;
  errors.Take(list.List(), nodes);
  // Known even with a faulty list, so that grants with the group cause no second error.
  std::vector<std::string>& events = groups_[name];
  for (const YamlNode& node : nodes) errors.Add(AddEvent(node, events));
}

absl::Status EventGroups::AddEvent(const YamlNode& node, std::vector<std::string>& events) {
  const absl::StatusOr<std::string> event = ParseName(node);
  if (!event.ok()) return event.status();
  if (absl::StartsWith(*event, "@")) return node.Error(absl::StrCat("'", *event, "': event groups do not nest"));
  events.push_back(*event);
  return absl::OkStatus();
}

absl::StatusOr<std::string> EventGroups::ParseName(const YamlNode& node) {
  absl::StatusOr<std::string> name = node.String();
  // A reference to a group is not an event.
  if (name.ok() && !absl::StartsWith(*name, "@")) named_.push_back({*name, node.line()});
  return name;
}

absl::Status EventGroups::ExpandInto(const YamlNode& node, std::set<std::string>& events) {
  const absl::StatusOr<std::string> name = ParseName(node);
  if (!name.ok()) return name.status();
  if (!absl::StartsWith(*name, "@")) {
    events.insert(*name);
    return absl::OkStatus();
  }
  const auto group = groups_.find(name->substr(1));
  if (group == groups_.end()) return Unknown(node, *name);
  events.insert(group->second.begin(), group->second.end());
  return absl::OkStatus();
}

absl::Status EventGroups::Unknown(const YamlNode& node, const std::string& name) const {
  std::vector<std::string> known;
  for (const auto& [group, events] : groups_) known.push_back(absl::StrCat("@", group));
  return node.Error(absl::StrCat("unknown event group '", name, "'", DidYouMean(name, known)));
}

std::set<std::string> EventGroups::Expand(const YamlNode& list, ErrorList& errors) {
  std::vector<YamlNode> nodes;
  errors.Take(list.List(), nodes);
  std::set<std::string> events;
  for (const YamlNode& node : nodes) errors.Add(ExpandInto(node, events));
  return events;
}

// Fills a policy and checks that each name, identity and VM is listed only once. Continues after an error.
class PolicyReader {
 public:
  PolicyReader(const std::string& path, ErrorList& errors) : errors_(errors) { policy_->path_ = path; }
  std::shared_ptr<const Policy> Read(const YamlNode& root);

 private:
  // Reads operators or auditors, which have only a name and identities.
  void ReadPrincipals(const YamlMap& map, const std::string& key, Principal::Role role);
  void TenantEntry(const YamlNode& node);
  std::string Name(const YamlMap& map);
  void Identities(const YamlMap& map, const Principal& principal);
  absl::Status Identity(const YamlNode& node, Principal principal);
  absl::StatusOr<Uuid> NewVm(const YamlMap& map);
  void Grant(const YamlNode& node, Tenant& tenant);
  void Configure(const YamlMap& map, VmGrant& grant);
  void GrantPartition(const YamlNode& node, Tenant& tenant);
  void GrantDevice(const YamlNode& node, Tenant& tenant);
  // A device that a tenant has as a whole is given to nobody in parts.
  void CheckDevices();
  NameSet ReadMetrics(const YamlMap& map);

  ErrorList& errors_;
  std::shared_ptr<Policy> policy_{new Policy};
  EventGroups groups_;
  absl::flat_hash_set<std::string> names_;  // of operators, auditors and tenants
  absl::flat_hash_set<Uuid> vms_;
  std::set<std::pair<std::string, uint8_t>> partitions_;  // device, GPU instance
  std::set<std::string> devices_;
};

std::shared_ptr<const Policy> PolicyReader::Read(const YamlNode& root) {
  const auto map = root.Map(
      {"version", "operators", "auditors", "tenants", "event_groups", "allow_absent_vms", "allow_absent_events"},
      errors_);
  // The meaning of another version's keys is unknown.
  if (!map || !errors_.Add(CheckVersion(*map))) return policy_;
  errors_.Take(map->BoolOr("allow_absent_vms", false), policy_->allows_absent_vms_);
  errors_.Take(map->BoolOr("allow_absent_events", false), policy_->allows_absent_events_);
  groups_ = EventGroups::Read(*map, errors_);
  ReadPrincipals(*map, "operators", Principal::Role::kOperator);
  ReadPrincipals(*map, "auditors", Principal::Role::kAuditor);
  std::vector<YamlNode> tenants;
  errors_.Take(map->ListOrEmpty("tenants"), tenants);
  for (const YamlNode& node : tenants) TenantEntry(node);
  CheckDevices();
  policy_->named_events_ = groups_.named();
  return policy_;
}

std::string PolicyReader::Name(const YamlMap& map) {
  std::string name;
  if (errors_.Take(map.String("name"), name) && !names_.insert(name).second) {
    errors_.Add(map.Find("name")->Error(absl::StrCat("name '", name, "' is given twice")));
  }
  return name;
}

void PolicyReader::ReadPrincipals(const YamlMap& map, const std::string& key, Principal::Role role) {
  std::vector<YamlNode> nodes;
  errors_.Take(map.ListOrEmpty(key), nodes);
  for (const YamlNode& node : nodes) {
    const auto entry = node.Map({"name", "identities"}, errors_);
    if (!entry) continue;
    Name(*entry);
    Identities(*entry, {.role = role});
  }
}

void PolicyReader::TenantEntry(const YamlNode& node) {
  const auto map = node.Map({"name", "identities", "vms", "partitions", "devices"}, errors_);
  if (!map) return;
  Tenant tenant{.name = Name(*map)};
  // The index that the tenant gets below.
  Identities(*map, {.role = Principal::Role::kTenant, .tenant = policy_->tenants_.size()});
  std::vector<YamlNode> vms;
  errors_.Take(map->ListOrEmpty("vms"), vms);
  for (const YamlNode& vm : vms) Grant(vm, tenant);
  std::vector<YamlNode> partitions;
  errors_.Take(map->ListOrEmpty("partitions"), partitions);
  for (const YamlNode& partition : partitions) GrantPartition(partition, tenant);
  std::vector<YamlNode> devices;
  errors_.Take(map->ListOrEmpty("devices"), devices);
  for (const YamlNode& device : devices) GrantDevice(device, tenant);
  policy_->tenants_.push_back(std::move(tenant));
}

void PolicyReader::Identities(const YamlMap& map, const Principal& principal) {
  const auto list = map.Get("identities");
  std::vector<YamlNode> nodes;
  if (!errors_.Add(list.status()) || !errors_.Take(list->List(), nodes)) return;
  // A principal without identities can never authenticate, so the list must have been forgotten.
  if (nodes.empty()) errors_.Add(list->Error("identities is empty: at least one identity is needed"));
  for (const YamlNode& node : nodes) errors_.Add(Identity(node, principal));
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
  if (!map.Find("uuid")) {
    return map.node().Error("key 'uuid' is missing: 'sideband scopes --wide' shows the VMs' UUIDs");
  }
  const YamlNode node = *map.Find("uuid");
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node.String());
  const auto uuid = Uuid::Parse(text);
  if (!uuid.ok()) return node.Locate(uuid.status());
  // In a Resource, the nil UUID is the device.
  if (uuid->is_nil()) return node.Error("the nil UUID does not name a VM");
  if (!vms_.insert(*uuid).second) return node.Error(absl::StrCat("VM ", uuid->ToString(), " is given twice"));
  return *uuid;
}

void PolicyReader::Grant(const YamlNode& node, Tenant& tenant) {
  const auto map = node.Map({"uuid", "contexts", "events", "rights", "configure", "since"}, errors_);
  if (!map) return;
  VmGrant grant;
  if (errors_.Take(NewVm(*map), grant.vm)) grant.line = map->Find("uuid")->line();
  grant.contexts = ReadContexts(*map, errors_);
  grant.events = ReadEvents(*map, groups_, errors_);
  grant.rights = ReadRights(*map, errors_);
  Configure(*map, grant);
  grant.since = ReadSince(*map, errors_);
  // A VM with this right is confidential, whatever its device reports (docs/decisions/0015).
  if (grant.rights.Contains(Right::kSeal)) policy_->sealed_vms_.insert(grant.vm);
  tenant.vms.push_back(std::move(grant));
}

void PolicyReader::Configure(const YamlMap& map, VmGrant& grant) {
  const auto node = map.Find("configure");
  if (!node) return;
  if (!grant.rights.Contains(Right::kConfigure)) errors_.Add(node->Error("'configure' needs the right 'configure'"));
  const auto named = node->Map({"gate_groups", "events"}, errors_);
  if (!named) return;
  // A VM's value and selection are those of all its contexts.
  if (!grant.contexts.all()) errors_.Add(node->Error("'configure' is for whole VMs: remove 'contexts' or 'configure'"));
  grant.gate_groups = ReadNames(*named, "gate_groups", errors_);
  if (const auto events = named->Find("events")) grant.selectable_events = groups_.Expand(*events, errors_);
}

// Names of metrics, and groups, of which events of the pipeline are left out.
NameSet PolicyReader::ReadMetrics(const YamlMap& map) {
  const auto node = map.Find("events");
  if (!node) return NameSet();
  std::vector<std::string> known;
  for (const mailbox::MetricRow& row : mailbox::kMetrics) known.push_back(row.word);
  std::vector<std::string> listed;
  errors_.Take(node->StringList(), listed);
  for (const std::string& name : listed) {
    if (absl::StartsWith(name, "@") || std::ranges::count(known, name) > 0) continue;
    errors_.Add(node->Error(absl::StrCat("unknown metric '", name, "'", DidYouMean(name, known))));
  }
  return NameSet(groups_.Expand(*node, errors_));
}

void PolicyReader::GrantPartition(const YamlNode& node, Tenant& tenant) {
  const auto map = node.Map({"device", "gpu_instance", "events", "since"}, errors_);
  if (!map) return;
  PartitionGrant grant{.metrics = ReadMetrics(*map), .since = ReadSince(*map, errors_)};
  const bool has_device = errors_.Take(map->String("device"), grant.device);
  uint64_t instance = 0;
  if (!errors_.Take(map->Uint("gpu_instance", 0, mailbox::kPartitionMask), instance) || !has_device) return;
  const YamlNode device = *map->Find("device");
  grant.partition = static_cast<uint8_t>(instance);
  grant.line = device.line();
  if (!partitions_.emplace(grant.device, grant.partition).second) {
    errors_.Add(device.Error(absl::StrCat("GPU instance ", instance, " of ", grant.device, " is given twice")));
  }
  tenant.partitions.push_back(std::move(grant));
}

void PolicyReader::GrantDevice(const YamlNode& node, Tenant& tenant) {
  const auto map = node.Map({"device", "since"}, errors_);
  if (!map) return;
  DeviceGrant grant{.since = ReadSince(*map, errors_)};
  if (!errors_.Take(map->String("device"), grant.device)) return;
  const YamlNode device = *map->Find("device");
  grant.line = device.line();
  if (!devices_.insert(grant.device).second) {
    errors_.Add(device.Error(absl::StrCat("device ", grant.device, " is given twice")));
  }
  tenant.devices.push_back(std::move(grant));
}

void PolicyReader::CheckDevices() {
  for (const Tenant& tenant : policy_->tenants_) {
    for (const PartitionGrant& grant : tenant.partitions) {
      if (!devices_.contains(grant.device)) continue;
      errors_.Add(
          absl::InvalidArgumentError(absl::StrCat(policy_->path_, ":", grant.line, ": device ", grant.device,
                                                  " is given as a whole, too: leave out the partition or the device")));
    }
  }
}

const DeviceGrant* Tenant::FindDevice(absl::string_view device) const {
  const auto found = std::ranges::find(devices, device, &DeviceGrant::device);
  return found == devices.end() ? nullptr : &*found;
}

const PartitionGrant* Tenant::FindPartition(absl::string_view device, uint8_t partition) const {
  const auto found = std::ranges::find_if(
      partitions, [&](const PartitionGrant& grant) { return grant.device == device && grant.partition == partition; });
  return found == partitions.end() ? nullptr : &*found;
}

const VmGrant* Tenant::FindVm(const Uuid& uuid) const {
  const auto found = std::find_if(vms.begin(), vms.end(), [&](const VmGrant& grant) { return grant.vm == uuid; });
  return found == vms.end() ? nullptr : &*found;
}

std::shared_ptr<const Policy> Policy::Parse(const std::string& text, const std::string& path, ErrorList& errors) {
  // `errors` may have errors of other files.
  const size_t before = errors.count();
  const auto root = YamlNode::Parse(text, path);
  if (!errors.Add(root.status())) return nullptr;
  auto policy = PolicyReader(path, errors).Read(*root);
  return errors.count() == before ? policy : nullptr;
}

absl::StatusOr<std::shared_ptr<const Policy>> Policy::Parse(const std::string& text, const std::string& path) {
  ErrorList errors;
  auto policy = Parse(text, path, errors);
  if (policy == nullptr) return errors.First();
  return policy;
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

std::shared_ptr<const Policy> LoadPolicy(const std::string& path, ErrorList& errors) {
  std::string text;
  if (!errors.Take(ReadFile(path, kPolicyBytesMax, FileTrust::kNotWritable), text)) return nullptr;
  return Policy::Parse(text, path, errors);
}

std::string RoleName(const Policy& policy, const Principal& principal) {
  switch (principal.role) {
    case Principal::Role::kOperator:
      return "operator";
    case Principal::Role::kAuditor:
      return "auditor";
    case Principal::Role::kTenant:
      return absl::StrCat("tenant:", policy.tenants().at(principal.tenant).name);
  }
  return "unknown";
}

std::set<std::string> Policy::Identities() const {
  std::set<std::string> identities;
  for (const auto& [identity, principal] : principals_) identities.insert(identity);
  return identities;
}

std::vector<std::string> IdentityChanges(const Policy& before, const Policy& now, size_t lines) {
  std::set<std::string> identities = before.Identities();
  identities.merge(now.Identities());
  std::vector<std::string> changes;
  for (const std::string& identity : identities) {
    const auto old_role = before.Find(identity), new_role = now.Find(identity);
    const std::string was = old_role ? RoleName(before, *old_role) : "", is = new_role ? RoleName(now, *new_role) : "";
    if (was == is) continue;
    changes.push_back(absl::StrCat(identity, is.empty() ? " is no longer listed" : " is now ", is, ", was ",
                                   was.empty() ? "not listed" : was));
  }
  if (changes.size() > lines) {
    const std::string rest = absl::StrCat(changes.size() - lines + 1, " more identities have changed");
    changes.resize(lines - 1);
    changes.push_back(rest);
  }
  return changes;
}

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
