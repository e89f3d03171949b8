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

// One group with an identifier, one VM.
v1::GetCountingResponse Counting() {
  v1::GetCountingResponse counting;
  v1::GateGroup& group = *counting.add_groups();
  group.set_name("tlb");
  group.add_events("tlb_misses");
  group.set_valid(true);
  group.set_guest(true);
  v1::VmCounting& vm = *counting.add_vms();
  vm.set_vm("vm1");
  vm.mutable_allowed()->add_groups("tlb");
  vm.mutable_pinned();
  vm.add_contexts()->set_context("eval");
  return counting;
}

std::string Zeros(const v1::GetCountingResponse& counting, const std::string& context = "") {
  const auto explanation = Explain(counting, {"vm1", context, "tlb_misses"});
  EXPECT_TRUE(explanation.ok()) << explanation.status();
  std::string zeros = explanation->is_counted ? "counted:" : "not:";
  for (const ExplainedTerm& term : explanation->terms) {
    if (!term.holds) zeros += " " + term.name;
  }
  return zeros;
}

TEST(ExplainTest, EachTermThatIsZeroIsNamed) {
  EXPECT_EQ(Zeros(Counting()), "counted: pinned");
  v1::GetCountingResponse counting = Counting();
  counting.mutable_groups(0)->set_valid(false);
  EXPECT_EQ(Zeros(counting), "not: valid pinned");
  counting = Counting();
  counting.mutable_groups(0)->set_guest(false);
  EXPECT_EQ(Zeros(counting), "not: guest pinned");
  counting = Counting();
  counting.mutable_vms(0)->mutable_allowed()->clear_groups();
  EXPECT_EQ(Zeros(counting), "not: pinned allowed");
  counting = Counting();
  counting.mutable_vms(0)->mutable_value();
  EXPECT_EQ(Zeros(counting), "not: pinned value");
}

TEST(ExplainTest, WhatIsPinnedIsCountedWhateverTheVmSays) {
  v1::GetCountingResponse counting = Counting();
  counting.mutable_vms(0)->mutable_value();
  counting.mutable_vms(0)->mutable_allowed()->clear_groups();
  counting.mutable_vms(0)->mutable_pinned()->add_groups("tlb");
  EXPECT_EQ(Zeros(counting), "counted: value allowed");
}

TEST(ExplainTest, AnIdentifierMatchesTheVmsThatNameIt) {
  v1::GetCountingResponse counting = Counting();
  counting.mutable_groups(0)->set_identifier(7);
  EXPECT_EQ(Zeros(counting), "counted: pinned") << "the VM names none";
  counting.mutable_vms(0)->mutable_ids()->add_ids(8);
  EXPECT_EQ(Zeros(counting), "not: match pinned");
  counting.mutable_vms(0)->mutable_ids()->add_ids(7);
  EXPECT_EQ(Zeros(counting), "counted: pinned");
  counting.mutable_groups(0)->set_identifier(0);
  counting.mutable_vms(0)->mutable_ids()->clear_ids();
  EXPECT_EQ(Zeros(counting), "counted: pinned");
}

TEST(ExplainTest, AContextsValueIsWithinTheVms) {
  v1::GetCountingResponse counting = Counting();
  v1::ContextCounting& context = *counting.mutable_vms(0)->add_contexts();
  context.set_context("train");
  context.mutable_value();
  EXPECT_EQ(Zeros(counting, "train"), "not: pinned context value");
  EXPECT_EQ(Zeros(counting, "eval"), "counted: pinned");
  context.mutable_value()->add_groups("tlb");
  EXPECT_EQ(Zeros(counting, "train"), "counted: pinned");
}

TEST(ExplainTest, ASelectableEventIsCountedByASelectionThatHasIt) {
  v1::GetCountingResponse counting = Counting();
  counting.add_selectable_events("tlb_misses");
  EXPECT_EQ(Zeros(counting), "not: pinned selected");
  counting.add_selections()->set_name("tensor");
  EXPECT_EQ(Zeros(counting), "not: pinned selected");
  counting.add_selections()->set_number(1);
  counting.mutable_selections(1)->add_events("tlb_misses");
  counting.mutable_vms(0)->set_selection(1);
  EXPECT_EQ(Zeros(counting), "counted: pinned");
}

TEST(ExplainTest, AnEventIsFoundByTheNameThatScreensShow) {
  v1::GetCountingResponse counting = Counting();
  counting.mutable_groups(0)->add_events("tlb_walk_cycles");
  counting.add_selectable_events("tlb_walk_cycles");
  const auto explanation = Explain(counting, {"vm1", "", "tlb_walk"});
  ASSERT_TRUE(explanation.ok()) << explanation.status();
  EXPECT_EQ(explanation->event, "tlb_walk_cycles");
  EXPECT_EQ(explanation->terms.back().name, "selected");
  EXPECT_EQ(Explain(counting, {"vm1", "", "tlb_w"}).status().message(),
            "event 'tlb_w' is in no gate group that you may see (did you mean 'tlb_walk_cycles'?)");
}

TEST(ExplainTest, WhatIsNotThereIsNamed) {
  EXPECT_EQ(Explain(Counting(), {"vm2", "", "tlb_misses"}).status().message(),
            "no VM 'vm2', or you may not see its gates");
  const absl::Status event = Explain(Counting(), {"vm1", "", "x"}).status();
  EXPECT_EQ(event.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(event.message(), "event 'x' is in no gate group that you may see");
  EXPECT_EQ(Explain(Counting(), {"vm1", "", "tlb_mises"}).status().message(),
            "event 'tlb_mises' is in no gate group that you may see (did you mean 'tlb_misses'?)");
  EXPECT_EQ(Explain(Counting(), {"vm1", "trian", "tlb_misses"}).status().message(),
            "no context 'trian' of VM 'vm1', or you may not see its value");
  v1::GetCountingResponse counting = Counting();
  counting.mutable_vms(0)->set_confidential(true);
  EXPECT_EQ(Explain(counting, {"vm1", "", "tlb_misses"}).status().message(),
            "VM 'vm1' is confidential: only its guest knows what it counts");
}

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
