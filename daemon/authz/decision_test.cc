// SPDX-License-Identifier: Apache-2.0
#include "daemon/authz/decision.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

namespace sideband::daemon {
namespace {

constexpr char kRightsPolicy[] = R"(version: 1
operators: [{name: ops, identities: ["spiffe://example.org/ops"]}]
auditors: [{name: audit, identities: ["spiffe://example.org/audit"]}]
tenants:
  - name: a    # everything of VM 1; part of VM 2; confidential VM 3
    identities: ["spiffe://example.org/a"]
    vms:
      - uuid: 00000000-0000-0000-0000-000000000001
        rights: [read, mark, peek, seal, configure, rotate]
        configure: {gate_groups: [g1], events: [e1]}
      - {uuid: 00000000-0000-0000-0000-000000000002, contexts: [c1], events: [e1], rights: [read, configure]}
      - uuid: 00000000-0000-0000-0000-000000000003
        rights: [seal, configure]
        configure: {gate_groups: [g1], events: [e1]}
  - name: b    # nothing that a has
    identities: ["spiffe://example.org/b"]
    vms:
      - {uuid: 00000000-0000-0000-0000-000000000004}
      - {uuid: 00000000-0000-0000-0000-000000000005, rights: [read]}
    partitions:
      - {device: gpu0, gpu_instance: 2}
      - {device: gpu1, gpu_instance: 2, events: [dram_usage]}
    devices: [{device: gpu3}]
)";

Uuid Vm(uint8_t number) {
  Uuid uuid;
  uuid.bytes[15] = number;
  return uuid;
}

// VMs 3 and 5 are confidential. VM 9 belongs to no tenant.
constexpr bool IsConfidential(int vm) { return vm == 3 || vm == 5; }

class DecisionTest : public testing::Test {
 protected:
  std::string Rights(const std::string& identity, const Resource& resource) const {
    const Principal principal = *policy_->Identify({{"spiffe://example.org/" + identity}, {}});
    std::string letters;
    for (const NamedRight& right : kRights) {
      letters += Decide(*policy_, principal, resource, right.right).allowed ? right.name[0] : '-';
    }
    return letters;
  }

