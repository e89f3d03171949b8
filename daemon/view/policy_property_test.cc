// SPDX-License-Identifier: Apache-2.0
//
// Random policies in random universes: Decide() and View must agree with the reference for every cell. A failure prints
// the seed and the smallest policy that fails.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "daemon/authz/decision.h"
#include "daemon/authz/policy.h"
#include "daemon/view/reference_policy.h"
#include "daemon/view/view.h"

namespace sideband::daemon {
namespace {

using Kind = Resource::Kind;
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
  add(Resource::Board(), 0);
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
