// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/reference_policy.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace sideband::daemon {
namespace {

using Kind = Resource::Kind;

std::string List(const Names& names) {
  return absl::StrCat(
      "[",
      absl::StrJoin(names, ", ",
                    [](std::string* out, const std::string& name) { absl::StrAppend(out, "\"", name, "\""); }),
      "]");
}

void AddStaff(const char* key, const std::vector<Names>& staff, std::string& yaml) {
  if (staff.empty()) return;
  absl::StrAppend(&yaml, key, ":\n");
  for (size_t i = 0; i < staff.size(); ++i) {
    absl::StrAppend(&yaml, "  - {name: ", key, "-", i, ", identities: ", List(staff[i]), "}\n");
  }
}

void AddGrant(const GrantSpec& grant, std::string& yaml) {
  absl::StrAppend(&yaml, "      - uuid: ", VmUuid(grant.vm).ToString(), "\n");
  if (grant.contexts) absl::StrAppend(&yaml, "        contexts: ", List(*grant.contexts), "\n");
  if (grant.events) absl::StrAppend(&yaml, "        events: ", List(*grant.events), "\n");
  if (grant.rights) absl::StrAppend(&yaml, "        rights: ", List(*grant.rights), "\n");
}

void AddPartition(const PartitionSpec& grant, std::string& yaml) {
  absl::StrAppend(&yaml, "      - {device: ", kReferenceDevice, ", gpu_instance: ", grant.partition,
                  grant.events ? absl::StrCat(", events: ", List(*grant.events)) : "", "}\n");
}

Right RightOf(const std::string& word) {
  return word == "read" ? Right::kRead : word == "mark" ? Right::kMark : word == "peek" ? Right::kPeek : Right::kSeal;
}

// Enumerates the granted cells.
class Ledger {
 public:
  Ledger(const PolicySpec& spec, const Universe& universe) : spec_(spec), universe_(universe) {}

  std::set<Cell> Write() && {
    for (const Names& identities : spec_.operators) {
      for (const std::string& who : identities) Operator(who);
    }
    for (const Names& identities : spec_.auditors) {
      for (const std::string& who : identities) cells_.emplace(who, Kind::kAuditLog, 0, "", "", Right::kRead);
    }
    for (const TenantSpec& tenant : spec_.tenants) {
      for (const std::string& who : tenant.identities) {
        for (const GrantSpec& grant : tenant.vms) Tenant(who, grant);
        for (const PartitionSpec& grant : tenant.partitions) Partition(who, grant);
      }
    }
    return std::move(cells_);
  }

 private:
  void KnowsVm(const std::string& who, uint8_t vm) {
    for (const NamedRight& right : kRights) cells_.emplace(who, Kind::kVmIdentity, vm, "", "", right.right);
  }

  void Row(const std::string& who, Kind kind, uint8_t vm, const std::string& context, const Names& events,
           Right right) {
    cells_.emplace(who, kind, vm, context, "", right);
    for (const std::string& event : events) cells_.emplace(who, Kind::kEvent, vm, context, event, right);
  }

  void Operator(const std::string& who) {
    for (const Right right : {Right::kRead, Right::kPeek}) {
      Row(who, Kind::kDevice, 0, "", universe_.all_events(), right);
      for (uint8_t vm = 1; vm <= universe_.confidential.size(); ++vm) {
        if (!universe_.confidential[vm - 1]) Row(who, Kind::kVm, vm, "", universe_.all_events(), right);
      }
    }
    cells_.emplace(who, Kind::kSelfMetrics, 0, "", "", Right::kRead);
    cells_.emplace(who, Kind::kBoard, 0, "", "", Right::kRead);
    for (uint8_t partition = 0; partition < universe_.partitions; ++partition) {
      Metrics(who, partition, universe_.metrics);
    }
    for (uint8_t vm = 1; vm <= universe_.confidential.size(); ++vm) KnowsVm(who, vm);
  }

  void Metrics(const std::string& who, uint8_t partition, const Names& metrics) {
    for (const std::string& metric : metrics) {
      cells_.emplace(who, Kind::kPartition, partition, "", metric, Right::kRead);
    }
  }

