// SPDX-License-Identifier: Apache-2.0
#include "client/cli/rotation_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proto/base/yaml.h"

namespace sideband::client {
namespace {

v1::GetRotationResponse SomeResponse() {
  v1::GetRotationResponse response;
  v1::RotationPlan& plan = *response.add_plans();
  plan.mutable_settings()->set_profile(v1::RotationSettings::PROFILE_TWO_SET);
  plan.mutable_settings()->mutable_stable_slot()->set_seconds(8);
  plan.mutable_settings()->mutable_fluctuating_slot()->set_nanos(100'000);
  plan.add_sets()->add_events("a");
  plan.mutable_sets(0)->add_events("b");
  plan.add_sets()->add_events("c");
  v1::RotationRow& row = *response.add_rows();
  row.mutable_scope()->set_vm("vm0");
  row.add_parts();
  row.add_parts()->set_plan(3);
  auto& a = *row.add_events();
  a.set_event("a");
  a.set_counting(v1::Event::COUNTING_ROTATED);
  a.set_coverage(0.25);
  auto& c = *row.add_events();
  c.set_event("c");
  c.set_counting(v1::Event::COUNTING_DERIVED);
  return response;
}

TEST(RotationTextTest, PlansThenTheCoverageOfEachEvent) {
  EXPECT_EQ(RotationText(SomeResponse(), {}),
            "PLAN  PROFILE  SETS  STABLE  FLUCTUATING  ADAPTS\n"
            "   0  two-set     2      8s        100us  no\n"
            "\n"
            "VM   EVENT  COUNTING  COVERAGE  PLAN\n"
            "vm0  a      rotated     25.0 %   0,3\n"
            "vm0  c      derived      0.0 %   0,3\n");
}

TEST(RotationTextTest, PlansThatAreForgottenHaveNoNumber) {
  v1::GetRotationResponse response = SomeResponse();
  response.mutable_rows(0)->add_parts()->set_plan(65535);
  EXPECT_THAT(RotationText(response, {}), testing::EndsWith("0,3,earlier\n"));
}

TEST(RotationTextTest, PassesAreShownWhereThereAreSeveral) {
  v1::GetRotationResponse response = SomeResponse();
  v1::RotationPlan& plan = *response.add_plans();
  plan.set_number(3);
  plan.set_passes(2);
  plan.mutable_settings()->set_profile(v1::RotationSettings::PROFILE_TWO_SET);
  plan.mutable_settings()->set_sets_per_pass(2);
  for (int set = 0; set < 3; ++set) plan.add_sets();
  EXPECT_THAT(RotationText(response, {}),
              testing::StartsWith("PLAN  PROFILE  SETS  SETS/PASS  PASSES  STABLE  FLUCTUATING  ADAPTS\n"
                                  "   0  two-set     2          -       -      8s        100us  no\n"
                                  "   3  two-set     3          2       2       -            -  no\n\n"));
}

TEST(RotationTextTest, WhatIsCountedTogetherIsOneLine) {
  EXPECT_EQ(PlansText(SomeResponse(), {}),
            "PLAN  PROFILE  SETS  STABLE  FLUCTUATING  ADAPTS\n"
            "   0  two-set     2      8s        100us  no\n"
            "\n"
            "PLAN  SET  EVENTS\n"
            "   0    0  a,b\n"
            "   0    1  c\n");
}

v1::SetRotationRequest Read(const std::string& text) {
  const auto root = YamlNode::Parse(text, "r.yaml");
  EXPECT_TRUE(root.ok()) << root.status();
  const auto file = ReadRotation(*root, "r.yaml", RotationUse::kRequest);
  EXPECT_TRUE(file.ok()) << file.status();
  return RequestOf(*file);
}

TEST(RotationRequestTest, HasEveryKey) {
  const v1::SetRotationRequest request = Read(
      "profile: two-set\nslots: {stable: 8s, fluctuating: 1500ms}\ninterval: 0.5s\nthreshold: 0.1\nstep: 5\n"
      "sets_per_pass: 3\nadapt: false\nweights: {a: 2, b: 0.5}\nevents: [a, b]\nalways: [a]\n");
  const v1::RotationSettings& settings = request.settings();
  EXPECT_EQ(settings.profile(), v1::RotationSettings::PROFILE_TWO_SET);
  EXPECT_EQ(settings.stable_slot().seconds(), 8);
  EXPECT_EQ(settings.fluctuating_slot().seconds(), 1);
  EXPECT_EQ(settings.fluctuating_slot().nanos(), 500'000'000);
  EXPECT_EQ(settings.interval().nanos(), 500'000'000);
  EXPECT_EQ(settings.threshold(), 0.1);
  EXPECT_EQ(settings.step(), 5u);
  EXPECT_EQ(settings.sets_per_pass(), 3u);
  EXPECT_FALSE(settings.adapt());
  EXPECT_EQ(settings.weights().at("b"), 0.5);
  EXPECT_EQ(request.events_size(), 2);
  EXPECT_EQ(request.always(0), "a");
}

TEST(RotationRequestTest, HasTheDefaultsOfTheProfile) {
  const v1::RotationSettings fast = Read("{}").settings(), two_set = Read("profile: two-set").settings();
  EXPECT_EQ(fast.stable_slot().nanos(), 200'000);
  EXPECT_TRUE(fast.has_sets_per_pass());
  EXPECT_EQ(fast.sets_per_pass(), 0u) << "all";
  EXPECT_TRUE(fast.adapt());
  EXPECT_EQ(two_set.fluctuating_slot().seconds(), 4);
  EXPECT_EQ(two_set.sets_per_pass(), 2u);
  EXPECT_TRUE(two_set.has_adapt());
  EXPECT_FALSE(two_set.adapt());
}

}  // namespace
}  // namespace sideband::client
