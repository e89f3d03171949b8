// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/phase.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/status/status.h"

namespace sideband::sim {
namespace {

constexpr PhaseKind kKinds[] = {PhaseKind::kGemm, PhaseKind::kAttention, PhaseKind::kCopy,   PhaseKind::kAllReduce,
                                PhaseKind::kIdle, PhaseKind::kLoad,      PhaseKind::kAssign, PhaseKind::kUpdate};

TEST(PhaseTest, NamesRoundTrip) {
  for (const PhaseKind kind : kKinds) EXPECT_EQ(*ParsePhaseKind(PhaseKindName(kind)), kind);
  const absl::Status unknown = ParsePhaseKind("gem").status();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(unknown.message(), "unknown phase 'gem' (did you mean 'gemm'?)");
}

TEST(PhaseTest, RatesAreAtMostEveryCycle) {
  EXPECT_EQ(StandardEvents().size(), 16u);
  for (const std::string& event : StandardEvents()) {
    for (const PhaseKind kind : kKinds) EXPECT_LE(BaseRate(kind, event), kRateOne) << event;
    EXPECT_EQ(BaseRate(PhaseKind::kIdle, event), 0u) << event;
  }
}

TEST(PhaseTest, PhasesHaveTheirCharacter) {
  EXPECT_GT(BaseRate(PhaseKind::kGemm, "tensor_active_cycles"), BaseRate(PhaseKind::kCopy, "tensor_active_cycles"));
  EXPECT_GT(BaseRate(PhaseKind::kAllReduce, "nvlink_tx_cycles"), BaseRate(PhaseKind::kGemm, "nvlink_tx_cycles"));
  EXPECT_EQ(BaseRate(PhaseKind::kGemm, "sm_active_cycles"), 880 * kRateOne / 1000);
  EXPECT_EQ(BaseRate(PhaseKind::kLoad, "sm_active_cycles"), 90 * kRateOne / 1000);
  EXPECT_EQ(BaseRate(PhaseKind::kUpdate, "instructions_issued_cycles"), 260 * kRateOne / 1000);
}

TEST(PhaseTest, UnknownEventsHaveStableRatesOfTheirOwn) {
  std::set<uint64_t> rates;
  for (const char* event : {"a", "b", "unknown_cycles", "unknown_cyclet"}) {
    for (const PhaseKind kind : {PhaseKind::kGemm, PhaseKind::kCopy}) {
      const uint64_t rate = BaseRate(kind, event);
      EXPECT_GE(rate, kRateOne / 64);
      EXPECT_LT(rate, kRateOne / 64 + kRateOne / 2);
      rates.insert(rate);
    }
    EXPECT_EQ(BaseRate(PhaseKind::kIdle, event), 0u);
  }
  EXPECT_EQ(rates.size(), 8u);
  // Pinned: recorded totals depend on it.
  EXPECT_EQ(BaseRate(PhaseKind::kGemm, "unknown_cycles"), 978870516u);
}

}  // namespace
}  // namespace sideband::sim
