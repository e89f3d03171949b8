// SPDX-License-Identifier: Apache-2.0
//
// Random policies in random universes: Decide() and View must agree with the reference for every cell. A failure prints
// the seed and the smallest policy that fails. The reference states the policy's rules a second time: it enumerates all
// that a policy grants, does not decide on single questions and shares no code with Decide().
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/authz/decision.h"
#include "daemon/authz/policy.h"
#include "daemon/snapshot/topology.h"
#include "daemon/view/view.h"

namespace sideband::daemon {
namespace {

using Names = std::vector<std::string>;

struct GrantSpec {
  uint8_t vm = 0;                 // its number in the universe
  std::optional<Names> contexts;  // as in the policy file; nullopt: without the key
  std::optional<Names> events;    // may have "@group"
  std::optional<Names> rights;
};

struct PartitionSpec {
  uint8_t partition = 0;        // of the only device, kReferenceDevice
  std::optional<Names> events;  // names of metrics, or "@group"
};

struct TenantSpec {
  Names identities;
  std::vector<GrantSpec> vms;
  std::vector<PartitionSpec> partitions;
  bool has_device = false;  // kWholeDevice
};

struct PolicySpec {
  std::vector<Names> operators;  // the identities of each
  std::vector<Names> auditors;
  std::vector<TenantSpec> tenants;
  std::map<std::string, Names> event_groups;
};

// All objects of a test. The VMs are 1 to confidential.size().
struct Universe {
  std::vector<bool> confidential;  // of VM 1, 2, …
  Names contexts;                  // each VM has all of them
  Names events;                    // of contexts, and of the device
  Names device_events;             // of the device alone
  Names metrics;                   // of partitions
  uint8_t partitions = 0;          // 0, 1, …