  Names Expanded(const Names& names) const {
    Names all;
    for (const std::string& name : names) {
      const Names group = name[0] == '@' ? spec_.event_groups.at(name.substr(1)) : Names{name};
      all.insert(all.end(), group.begin(), group.end());
    }
    return all;
  }

  Names EventsOf(const GrantSpec& grant) const {
    return grant.events ? Expanded(*grant.events) : universe_.all_events();
  }

  void Partition(const std::string& who, const PartitionSpec& grant) {
    Metrics(who, grant.partition, grant.events ? Expanded(*grant.events) : universe_.metrics);
  }

  void Tenant(const std::string& who, const GrantSpec& grant) {
    const bool secret = universe_.confidential[grant.vm - 1];
    KnowsVm(who, grant.vm);
    for (const std::string& word : grant.rights.value_or(Names{"read"})) {
      const Right right = RightOf(word);
      if (secret && right == Right::kSeal) cells_.emplace(who, Kind::kVm, grant.vm, "", "", right);
      if (secret || right == Right::kSeal) continue;
      if (!grant.contexts) Row(who, Kind::kVm, grant.vm, "", EventsOf(grant), right);
      for (const std::string& context : grant.contexts.value_or(universe_.contexts)) {
        Row(who, Kind::kContext, grant.vm, context, EventsOf(grant), right);
      }
    }
  }

  const PolicySpec& spec_;
  const Universe& universe_;
  std::set<Cell> cells_;
};

}  // namespace

Names Universe::all_events() const {
  Names all = events;
  all.insert(all.end(), device_events.begin(), device_events.end());
  return all;
}

Uuid VmUuid(uint8_t number) {
  Uuid uuid;
  uuid.bytes[15] = number;
  return uuid;
}

std::string ToYaml(const PolicySpec& spec) {
  std::string yaml = "version: 1\n";
  AddStaff("operators", spec.operators, yaml);
  AddStaff("auditors", spec.auditors, yaml);
  absl::StrAppend(&yaml, "tenants:", spec.tenants.empty() ? " []" : "", "\n");
  for (size_t i = 0; i < spec.tenants.size(); ++i) {
    const TenantSpec& tenant = spec.tenants[i];
    absl::StrAppend(&yaml, "  - name: tenant-", i, "\n    identities: ", List(tenant.identities),
                    "\n    vms:", tenant.vms.empty() ? " []" : "", "\n");
    for (const GrantSpec& grant : tenant.vms) AddGrant(grant, yaml);
    absl::StrAppend(&yaml, "    partitions:", tenant.partitions.empty() ? " []" : "", "\n");
    for (const PartitionSpec& grant : tenant.partitions) AddPartition(grant, yaml);
  }
  absl::StrAppend(&yaml, "event_groups: {",
                  absl::StrJoin(spec.event_groups, ", ",
                                [](std::string* out, const auto& group) {
                                  absl::StrAppend(out, group.first, ": ", List(group.second));
                                }),
                  "}\n");
  return yaml;
}

std::set<Cell> Granted(const PolicySpec& spec, const Universe& universe) { return Ledger(spec, universe).Write(); }

std::shared_ptr<const Topology> DeviceOf(const Universe& universe) {
  mailbox::Catalog catalog;
  for (const std::string& event : universe.events) catalog.events.push_back({.name = event});
  for (const std::string& event : universe.device_events) {
    catalog.events.push_back({.name = event, .scope = mailbox::EventScope::kDevice});
  }
  for (const uint8_t slice : {0, 3}) {
    catalog.slices.push_back({slice, absl::StrCat("slice", slice)});
    catalog.host_blocks.push_back({slice, /*generation=*/1});
  }
  for (uint16_t vm = 1; vm <= universe.confidential.size(); ++vm) {
    catalog.vms.push_back({.id = vm,
                           .uuid = VmUuid(static_cast<uint8_t>(vm)),
                           .name = absl::StrCat("vm", vm),
                           .confidential = universe.confidential[vm - 1]});
    for (uint16_t id = 0; id < 2 * universe.contexts.size(); ++id) {
      catalog.contexts.push_back({.vm = vm, .id = id, .name = universe.contexts[id % universe.contexts.size()]});
    }
  }
  return std::make_shared<Topology>(std::move(catalog), 1);
}

}  // namespace sideband::daemon
