// SPDX-License-Identifier: Apache-2.0
#include "client/cli/counting_command.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace sideband::client {
namespace {

absl::StatusOr<v1::SetCountingRequest> Parse(std::vector<std::string> words) {
  v1::GetCountingResponse actual;
  actual.set_device("gpu0");
  for (const char* name : {"tlb", "tensor"}) actual.add_groups()->set_name(name);
  CLI::App app;
  CountingChange change;
  change.AddTo(app);
  std::ranges::reverse(words);
  app.parse(words);
  return change.Request(actual);
}

std::string Text(const std::vector<std::string>& words) {
  const auto request = Parse(words);
  return request.ok() ? request->ShortDebugString() : std::string(request.status().message());
}

TEST(CountingChangeTest, EveryOptionIsAField) {
  EXPECT_EQ(Text({"--vm",         "vm1", "--value", "all", "--allow",     "tlb,tensor", "--pin",          "none",
                  "--host-value", "tlb", "--ids",   "7,8", "--selection", "2",          "--guest-access", "on",
                  "--useren",     "off", "--store", "on",  "--revision",  "3",          "--check"}),
            "device: \"gpu0\" vms { vm: \"vm1\" allowed { groups: \"tlb\" groups: \"tensor\" } pinned { } "
            "value { groups: \"tlb\" groups: \"tensor\" } host_value { groups: \"tlb\" } ids { ids: 7 ids: 8 } "
            "guest_access: true useren: false store: true selection: 2 } expected_revision: 3 validate_only: true");
  EXPECT_EQ(Text({"--group", "tlb", "--valid", "off", "--guest", "on", "--host", "on", "--identifier", "0"}),
            "device: \"gpu0\" groups { name: \"tlb\" valid: false guest: true host: true identifier: 0 }");
  EXPECT_EQ(Text({"--vm", "vm1", "--context", "train", "--value", "none"}),
            "device: \"gpu0\" vms { vm: \"vm1\" contexts { context: \"train\" value { } } }");
  EXPECT_EQ(Text({"--vm", "vm1", "--ids", "none"}), "device: \"gpu0\" vms { vm: \"vm1\" ids { } }");
}

TEST(CountingChangeTest, AnEmptyNameIsRefused) {
  for (const std::string option :
       {"--vm", "--context", "--group", "--value", "--allow", "--pin", "--host-value", "--ids"}) {
    for (const std::string text : {"", ",", "tlb,"}) {
      EXPECT_THROW((void)Parse({option, text}), CLI::ValidationError) << option << " " << text;
    }
  }
}

TEST(CountingChangeTest, AnErrorNamesTheOption) {
  EXPECT_EQ(Text({}), "counting set: --vm or --group is needed");
  EXPECT_EQ(Text({"--vm", "vm1"}), "--vm: nothing to set, such as --value");
  EXPECT_EQ(Text({"--group", "tlb"}), "--group: nothing to set, such as --valid off");
  EXPECT_EQ(Text({"--value", "all"}), "--vm: is needed to change a VM");
  EXPECT_EQ(Text({"--valid", "on"}), "--group: is needed to change a gate group");
  EXPECT_EQ(Text({"--vm", "vm1", "--context", "train"}), "--context: needs --value");
  EXPECT_EQ(Text({"--vm", "vm1", "--ids", "7,x"}), "--ids: 'x' is not a number from 1 to 65535");
  EXPECT_EQ(Text({"--vm", "vm1", "--ids", "0"}), "--ids: '0' is not a number from 1 to 65535");
}

}  // namespace
}  // namespace sideband::client
