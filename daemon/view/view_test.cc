// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/view.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

constexpr char kViewPolicy[] = R"(version: 1
operators: [{name: ops, identities: ["spiffe://example.org/ops"]}]
auditors: [{name: audit, identities: ["spiffe://example.org/audit"]}]
tenants:
  - name: a
    identities: ["spiffe://example.org/a"]
    vms:
      - {uuid: 00000000-0000-0000-0000-000000000001, events: [cycles, link_bytes]}
      - {uuid: 00000000-0000-0000-0000-000000000003, rights: [seal]}
  - {name: b, identities: ["spiffe://example.org/b"]}
)";

mailbox::VmInfo Vm(uint16_t id, bool confidential = false) {
  mailbox::VmInfo vm{.id = id, .name = "vm", .confidential = confidential};
  vm.uuid.bytes[15] = static_cast<uint8_t>(id);
  return vm;
}

// Events: cycles, stalls, and link_bytes for the device as a whole. VM 3 is confidential.
std::shared_ptr<const Topology> MakeTopology() {
  mailbox::Catalog catalog;
  catalog.events = {{"cycles", "cycles"}, {"stalls", "cycles"}, {"link_bytes", "bytes", mailbox::EventScope::kDevice}};
  catalog.vms = {Vm(1), Vm(2), Vm(3, true)};
  catalog.contexts = {{1, 7, "c"}, {2, 7, "c"}, {3, 7, "c"}};
  return std::make_shared<Topology>(catalog, 1);
}

class ViewTest : public testing::Test {
 protected:
  View Of(const std::string& identity) const {
    return View(*policy_, *policy_->Identify({{"spiffe://example.org/" + identity}, {}}), topology_);
  }

  const std::shared_ptr<const Policy> policy_ = *Policy::Parse(kViewPolicy, "p.yaml");
  const std::shared_ptr<const Topology> topology_ = MakeTopology();
};

TEST_F(ViewTest, OperatorSeesWholes) {
  const View view = Of("ops");
  EXPECT_TRUE(view.sees_device());
  EXPECT_TRUE(view.sees_device_row());
  EXPECT_EQ(*view.Events(mailbox::kHypervisorVm, mailbox::kNoContext), (EventSet{true, true, true}));
  EXPECT_EQ(*view.Events(1, mailbox::kNoContext), (EventSet{true, true, false})) << "device events are the device's";
  EXPECT_EQ(view.Events(1, 7), nullptr) << "contexts are the tenant's";
  EXPECT_TRUE(view.SeesVm(3));
  EXPECT_EQ(view.Events(3, mailbox::kNoContext), nullptr) << "confidential";
  EXPECT_FALSE(view.SeesSealed(3));
}

TEST_F(ViewTest, TheHypervisorsRowsAreForWhoSeesTheDevices) {
  mailbox::Catalog catalog = topology_->catalog();
  catalog.slices = {{0, "slice0"}, {4, "slice4"}};
  catalog.host_blocks = {{.slice = 4, .generation = 1}};
  const auto topology = std::make_shared<Topology>(catalog, 2);
  for (const char* who : {"ops", "a", "b", "audit"}) {
    const View view(*policy_, *policy_->Identify({{std::string("spiffe://example.org/") + who}, {}}), topology);
    const EventSet* const events = view.Events(mailbox::kHypervisorVm, 4);
    ASSERT_EQ(events != nullptr, view.sees_device_row()) << who;
    if (events != nullptr) {
      EXPECT_EQ(*events, (EventSet{true, true, false})) << "device events are the device's";
    }
    EXPECT_EQ(view.Events(mailbox::kHypervisorVm, 0), nullptr) << "slice 0 has no host block";
  }
}

TEST_F(ViewTest, TenantSeesItsOwn) {
  const View view = Of("a");
  EXPECT_TRUE(view.sees_device());
  EXPECT_FALSE(view.sees_device_row());
  EXPECT_EQ(*view.Events(1, mailbox::kNoContext), (EventSet{true, false, false}));
  EXPECT_EQ(*view.Events(1, 7), (EventSet{true, false, false}));
  EXPECT_EQ(view.AllEvents(), (EventSet{true, false, false}));
  EXPECT_FALSE(view.SeesVm(2));
  EXPECT_EQ(view.Events(2, mailbox::kNoContext), nullptr);
  EXPECT_EQ(view.Events(2, 7), nullptr);
  EXPECT_TRUE(view.SeesVm(3));
  EXPECT_TRUE(view.SeesSealed(3));
  EXPECT_EQ(view.Events(3, 7), nullptr);
}

TEST_F(ViewTest, ATenantWithoutVmsSeesNoDevice) {
  const View view = Of("b");
  EXPECT_FALSE(view.sees_device());
  EXPECT_EQ(view.AllEvents(), (EventSet{false, false, false}));
}

TEST_F(ViewTest, AuditorsSeeNoDevice) {
  const View view = Of("audit");
  EXPECT_FALSE(view.sees_device());
  EXPECT_FALSE(view.sees_device_row());
  EXPECT_EQ(view.AllEvents(), (EventSet{false, false, false}));
  for (const uint16_t vm : {1, 2, 3}) EXPECT_FALSE(view.SeesVm(vm) || view.SeesSealed(vm));
}

TEST_F(ViewTest, UnknownBlocksAreNobodys) {
  EXPECT_EQ(Of("ops").Events(9, mailbox::kNoContext), nullptr);
  EXPECT_EQ(Of("a").Events(1, 8), nullptr);
}

}  // namespace
}  // namespace sideband::daemon
