// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>

#include "sideband/error.h"
#include "sideband/rates.h"
#include "sideband/time.h"

namespace sideband {
namespace {

TEST(ResultTest, HasAValueOrAnError) {
  Result<std::string> good(std::string("a"));
  EXPECT_TRUE(good.ok());
  EXPECT_TRUE(good);
  EXPECT_EQ(*good, "a");
  EXPECT_EQ(good->size(), 1u);
  *good += "b";
  EXPECT_EQ(good.value(), "ab");
  const Result<std::string> bad(Error{ErrorCode::kNotFound, "no such VM"});
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error(), (Error{ErrorCode::kNotFound, "no such VM"}));
}

TEST(ResultTest, HasValuesThatCannotBeCopied) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(3));
  EXPECT_EQ(*std::move(result).value(), 3);
}

TEST(ResultDeathTest, WhatIsNotThereEndsTheProcess) {
  const Result<int> bad(Error{ErrorCode::kNotFound, "no such VM"});
  EXPECT_DEATH(static_cast<void>(*bad), "the value of a failed Result was used: no such VM");
  const Result<int> good(1);
  EXPECT_DEATH(static_cast<void>(good.error()), "there is no error");
}

TEST(ErrorCodeTest, EachHasItsName) {
  EXPECT_STREQ(ErrorCodeName(ErrorCode::kInvalidArgument), "InvalidArgument");
  EXPECT_STREQ(ErrorCodeName(ErrorCode::kInternal), "Internal");
  EXPECT_STREQ(ErrorCodeName(static_cast<ErrorCode>(99)), "Unknown");
}

TEST(TimeTest, IsUtcToTheMillisecond) {
  EXPECT_EQ(FormatTime(Time()), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(FormatTime(Time(std::chrono::nanoseconds(1'763'728'447'958'999'999))), "2025-11-21T12:34:07.958Z");
  EXPECT_EQ(FormatTime(Time(std::chrono::nanoseconds(-1))), "1969-12-31T23:59:59.999Z");
}

using std::chrono::seconds;

Snapshot At(int second, uint64_t count, uint32_t generation = 1, uint64_t boot = 7) {
  return {.device = "gpu0",
          .boot_id = boot,
          .reference_time = seconds(second),
          .scopes = {{.scope = {.device = "gpu0", .vm = "vm1", .generation = generation},
                      .counters = {{.event = "reads", .count = count}}}}};
}

TEST(RatesTest, AnIncreaseIsPerSecondOfTheDevicesTime) {
  const auto rows = IncreasesBetween(At(10, 100), At(14, 300));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].scope.vm, "vm1");
  EXPECT_EQ(rows[0].increases, (std::vector<Increase>{{.event = "reads", .count = 200, .per_second = 50}}));
}

TEST(RatesTest, CountsAreExactTo64Bits) {
  const uint64_t most = ~uint64_t{0};
  EXPECT_EQ(IncreasesBetween(At(1, most - 1), At(2, most)).at(0).increases.at(0).count, 1u);
  EXPECT_EQ(IncreasesBetween(At(1, 0), At(2, most)).at(0).increases.at(0).count, most);
}

TEST(RatesTest, CountersThatBeganAnewHaveNone) {
  EXPECT_TRUE(IncreasesBetween(At(1, 100), At(2, 300, /*generation=*/2)).empty());
  EXPECT_TRUE(IncreasesBetween(At(1, 100), At(2, 300, 1, /*boot=*/8)).empty());
}

TEST(RatesTest, OfAScopeThatEndedAndBeganAgainTheEndedPartCounts) {
  Snapshot later = At(2, 150);
  later.scopes.push_back(At(2, 7, /*generation=*/2).scopes[0]);
  const auto rows = IncreasesBetween(At(1, 100), later);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].scope.generation, 1u);
  EXPECT_EQ(rows[0].increases.at(0).count, 50u);
}

TEST(RatesTest, ThereIsNoIncreaseBackwardsOrBetweenDevices) {
  EXPECT_TRUE(IncreasesBetween(At(2, 100), At(1, 100)).empty());
  EXPECT_TRUE(IncreasesBetween(At(1, 100), At(1, 100)).empty());
  Snapshot other = At(2, 200);
  other.device = "gpu1";
  EXPECT_TRUE(IncreasesBetween(At(1, 100), other).empty());
}

TEST(RatesTest, EventsOfOneSnapshotAloneHaveNone) {
  Snapshot later = At(2, 100);
  later.scopes[0].counters[0].event = "writes";
  EXPECT_TRUE(IncreasesBetween(At(1, 100), later).at(0).increases.empty());
}

TEST(RatesTest, EstimatesAndPartsAreNotExact) {
  Snapshot later = At(2, 200);
  Counter& counter = later.scopes[0].counters[0];
  counter.coverage = 1.0;
  EXPECT_TRUE(IncreasesBetween(At(1, 100), later).at(0).increases.at(0).exact);
  counter.coverage = 0.5;
  EXPECT_FALSE(IncreasesBetween(At(1, 100), later).at(0).increases.at(0).exact);
  counter.coverage.reset();
  counter.estimate = Estimate{};
  EXPECT_FALSE(IncreasesBetween(At(1, 100), later).at(0).increases.at(0).exact);
  counter.count = 99;
  EXPECT_TRUE(IncreasesBetween(At(1, 100), later).at(0).increases.empty());
}

}  // namespace
}  // namespace sideband
