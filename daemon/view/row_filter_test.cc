// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/row_filter.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/view/fake_world.h"

namespace sideband::daemon {
namespace {

class RowFilterTest : public testing::Test {
 protected:
  RowFilterTest() { world_.Publish(0, 1); }

  absl::Status Check(const std::string& who, const std::string& device, const std::string& vm,
                     const std::string& context, const std::vector<std::string>& events = {}) {
    sideband::v1::Filter filter;
    filter.set_device(device);
    filter.set_vm(vm);
    filter.set_context(context);
    for (const std::string& event : events) filter.add_events(event);
    return RowFilter(filter).Check(world_.reader.Devices(*world_.reader.Identify(CredentialsOf(who))));
  }

  FakeWorld world_;
};

TEST_F(RowFilterTest, WhatIsSeenIsFound) {
  EXPECT_TRUE(Check("tenant-a", "", "", "").ok());
  EXPECT_TRUE(Check("tenant-a", "gpu0", "vm0", "render", {"cycles", "dram_bytes"}).ok());
  EXPECT_TRUE(Check("tenant-a", "", kVm0Uuid, "").ok()) << "by UUID";
  EXPECT_TRUE(Check("tenant-b", "", "vm1", "train", {"cycles"}).ok());
  EXPECT_TRUE(Check("tenant-c", "gpu0", "", "").ok());
  EXPECT_TRUE(Check("ops", "gpu1", "", "").ok()) << "away, but there";
  EXPECT_TRUE(Check("ops", "", "vm1", "", {"cycles"}).ok());
}

TEST_F(RowFilterTest, DeniedAnswersAsAbsent) {
  const absl::Status absent = Check("tenant-a", "gpu9", "", "");
  EXPECT_EQ(absent.code(), absl::StatusCode::kNotFound);
  for (const absl::Status& status : {
           Check("tenant-a", "gpu1", "", ""),                  // exists, not the tenant's
           Check("tenant-a", "", "vm1", ""),                   // another tenant's
           Check("tenant-a", "", kVm1Uuid, ""),                //
           Check("tenant-a", "", "nothing", ""),               // absent
           Check("tenant-a", "", "", "train"),                 // another tenant's context
           Check("tenant-a", "", "vm0", "train"),              // of another VM
           Check("tenant-a", "", "", "", {"pcie_bytes"}),      // the device's event
           Check("tenant-b", "", "", "", {"dram_bytes"}),      // not granted
           Check("tenant-b", "", "", "", {"cycles", "nope"}),  // one of two
           Check("tenant-c", "", "secret", ""),                // no plaintext row
           Check("ops", "", "secret", ""),                     // nor for the operator
           Check("ops", "", "vm0", "render"),                  // contexts are the tenant's
           Check("ops", "gpu1", "vm0", ""),                    // away
       }) {
    EXPECT_EQ(status, absent);
  }
}

// gpu0 with the events busy_cycles, busy and tensor_active_cycles, of which tenant-b may read the first.
class ShortNameTest : public RowFilterTest {
 protected:
  ShortNameTest() {
    mailbox::Catalog catalog = world_.topology->catalog();
    catalog.events = {{.name = "busy_cycles"}, {.name = "busy"}, {.name = "tensor_active_cycles"}};
    world_.topology = std::make_shared<Topology>(catalog, world_.topology->hash() + 1);
    world_.policy.Replace(*Policy::Parse(R"(version: 1
operators: [{name: ops, identities: ["spiffe://example.org/ops"]}]
tenants:
  - name: b
    identities: ["spiffe://example.org/tenant-b"]
    vms: [{uuid: 00000000-0000-0000-0000-0000000000a1, events: [busy_cycles]}]
)",
                                         "policy.yaml"));
    world_.Publish(0, 2);
  }

