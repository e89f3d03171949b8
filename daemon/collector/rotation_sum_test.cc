// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/rotation_sum.h"

#include <gtest/gtest.h>

#include "daemon/collector/redact.h"
#include "daemon/snapshot/fake_rotation.h"

namespace sideband::daemon {
namespace {

using mailbox::BlockRotation;
using mailbox::kUnknownNumber;

const BlockRotation kNone;

class RotationSumTest : public testing::Test {
 protected:
  const Rotation rotation_{RotatingCatalog()};
  const std::vector<uint64_t> counters_ = {1000, 300, 25, 2};
  const BlockRotation numbers_ = SomeNumbers();
};

TEST_F(RotationSumTest, NumbersAddAndSoDoSquaresOfErrors) {
  RotationSum sum(rotation_, kNone, {});
  sum.Add({kNone, {}}, {numbers_, counters_});
  sum.Add({kNone, {}}, {numbers_, counters_});
  ASSERT_EQ(sum.numbers().parts.size(), 1u);
  EXPECT_EQ(sum.numbers().parts[0].enabled, (std::vector<uint64_t>{2000}));
  EXPECT_EQ(sum.numbers().parts[0].running, (std::vector<uint64_t>{1500, 500}));
  EXPECT_EQ(sum.numbers().events[0], (mailbox::EventEstimate{.estimate = 800, .upper = 1100, .deviation = 15}));
  EXPECT_EQ(sum.numbers().events[1].deviation, 549u) << "half of what the bounds leave, 387.5, twice";
  EXPECT_EQ(sum.numbers().events[2].upper, kUnknownNumber);
  EXPECT_EQ(sum.numbers().events[2].deviation, 5u) << "4.2, rounded up";
}

TEST_F(RotationSumTest, OnlyIncrementsCountAndNothingDriftsByRounding) {
  RotationSum first(rotation_, kNone, {});
  first.Add({kNone, {}}, {numbers_, counters_});
  first.Add({kNone, {}}, {numbers_, counters_});
  BlockRotation last = first.numbers();
  std::vector<double> squares = first.squares();
  for (int i = 0; i < 1000; ++i) {
    RotationSum sum(rotation_, last, squares);
    sum.Add({numbers_, counters_}, {numbers_, counters_});
    last = sum.numbers();
    squares = sum.squares();
  }
  EXPECT_EQ(last, first.numbers());
}

TEST_F(RotationSumTest, AFallingNumberAddsNothing) {
  BlockRotation less = numbers_;
  less.events[0].estimate = 1;
  less.parts[0].enabled = {5};
  RotationSum sum(rotation_, numbers_, {});
  sum.Add({numbers_, counters_}, {less, counters_});
  EXPECT_EQ(sum.numbers().events[0].estimate, 400u);
  EXPECT_EQ(sum.numbers().parts[0].enabled[0], 1000u);
}

// The device moves what was enabled under a plan that it forgets; that is no gain.
TEST_F(RotationSumTest, AForgottenPlanCountsOnce) {
  mailbox::Catalog catalog = RotatingCatalog();
  catalog.plans.push_back({.number = 2, .sets = {{0b0110}}});
  BlockRotation before = numbers_;
  before.parts.push_back({.plan = 2, .enabled = {500}, .running = {400}});
  const Rotation with_plan(catalog);
  RotationSum first(with_plan, kNone, {});
  first.Add({kNone, {}}, {before, counters_});
  first.Add({kNone, {}}, {before, counters_});  // of a row that has ended since
  BlockRotation now = numbers_;
  now.parts.push_back({.plan = mailbox::kForgottenPlan, .enabled = {507}});
  RotationSum sum(rotation_, first.numbers(), first.squares());
  sum.Add({before, counters_}, {now, counters_});
  ASSERT_EQ(sum.numbers().parts.size(), 2u) << "the plan's own part is gone";
  EXPECT_EQ(sum.numbers().parts[0].enabled[0], 2000u);
  EXPECT_EQ(sum.numbers().parts[1].plan, mailbox::kForgottenPlan);
  EXPECT_EQ(sum.numbers().parts[1].enabled, (std::vector<uint64_t>{1007})) << "twice 500, and 7 since";
  EXPECT_TRUE(sum.numbers().parts[1].running.empty());
}

TEST_F(RotationSumTest, ASumOfManyForgottenPlansDoesNotGrow) {
  BlockRotation last;
  BlockRotation base;
  for (uint16_t plan = 2; plan < 200; ++plan) {
    mailbox::Catalog catalog = RotatingCatalog();
    catalog.plans.push_back({.number = plan, .sets = {{0b0110}}});
    const Rotation rotation(catalog);
    BlockRotation now;
    now.parts = {{.plan = plan, .enabled = {10}, .running = {10}}};
    if (plan > 2) now.parts.push_back({.plan = mailbox::kForgottenPlan, .enabled = {10u * (plan - 2)}});
    RotationSum sum(rotation, last, {});
    sum.Add({base, counters_}, {now, counters_});
    last = sum.numbers();
    base = now;
    ASSERT_LE(last.parts.size(), 2u);
  }
  EXPECT_EQ(last.parts.back().enabled[0] + last.parts.front().enabled[0], 1980u);
}

// The row that the daemon makes where a confidential VM is on the device and is not private.
TEST_F(RotationSumTest, TheDevicesRowIsTheSumOfTheShownVms) {
  mailbox::Catalog catalog = RotatingCatalog();
  catalog.vms.push_back(
      {.id = 2, .uuid = *Uuid::Parse("00000000-0000-0000-0000-000000000002"), .name = "s", .confidential = true});
  const auto topology = std::make_shared<Topology>(catalog, 77);
  mailbox::Snapshot raw = RotatingData();
  raw.blocks.push_back({.vm = 2});
  raw.rotation.push_back(SomeNumbers());
  raw.counters.insert(raw.counters.end(), counters_.begin(), counters_.end());
  raw.rotation[0].events[0].estimate = 800;  // with the secret
  mailbox::Snapshot later = raw;
  Redacted redacted = Redact(*topology, std::move(raw), nullptr, {.generation = 5, .is_first_of_boot = true});
  ASSERT_EQ(redacted.shown.rotation.size(), 3u);
  EXPECT_EQ(redacted.shown.rotation[0].events[0], SomeNumbers().events[0]);
  EXPECT_EQ(redacted.shown.rotation[0].parts, SomeNumbers().parts);
  DeviceSnapshot before = RotatingSnapshot(topology, std::move(redacted.shown));
  before.device_row_squares = redacted.device_row_squares;
  before.device_row_is_sum = before.device_scope_withheld = true;
  later.rotation[1].events[0] = {.estimate = 450, .upper = 650, .deviation = 20};
  later.rotation[3].events[0].estimate = 999;
  redacted = Redact(*topology, std::move(later), &before, {.generation = 6, .is_first_of_boot = false});
  EXPECT_EQ(redacted.shown.rotation[0].events[0],
            (mailbox::EventEstimate{.estimate = 450, .upper = 650, .deviation = 20}));
}

}  // namespace
}  // namespace sideband::daemon