  Names all_events() const;
};

constexpr char kReferenceDevice[] = "gpu0";
constexpr char kWholeDevice[] = "gpu1";  // that a tenant may have

Uuid VmUuid(uint8_t number) {
  Uuid uuid;
  uuid.bytes[15] = number;
  return uuid;
}

// Identity, kind of resource, VM (0: no VM), partition or number of the device, context, event or metric, right.
using Cell = std::tuple<std::string, Resource::Kind, uint8_t, std::string, std::string, Right>;

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
        if (tenant.has_device) cells_.emplace(who, Kind::kBoard, 1, "", "", Right::kRead);
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
    for (const uint8_t device : {0, 1}) cells_.emplace(who, Kind::kBoard, device, "", "", Right::kRead);
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

Names Universe::all_events() const {
  Names all = events;
  all.insert(all.end(), device_events.begin(), device_events.end());
  return all;
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
    if (tenant.has_device) absl::StrAppend(&yaml, "    devices: [{device: ", kWholeDevice, "}]\n");
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

// The universe as a device. VM n has the id n, and contexts with the ids 0, 1, …; each context name is given to two
// contexts.
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

constexpr Right kAllRights[] = {Right::kRead, Right::kMark, Right::kPeek, Right::kSeal};

const Names kIdentities = {"spiffe://a/0", "spiffe://a/1", "spiffe://a/2", "dns:a", "dns:b", "jwt:s:a", "jwt:b"};

// Some of `all`, possibly with duplicates.
Names Some(const Names& all) { return *rc::gen::container<Names>(rc::gen::elementOf(all)); }

std::optional<Names> MaybeSome(const Names& all) {
  if (*rc::gen::arbitrary<bool>()) return std::nullopt;
  return Some(all);
}

Universe RandomUniverse() {
  return {.confidential =
              *rc::gen::container<std::vector<bool>>(6, rc::gen::weightedElement<bool>({{2, false}, {1, true}})),
          .contexts = {"c0", "c1", "c2"},
          .events = {"e0", "e1", "e2"},
          .device_events = {"d0"},
          .metrics = {"sm_activity", "dram_usage"},
          .partitions = 3};
}

// A policy must not grant `peek` without `read`.
std::optional<Names> RandomRights() {
  std::optional<Names> rights = MaybeSome({"read", "mark", "peek", "seal"});
  if (rights && std::ranges::find(*rights, "peek") != rights->end()) rights->push_back("read");
  return rights;
}

GrantSpec RandomGrant(uint8_t vm, const Universe& universe) {
  Names events = universe.all_events();
  for (const char* group : {"@g0", "@g1"}) events.emplace_back(group);
  return {.vm = vm, .contexts = MaybeSome(universe.contexts), .events = MaybeSome(events), .rights = RandomRights()};
}

PartitionSpec RandomPartition(uint8_t partition, const Universe& universe) {
  Names names = universe.metrics;
  for (const char* group : {"@g0", "@g1"}) names.emplace_back(group);
  return {.partition = partition, .events = MaybeSome(names)};
}

// A policy must not have an empty list of identities, so an unused identity is added.
void FillEmptyLists(PolicySpec& spec) {
  size_t unused = 0;
  const auto fill = [&](Names& identities) {
    if (identities.empty()) identities.push_back(absl::StrCat("jwt:unused-", unused++));
  };
  for (Names& identities : spec.operators) fill(identities);
  for (Names& identities : spec.auditors) fill(identities);
  for (TenantSpec& tenant : spec.tenants) fill(tenant.identities);
}

// Every identity has one role or none, and every VM and partition one tenant or none.
PolicySpec RandomPolicy(const Universe& universe) {
  constexpr size_t kOperators = 2, kAuditors = 2, kTenants = 3;
  PolicySpec spec{.operators = std::vector<Names>(kOperators),
                  .auditors = std::vector<Names>(kAuditors),
                  .tenants = std::vector<TenantSpec>(kTenants)};
  Names nameable = universe.all_events();
  nameable.insert(nameable.end(), universe.metrics.begin(), universe.metrics.end());
  for (const char* group : {"g0", "g1"}) spec.event_groups[group] = Some(nameable);
  for (const std::string& identity : kIdentities) {
    size_t role = *rc::gen::inRange<size_t>(0, kOperators + kAuditors + kTenants + 1);
    if (role < kOperators) {
      spec.operators[role].push_back(identity);
    } else if ((role -= kOperators) < kAuditors) {
      spec.auditors[role].push_back(identity);
    } else if ((role -= kAuditors) < kTenants) {
      spec.tenants[role].identities.push_back(identity);
    }
  }
  FillEmptyLists(spec);
  for (uint8_t vm = 1; vm <= universe.confidential.size(); ++vm) {
    const size_t owner = *rc::gen::inRange<size_t>(0, kTenants + 1);
    if (owner < kTenants) spec.tenants[owner].vms.push_back(RandomGrant(vm, universe));
  }
  for (uint8_t partition = 0; partition < universe.partitions; ++partition) {
    const size_t owner = *rc::gen::inRange<size_t>(0, kTenants + 1);
    if (owner < kTenants) spec.tenants[owner].partitions.push_back(RandomPartition(partition, universe));
  }
  const size_t owner = *rc::gen::inRange<size_t>(0, kTenants + 1);
  if (owner < kTenants) spec.tenants[owner].has_device = true;
  return spec;
}

// Every resource of the universe, with the cell of the right to read it.
std::vector<std::pair<Resource, Cell>> AllResources(const Universe& universe) {
  std::vector<std::pair<Resource, Cell>> all;
  const auto add = [&](const Resource& resource, uint8_t vm) {
    all.emplace_back(resource, Cell("", resource.kind, vm, resource.context, resource.event, Right::kRead));
  };
  const auto add_row = [&](const Resource& row, uint8_t vm) {
    add(row, vm);
    for (const std::string& event : universe.all_events()) add(row.Event(event), vm);
  };
  add(Resource::SelfMetrics(), 0);
  add(Resource::AuditLog(), 0);
  add_row(Resource::Device(), 0);
  add(Resource::Board(kReferenceDevice), 0);
  add(Resource::Board(kWholeDevice), 1);
  for (uint8_t partition = 0; partition < universe.partitions; ++partition) {
    for (const std::string& metric : universe.metrics) {
      add(Resource::Partition(kReferenceDevice, partition, metric), partition);
    }
  }
  for (uint8_t vm = 1; vm <= universe.confidential.size(); ++vm) {
    const bool confidential = universe.confidential[vm - 1];
    add(Resource::VmIdentity(VmUuid(vm), confidential), vm);
    add_row(Resource::Vm(VmUuid(vm), confidential), vm);
    for (const std::string& context : universe.contexts) {
      add_row(Resource::Context(VmUuid(vm), confidential, context), vm);
    }
  }
  return all;
}

std::string Describe(const Cell& cell) {
  return absl::StrCat(std::get<0>(cell), ", kind ", static_cast<int>(std::get<1>(cell)), ", VM ", std::get<2>(cell),
                      ", context '", std::get<3>(cell), "', event '", std::get<4>(cell), "', right ",
                      static_cast<int>(std::get<5>(cell)));
}

// One policy in one universe.
class Trial {
 public:
  Trial(const PolicySpec& spec, const Universe& universe)
      : universe_(universe), yaml_(ToYaml(spec)), granted_(Granted(spec, universe)), device_(DeviceOf(universe)) {
    const auto policy = Policy::Parse(yaml_, "p.yaml");
    if (!policy.ok()) RC_FAIL(absl::StrCat(policy.status().ToString(), "\n", yaml_));
    policy_ = *policy;
  }

  size_t granted() const { return granted_.size(); }

  // Returns the number of compared cells.
  size_t Run() {
    const auto resources = AllResources(universe_);
    for (const std::string& who : kIdentities) {
      const auto principal = policy_->Find(who);
      for (const auto& [resource, cell] : resources) CompareDecisions(who, principal, resource, cell);
      if (principal) CompareView(who, View(*policy_, *principal, device_));
    }
    return cells_;
  }

 private:
  bool MayRead(const std::string& who, Kind kind, uint8_t vm, const std::string& context,
               const std::string& event) const {
    return granted_.contains(Cell(who, kind, vm, context, event, Right::kRead));
  }

  // `what` is concatenated only for a failure.
  template <typename... Texts>
  void Expect(bool equal, const Texts&... what) {
    ++cells_;
    if (!equal) RC_FAIL(absl::StrCat(what..., "\n", yaml_));
  }

  void CompareDecisions(const std::string& who, const std::optional<Principal>& principal, const Resource& resource,
                        Cell cell) {
    for (const Right right : kAllRights) {
      const bool allowed = principal && Decide(*policy_, *principal, resource, right).allowed;
      std::get<0>(cell) = who;
      std::get<5>(cell) = right;
      const bool equal = allowed == granted_.contains(cell);
      Expect(equal, equal ? std::string() : Describe(cell));
    }
  }

  // Compares a row of the view: the row is a cell of `kind`, its counters are cells of events.
  void CompareRow(const std::string& who, const View& view, std::pair<uint16_t, uint16_t> row, Kind kind,
                  const std::string& context) {
    const auto vm = static_cast<uint8_t>(row.first);
    const EventSet* events = view.Events(row.first, row.second);
    Expect((events != nullptr) == MayRead(who, kind, vm, context, ""), who, ": row of VM ", vm, ", context '", context,
           "'");
    if (events == nullptr) return;
    const auto& catalog = device_->catalog();
    for (size_t i = 0; i < catalog.events.size(); ++i) {
      const bool is_device = vm == 0 && row.second == mailbox::kNoContext;
      const bool belongs = is_device || catalog.events[i].scope == mailbox::EventScope::kContext;
      Expect((*events)[i] == (belongs && MayRead(who, Kind::kEvent, vm, context, catalog.events[i].name)), who,
             ": event ", catalog.events[i].name, " of VM ", vm, ", context '", context, "'");
    }
  }

  void CompareView(const std::string& who, const View& view) {
    CompareRow(who, view, {mailbox::kHypervisorVm, mailbox::kNoContext}, Kind::kDevice, "");
    for (const uint16_t slice : {0, 3}) CompareRow(who, view, {mailbox::kHypervisorVm, slice}, Kind::kDevice, "");
    bool sees_any = MayRead(who, Kind::kDevice, 0, "", "");
    for (const mailbox::VmInfo& vm : device_->catalog().vms) {
      const auto number = static_cast<uint8_t>(vm.id);
      const bool knows = MayRead(who, Kind::kVmIdentity, number, "", "");
      sees_any = sees_any || knows;
      Expect(view.SeesVm(vm.id) == knows, who, ": knows VM ", vm.id);
      Expect(view.SeesSealed(vm.id) == granted_.contains(Cell(who, Kind::kVm, number, "", "", Right::kSeal)), who,
             ": sealed records of VM ", vm.id);
      CompareRow(who, view, {vm.id, mailbox::kNoContext}, Kind::kVm, "");
    }
    for (const mailbox::ContextInfo& context : device_->catalog().contexts) {
      CompareRow(who, view, {context.vm, context.id}, Kind::kContext, context.name);
    }
    Expect(view.sees_device() == sees_any, who, ": sees the device");
  }

  const Universe& universe_;
  const std::string yaml_;
  const std::set<Cell> granted_;
  const std::shared_ptr<const Topology> device_;
  std::shared_ptr<const Policy> policy_;
  size_t cells_ = 0;
};

TEST(PolicyPropertyTest, DecideAndViewAgreeWithTheReference) {
  size_t cells = 0, granted = 0;
  const bool holds = rc::check("Decide and View grant what the reference does, and nothing else", [&] {
    const Universe universe = RandomUniverse();
    const PolicySpec spec = RandomPolicy(universe);
    Trial trial(spec, universe);
    cells += trial.Run();
    granted += trial.granted();
  });
  EXPECT_TRUE(holds);
  std::cout << cells << " cells compared, " << granted << " granted\n";
  EXPECT_GT(cells, 100'000u);
  EXPECT_GT(granted, 5'000u) << "the policies grant next to nothing";
  EXPECT_LT(granted, cells / 2) << "the policies grant next to everything";
}

}  // namespace

}  // namespace sideband::daemon
