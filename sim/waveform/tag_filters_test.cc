// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/tag_filters.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace sideband::sim {
namespace {

constexpr char kByContext[] = R"({"clock": "c", "events": [
{"name": "hits", "signal": "h", "op": "high", "requester": {"slice": "s", "context": "x"}}]})";
constexpr char kBySlice[] = R"({"clock": "c", "events": [
{"name": "hits", "signal": "h", "op": "high", "requester": {"slice": "s"}}]})";

absl::StatusOr<TagFilters> Filters(const std::string& map, const std::string& rows,
                                   const std::set<std::string>& private_vms = {}) {
  const auto schedule = ParseSchedule("start_cycle,end_cycle,vm,context,slice,tag\n" + rows, "C.csv");
  return TagFilters::Create(*SignalMap::Parse(map, "S.json"), *schedule, "C.csv", /*slices=*/2, private_vms);
}

TEST(TagFiltersTest, ARequestPassesWhileItsContextIsResident) {
  const auto filters = Filters(kByContext, "5,10,vm1,a,0,7\n10,12,vm1,b,0,8\n5,20,vm2,a,1,7\n");
  ASSERT_TRUE(filters.ok()) << filters.status();
  FilterCursor cursor(*filters);
  EXPECT_EQ(cursor.next(), 5u);
  EXPECT_EQ(cursor.SliceOf(0, 7), std::nullopt) << "nobody is resident";
  EXPECT_TRUE(cursor.AdvanceTo(5));
  EXPECT_EQ(cursor.SliceOf(0, 7), 0u);
  EXPECT_EQ(cursor.SliceOf(1, 7), 1u) << "the same number on another slice";
  EXPECT_EQ(cursor.SliceOf(0, 8), std::nullopt) << "not yet resident";
  EXPECT_EQ(cursor.SliceOf(2, 7), std::nullopt) << "no such slice";
  EXPECT_FALSE(cursor.AdvanceTo(9));
  EXPECT_TRUE(cursor.AdvanceTo(10));
  EXPECT_EQ(cursor.SliceOf(0, 7), std::nullopt) << "resident no more";
  EXPECT_EQ(cursor.SliceOf(0, 8), 0u);
  cursor.AdvanceTo(12);
  EXPECT_EQ(cursor.SliceOf(0, 8), std::nullopt);
  cursor.AdvanceTo(20);
  EXPECT_EQ(cursor.next(), UINT64_MAX);
}

TEST(TagFiltersTest, WithoutAContextTheResidentIsMeant) {
  const auto filters = Filters(kBySlice, "0,10,vm1,a,0,\n10,12,vm0,,0,\n");
  ASSERT_TRUE(filters.ok()) << filters.status();
  FilterCursor cursor(*filters);
  EXPECT_EQ(cursor.SliceOf(0, std::nullopt), 0u);
  EXPECT_EQ(cursor.SliceOf(1, std::nullopt), std::nullopt);
  cursor.AdvanceTo(11);
  EXPECT_EQ(cursor.SliceOf(0, std::nullopt), 0u) << "the hypervisor's";
  cursor.AdvanceTo(12);
  EXPECT_EQ(cursor.SliceOf(0, std::nullopt), std::nullopt);
}

TEST(TagFiltersTest, ALateRequestOfAPrivateVmIsHidden) {
  const auto filters = Filters(kByContext, "0,5,vm1,a,0,7\n5,10,vm2,b,0,8\n", {"vm1"});
  ASSERT_TRUE(filters.ok()) << filters.status();
  FilterCursor cursor(*filters);
  EXPECT_FALSE(cursor.IsHidden(0, 7)) << "its own blocks have it";
  EXPECT_TRUE(cursor.IsHidden(1, 7)) << "on a wrong slice";
  EXPECT_FALSE(cursor.IsHidden(0, 8)) << "of an open VM";
  cursor.AdvanceTo(5);
  EXPECT_TRUE(cursor.IsHidden(0, 7)) << "late";
  EXPECT_FALSE(cursor.IsHidden(0, 8));
  EXPECT_FALSE(cursor.IsHidden(0, 9)) << "of nobody";
}

TEST(TagFiltersTest, WithoutAContextASliceOfAPrivateVmHidesRequestsOfNobody) {
  const auto filters = Filters(kBySlice, "0,5,vm1,a,0,\n5,10,vm2,b,0,\n0,10,vm2,c,1,\n", {"vm1"});
  ASSERT_TRUE(filters.ok()) << filters.status();
  FilterCursor cursor(*filters);
  cursor.AdvanceTo(5);
  EXPECT_FALSE(cursor.IsHidden(0, std::nullopt)) << "the resident's";
  cursor.AdvanceTo(10);
  EXPECT_TRUE(cursor.IsHidden(0, std::nullopt));
  EXPECT_FALSE(cursor.IsHidden(1, std::nullopt));
  EXPECT_FALSE(cursor.IsHidden(2, std::nullopt)) << "no such slice";
}

TEST(TagFiltersTest, AVmsResidencyNeedsATagIfEventsGoByContexts) {
  EXPECT_EQ(Filters(kByContext, "0,4,vm1,a,0,1\n4,9,vm1,b,0,\n").status().message(),
            "C.csv:3: the residency has no tag, with which event 'hits' compares the context of a request");
  const auto filters = Filters(kByContext, "0,4,vm0,,0,\n");
  ASSERT_TRUE(filters.ok()) << filters.status();
  EXPECT_EQ(FilterCursor(*filters).SliceOf(0, 0), std::nullopt) << "the hypervisor has no tag here";
}

}  // namespace
}  // namespace sideband::sim
