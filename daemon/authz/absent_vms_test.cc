// SPDX-License-Identifier: Apache-2.0
#include "daemon/authz/absent_vms.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

constexpr char kPolicy[] = R"(version: 1
tenants:
  - name: a
    identities: []
    vms:
      - {uuid: 00000000-0000-0000-0000-000000000001}
      - {uuid: 00000000-0000-0000-0000-000000000002}
  - {name: b, identities: [], vms: [{uuid: 00000000-0000-0000-0000-000000000003}]}
)";

std::shared_ptr<const Policy> Parse(const std::string& more = "") { return *Policy::Parse(kPolicy + more, "p.yaml"); }

// A device with these VMs.
std::shared_ptr<const Topology> Device(const std::vector<uint8_t>& vms) {
  mailbox::Catalog catalog;
  for (const uint8_t number : vms) catalog.vms.emplace_back().uuid.bytes[15] = number;
  return std::make_shared<Topology>(catalog, 1);
}

TEST(AbsentVmsTest, AreThoseOnNoDevice) {
  const auto policy = Parse();
  EXPECT_TRUE(AbsentVms(*policy, {Device({1, 9}), Device({3, 2})}).empty());
  EXPECT_EQ(AbsentVms(*policy, {}).size(), 3u);
  const auto absent = AbsentVms(*policy, {Device({1}), Device({})});
  ASSERT_EQ(absent.size(), 2u);
  EXPECT_EQ(absent[0]->line, 7u);
  EXPECT_EQ(absent[1]->line, 8u);
}

TEST(AbsentVmsTest, TheFirstIsRefusedWithItsLine) {
  EXPECT_EQ(CheckVmsExist(*Parse(), {Device({1, 2, 3})}), absl::OkStatus());
  const absl::Status refused = CheckVmsExist(*Parse(), {Device({1, 3})});
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.message(),
            "p.yaml:7: VM 00000000-0000-0000-0000-000000000002 is on no device (allow_absent_vms: true allows it)");
}

TEST(AbsentVmsTest, UnlessTheyAreAllowed) {
  EXPECT_EQ(CheckVmsExist(*Parse("allow_absent_vms: true\n"), {}), absl::OkStatus());
  EXPECT_NE(CheckVmsExist(*Parse("allow_absent_vms: false\n"), {}), absl::OkStatus());
}

}  // namespace
}  // namespace sideband::daemon