  const std::shared_ptr<const Policy> policy_ = *Policy::Parse(kRightsPolicy, "p.yaml");
};

TEST_F(DecisionTest, Matrix) {
  struct Row {
    Resource resource;
    const char* ops;  // read, mark, peek, seal, configure, rotate
    const char* a;
    const char* b;
  };
  const auto vm = [](int n) { return Resource::Vm(Vm(n), IsConfidential(n)); };
  const auto identity = [](int n) { return Resource::VmIdentity(Vm(n), IsConfidential(n)); };
  const auto context = [](int n, const char* name) { return Resource::Context(Vm(n), IsConfidential(n), name); };
  const auto group = [](int n, const char* name) {
    return Resource::GateGroup(n == 0 ? Uuid() : Vm(n), IsConfidential(n), name);
  };
  const std::vector<Row> rows = {
      {Resource::Device(), "r-p---", "------", "------"},
      {Resource::Device().Event("e1"), "r-p---", "------", "------"},
      {Resource::SelfMetrics(), "r-----", "------", "------"},
      // A tenant knows its own VMs, the operator all VMs.
      {identity(1), "rmpscr", "rmpscr", "------"},
      {identity(3), "rmpscr", "rmpscr", "------"},
      {identity(4), "rmpscr", "------", "rmpscr"},
      {identity(5), "rmpscr", "------", "rmpscr"},
      {identity(9), "rmpscr", "------", "------"},
      // VM 1: all rights; `seal` has no effect on a VM that is not confidential.
      {vm(1), "r-p--r", "rmp--r", "------"},
      {vm(1).Event("e1"), "r-p-c-", "rmp-c-", "------"},
      {vm(1).Event("e2"), "r-p-c-", "rmp---", "------"},
      {context(1, "c2"), "------", "rmp--r", "------"},
      {context(1, "c2").Event("e2"), "------", "rmp---", "------"},
      // VM 2: one context and one event; the totals would reveal the other contexts.
      {vm(2), "r-p--r", "------", "------"},
      {vm(2).Event("e1"), "r-p-c-", "------", "------"},
      {context(2, "c1"), "------", "r-----", "------"},
      {context(2, "c2"), "------", "------", "------"},
      {context(2, "c1").Event("e1"), "------", "r-----", "------"},
      {context(2, "c1").Event("e2"), "------", "------", "------"},
      {context(2, "c2").Event("e1"), "------", "------", "------"},
      // VM 3: confidential, `seal` only.
      {vm(3), "------", "---s--", "------"},
      {vm(3).Event("e1"), "------", "------", "------"},
      {context(3, "c1"), "------", "------", "------"},
      {context(3, "c1").Event("e1"), "------", "------", "------"},
      // VM 4: of the other tenant.
      {vm(4), "r-p--r", "------", "r-----"},
      {context(4, "c1").Event("e1"), "------", "------", "r-----"},
      // VM 5: confidential; `read` has no effect.
      {vm(5), "------", "------", "------"},
      {context(5, "c1").Event("e1"), "------", "------", "------"},
      // Gate groups: a tenant's as granted, and none of a confidential VM.
      {group(0, "g1"), "----c-", "------", "------"},
      {group(1, "g1"), "----c-", "----c-", "------"},
      {group(1, "g2"), "----c-", "------", "------"},
      {group(2, "g1"), "----c-", "------", "------"},
      {group(3, "g1"), "----c-", "------", "------"},
      {group(4, "g1"), "----c-", "------", "------"},
      // Boards are the operator's, but for granted devices and the metrics of granted partitions.
      {Resource::Board("gpu0"), "r-----", "------", "------"},
      {Resource::Board("gpu3"), "r-----", "------", "r-----"},
      {Resource::Partition("gpu0", 2, "sm_activity"), "r-----", "------", "r-----"},
      {Resource::Partition("gpu0", 3, "sm_activity"), "r-----", "------", "------"},
      {Resource::Partition("gpu1", 2, "sm_activity"), "r-----", "------", "------"},
      {Resource::Partition("gpu1", 2, "dram_usage"), "r-----", "------", "r-----"},
      // VM 9: of no tenant; the operator sees its totals.
      {vm(9), "r-p--r", "------", "------"},
      {context(9, "c1"), "------", "------", "------"},
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(Rights("ops", rows[i].resource), rows[i].ops) << "row " << i;
    EXPECT_EQ(Rights("a", rows[i].resource), rows[i].a) << "row " << i;
    EXPECT_EQ(Rights("b", rows[i].resource), rows[i].b) << "row " << i;
  }
}

TEST_F(DecisionTest, TheAuditLogIsTheAuditorsAndNothingElse) {
  EXPECT_EQ(Rights("audit", Resource::AuditLog()), "r-----");
  for (const char* who : {"ops", "a", "b"}) EXPECT_EQ(Rights(who, Resource::AuditLog()), "------") << who;
  for (const Resource& resource :
       {Resource::Device(), Resource::Device().Event("e1"), Resource::SelfMetrics(), Resource::VmIdentity(Vm(1), false),
        Resource::Vm(Vm(1), false), Resource::Vm(Vm(3), true), Resource::Context(Vm(1), false, "c1"),
        Resource::Vm(Vm(1), false).Event("e1"), Resource::Board("gpu3"),
        Resource::Partition("gpu0", 2, "sm_activity")}) {
    EXPECT_EQ(Rights("audit", resource), "------") << static_cast<int>(resource.kind);
  }
}

TEST_F(DecisionTest, ANilVmOfATenantIsNothing) { EXPECT_EQ(Rights("a", Resource::Vm(Uuid{}, false)), "------"); }

// An independent restatement of the rules: a confidential VM is never read, operators read wholes, and tenants have the
// grants of the policy above.
bool NaiveMayRead(const std::string& who, int vm, const std::string& context, const std::string& event) {
  if (vm != 0 && IsConfidential(vm)) return false;
  if (who == "ops") return context.empty();
  if (who == "a" && vm == 1) return true;
  if (who == "a" && vm == 2) return context == "c1" && (event.empty() || event == "e1");
  return who == "b" && vm == 4;
}

TEST_F(DecisionTest, PropertyAgreesWithARestatement) {
  const bool holds = rc::check("Decide agrees with the naive rules", [&] {
    const auto who = *rc::gen::element<std::string>("ops", "a", "b");
    const int vm = *rc::gen::inRange(0, 7);
    const auto context = vm == 0 ? "" : *rc::gen::element<std::string>("", "c1", "c2");
    const auto event = *rc::gen::element<std::string>("", "e1", "e2");
    Resource resource = vm == 0           ? Resource::Device()
                        : context.empty() ? Resource::Vm(Vm(vm), IsConfidential(vm))
                                          : Resource::Context(Vm(vm), IsConfidential(vm), context);
    if (!event.empty()) resource = resource.Event(event);
    RC_ASSERT((Rights(who, resource)[0] == 'r') == NaiveMayRead(who, vm, context, event));
  });
  EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace sideband::daemon
