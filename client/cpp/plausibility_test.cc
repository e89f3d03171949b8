// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/plausibility.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "sideband/client.h"

namespace sideband::library {
namespace {

ScopeCounters Row(uint32_t generation, uint64_t count, const std::string& vm = "vm1") {
  return {.scope = {.device = "gpu0", .vm = vm, .generation = generation},
          .status = ScopeStatus::kActive,
          .counters = {{.event = "reads", .count = count}}};
}

Snapshot Of(std::vector<ScopeCounters> rows, int time = 1, uint64_t boot = 7) {
  return {.device = "gpu0", .boot_id = boot, .reference_time = Duration(time), .scopes = std::move(rows)};
}

class PlausibilityTest : public testing::Test {
 protected:
  absl::Status Check(const Snapshot& snapshot, bool is_whole = true) { return plausibility_.Check(snapshot, is_whole); }
  bool Accepts(const Snapshot& snapshot, bool is_whole = true) { return Check(snapshot, is_whole).ok(); }

  Plausibility plausibility_;
};

TEST_F(PlausibilityTest, CountsMayStandOrRise) {
  const uint64_t most = ~uint64_t{0};
  for (const uint64_t count : {uint64_t{10}, uint64_t{10}, uint64_t{11}, most - 1, most}) {
    EXPECT_TRUE(Accepts(Of({Row(1, count)})));
  }
  EXPECT_EQ(Check(Of({Row(1, most - 1)})).message(),
            "gpu0: vm1: the count of reads fell from 18446744073709551615 to 18446744073709551614 within generation 1");
}

TEST_F(PlausibilityTest, CountsBeginAnewInANewGenerationAndBoot) {
  EXPECT_TRUE(Accepts(Of({Row(1, 10)}, 100)));
  EXPECT_TRUE(Accepts(Of({Row(2, 0)}, 101)));
  EXPECT_TRUE(Accepts(Of({Row(1, 0)}, 1, /*boot=*/8))) << "generations and the clock begin anew, too";
  EXPECT_FALSE(Accepts(Of({Row(1, 0)}, 0, 8)));
}

TEST_F(PlausibilityTest, AScopeThatEndedAndBeganAgainMayBeThereTwice) {
  ScopeCounters ended = Row(1, 10);
  ended.status = ScopeStatus::kRetired;
  EXPECT_TRUE(Accepts(Of({Row(1, 9)})));
  EXPECT_TRUE(Accepts(Of({Row(2, 1), ended})));
  EXPECT_TRUE(Accepts(Of({ended, Row(2, 2)})));
  EXPECT_FALSE(Accepts(Of({Row(2, 1), ended}))) << "the count of generation 2 fell";
  EXPECT_FALSE(Accepts(Of({Row(1, 11)}))) << "generation 1 is over";
}

TEST_F(PlausibilityTest, ScopesAreTheirOwn) {
  EXPECT_TRUE(Accepts(Of({Row(1, 10), Row(5, 3, "vm2")})));
  ScopeCounters bound = Row(1, 1);
  bound.scope.slice = 1;
  ScopeCounters host = Row(0, 1, "");
  host.scope.host = true;
  EXPECT_TRUE(Accepts(Of({bound, host, Row(0, 50, "")})));
}

TEST_F(PlausibilityTest, EventsMayChangePlaces) {
  ScopeCounters row = Row(1, 10);
  row.counters.push_back({.event = "writes", .count = 5});
  EXPECT_TRUE(Accepts(Of({row})));
  std::swap(row.counters[0], row.counters[1]);
  EXPECT_TRUE(Accepts(Of({row})));
  row.counters[0].count = 4;
  EXPECT_FALSE(Accepts(Of({row})));
}

TEST_F(PlausibilityTest, EstimatesMayFall) {
  ScopeCounters row = Row(1, 10);
  row.counters[0].estimate = Estimate{.lower = 1};
  EXPECT_TRUE(Accepts(Of({row})));
  row.counters[0].count = 9;
  EXPECT_TRUE(Accepts(Of({row})));
}

TEST_F(PlausibilityTest, ADeviceBesideConfidentialVmsMayBeSummedUpAnew) {
  ScopeCounters device = Row(0, 10, "");
  device.flags = {"confidential_excluded"};
  EXPECT_TRUE(Accepts(Of({device})));
  device.counters[0].count = 9;
  EXPECT_TRUE(Accepts(Of({device})));
}

TEST_F(PlausibilityTest, WhatIsLeftOutIsRemembered) {
  EXPECT_TRUE(Accepts(Of({Row(1, 10), Row(1, 5, "vm2")})));
  EXPECT_TRUE(Accepts(Of({Row(1, 6, "vm2")}), /*is_whole=*/false));
  EXPECT_FALSE(Accepts(Of({Row(1, 9)}), /*is_whole=*/false));
  EXPECT_TRUE(Accepts(Of({})));
  EXPECT_TRUE(Accepts(Of({Row(1, 9)}))) << "what a whole snapshot does not have has ended";
}

TEST_F(PlausibilityTest, DevicesAreBounded) {
  for (size_t i = 0; i < kDevicesMax; ++i) EXPECT_TRUE(Accepts({.device = absl::StrCat("gpu", i)}));
  EXPECT_TRUE(Accepts({.device = "gpu0"}));
  EXPECT_EQ(Check({.device = "another"}).message(), "a stream of more than 4096 devices");
}

}  // namespace
}  // namespace sideband::library