  // Events of vm1, by their numbers.
  std::vector<size_t> Selected(const std::string& who, const std::vector<std::string>& events) {
    sideband::v1::Filter filter;
    for (const std::string& event : events) filter.add_events(event);
    const auto devices = world_.reader.Devices(*world_.reader.Identify(CredentialsOf(who)));
    const EventSet selected = RowFilter(filter).SelectedEvents(*devices[0].view, 2, mailbox::kNoContext);
    std::vector<size_t> numbers;
    for (size_t event = 0; event < selected.size(); ++event) {
      if (selected[event]) numbers.push_back(event);
    }
    return numbers;
  }
};

TEST_F(ShortNameTest, AnEventIsFoundByTheNameThatScreensShow) {
  EXPECT_TRUE(Check("ops", "", "vm1", "", {"tensor_active"}).ok());
  EXPECT_EQ(Selected("ops", {"tensor_active"}), (std::vector<size_t>{2}));
  EXPECT_EQ(Selected("ops", {"tensor_active", "tensor_active_cycles", "busy_cycles"}), (std::vector<size_t>{0, 2}));
  EXPECT_EQ(Selected("ops", {"busy"}), (std::vector<size_t>{1})) << "an event of exactly this name";
  EXPECT_EQ(Selected("ops", {"nope", "busy"}), (std::vector<size_t>{1}));
  for (const char* name : {"tensor", "Tensor_active", "busy_cycles_cycles", ""}) {
    EXPECT_EQ(Check("ops", "", "", "", {name}), NotFound()) << name;
    EXPECT_EQ(Selected("ops", {name}), std::vector<size_t>()) << name;
  }
}

TEST_F(ShortNameTest, ADeniedEventIsAnAbsentOne) {
  EXPECT_EQ(Check("tenant-b", "", "", "", {"tensor_active"}), NotFound());
  EXPECT_EQ(Selected("tenant-b", {"tensor_active"}), std::vector<size_t>());
  EXPECT_TRUE(Check("tenant-b", "", "", "", {"busy"}).ok()) << "as where there is no event `busy`";
  EXPECT_EQ(Selected("tenant-b", {"busy"}), (std::vector<size_t>{0}));
}

TEST_F(ShortNameTest, FindReadableLooksAmongTheReadable) {
  const mailbox::Catalog& catalog = world_.topology->catalog();
  EXPECT_EQ(FindReadable(catalog, {true, true, true}, "busy"), 1u);
  EXPECT_EQ(FindReadable(catalog, {true, false, true}, "busy"), 0u);
  EXPECT_EQ(FindReadable(catalog, {false, false, true}, "busy"), std::nullopt);
  EXPECT_EQ(FindReadable(catalog, {true, true, true}, "tensor_active"), 2u);
  EXPECT_EQ(FindReadable(catalog, {true}, "tensor_active"), std::nullopt) << "beyond the set";
}

TEST_F(RowFilterTest, TheNilUuidSelectsNothing) {
  EXPECT_FALSE(Check("ops", "", "00000000-0000-0000-0000-000000000000", "").ok());
}

TEST(RowFilterKeyTest, IsEmptyWhereEveryRowIsSelected) {
  sideband::v1::Filter filter;
  EXPECT_EQ(RowFilter().rows_key(), "");
  filter.set_device("gpu0");
  EXPECT_EQ(RowFilter(filter).rows_key(), "") << "it concerns devices that both filters select";
  EXPECT_NE(RowFilter(filter, /*with_contexts=*/false).rows_key(), "");
}

TEST(RowFilterKeyTest, DiffersWhereRowsMayDiffer) {
  std::set<std::string> keys;
  const auto add = [&](const std::string& vm, const std::string& context, const std::vector<std::string>& events) {
    sideband::v1::Filter filter;
    filter.set_vm(vm);
    filter.set_context(context);
    for (const std::string& event : events) filter.add_events(event);
    return keys.insert(RowFilter(filter).rows_key()).second;
  };
  EXPECT_TRUE(add("", "", {}));
  EXPECT_TRUE(add("a", "", {}));
  EXPECT_TRUE(add("", "a", {}));
  EXPECT_TRUE(add("", "", {"a"}));
  EXPECT_TRUE(add("a", "b", {}));
  EXPECT_TRUE(add("ab", "", {}));
  EXPECT_TRUE(add("a1:b", "", {})) << "a name cannot imitate two";
  EXPECT_TRUE(add("", "", {"a", "b"}));
  EXPECT_FALSE(add("", "", {"b", "a", "b"})) << "their order does not matter";
}

}  // namespace
}  // namespace sideband::daemon
