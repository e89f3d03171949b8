// SPDX-License-Identifier: Apache-2.0
#include "client/rotation/rotation_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace

}  // namespace sideband::client
