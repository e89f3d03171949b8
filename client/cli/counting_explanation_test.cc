// SPDX-License-Identifier: Apache-2.0
#include "client/cli/counting_explanation.h"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace sideband::client
