// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/counting_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sideband::daemon {
namespace {

std::vector<std::string> Errors(const std::string& text) {
  ErrorList errors;
  ParseCountingFile(text, "counting.yaml", errors);
  std::vector<std::string> messages;
  for (const absl::Status& error : errors.All()) messages.emplace_back(error.message());
  return messages;
}

// The example of README.md.
TEST(CountingFileTest, ReadsEveryField) {
  constexpr char kText[] = R"(
version: 1
devices:
  gpu0:
    groups:
      host: {valid: true, guest: false, host: true, identifier: 7}
    vms:
      vm1: {value: [tlb], host_value: none, allowed: [tlb, tensor], pinned: [], ids: [7, 8], guest_access: true,
            useren: false, store: true, selection: 2}
      11111111-0000-4000-8000-000000000001: {value: all}
)";
  ErrorList errors;
  const DeviceSettings devices = ParseCountingFile(kText, "counting.yaml", errors);
  ASSERT_TRUE(errors.empty()) << errors.First();
  CountingSettings expected;
  expected.groups["host"] = {.valid = true, .guest = false, .host = true, .identifier = 7};
  expected.vms["vm1"] = {.value = GateSetting{.groups = {{"tlb"}}},
                         .host_value = GateSetting{.master = false},
                         .allowed = {{"tlb", "tensor"}},
                         .pinned = GroupNames(),
                         .ids = {{7, 8}},
                         .guest_access = true,
                         .useren = false,
                         .store = true,
                         .selection = 2};
  expected.vms["11111111-0000-4000-8000-000000000001"] = {.value = GateSetting()};
  EXPECT_EQ(devices, (DeviceSettings{{"gpu0", expected}}));
}

TEST(CountingFileTest, EveryErrorHasItsLine) {
  EXPECT_THAT(Errors("version: 2\n"), testing::ElementsAre("counting.yaml:1: unknown version 2, must be 1"));
  EXPECT_THAT(Errors(R"(version: 1
devices:
  gpu0:
    groups: {host: {identifier: 65536}}
    vms:
      vm1: {value: some, ids: [0], selection: 16}
      vm2: {alowed: []}
)"),
              testing::ElementsAre(testing::StartsWith("counting.yaml:4: "),
                                   "counting.yaml:6: 'some': must be all, none or a list of gate groups",
                                   testing::StartsWith("counting.yaml:6: "), testing::StartsWith("counting.yaml:6: "),
                                   testing::HasSubstr("counting.yaml:7: unknown key 'alowed'")));
}

}  // namespace
}  // namespace sideband::daemon
