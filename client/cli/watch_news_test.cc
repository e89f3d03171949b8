// SPDX-License-Identifier: Apache-2.0
#include "client/cli/watch_news.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace sideband::client {
namespace {

v1::SubscribeResponse Parse(const std::string& text) {
  v1::SubscribeResponse response;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &response)) << text;
  return response;
}

// A snapshot of each second.
v1::SubscribeResponse Update(int id, const std::string& more = "", int boot = 7) {
  return Parse(absl::StrCat("update { device: 'gpu0' boot_id: ", boot, " snapshot_id: ", id, " reference_time_ns: ", id,
                            "000000000 } ", more));
}

// The items of a change that are to be printed.
std::string News(WatchNews& news, const std::string& items, const std::string& more = "") {
  v1::SubscribeResponse response = Parse(absl::StrCat("change { ", items, " } ", more));
  const bool is_left = news.Narrow(response);
  EXPECT_EQ(is_left, response.change().items_size() > 0);
  return response.change().ShortDebugString();
}

std::string DeviceItem(const std::string& name, const std::string& state) {
  return absl::StrCat("items { device { name: \"", name, "\" state: STATE_", state, " } }");
}

std::string ScopeItem(const std::string& vm, const std::string& state) {
  return absl::StrCat("items { scope { scope { device: \"gpu0\" vm: \"", vm, "\" } state: STATE_", state, " } }");
}

constexpr char kHeartbeat[] = "heartbeat: true";

TEST(WatchNewsTest, AHeartbeatMayBeTheFirstToHaveASnapshot) {
  WatchNews news(absl::ZeroDuration());
  EXPECT_TRUE(news.Take(Update(1)));
  EXPECT_FALSE(news.Take(Update(1, kHeartbeat)));
  EXPECT_TRUE(news.Take(Update(2, kHeartbeat)));
  EXPECT_FALSE(news.Take(Update(2, kHeartbeat)));
  EXPECT_FALSE(news.Take(Update(2))) << "of a stream that begins anew";
  EXPECT_TRUE(news.Take(Update(3)));
  EXPECT_TRUE(news.Take(Update(3, "", /*boot=*/8)));
}

TEST(WatchNewsTest, AnIntervalLeavesOutWhatIsBetweenItsSamples) {
  WatchNews news(absl::Seconds(60));
  EXPECT_TRUE(news.Take(Update(1, kHeartbeat))) << "a first one is never left out";
  for (const int id : {2, 10, 40, 59}) EXPECT_FALSE(news.Take(Update(id, kHeartbeat))) << id;
  EXPECT_TRUE(news.Take(Update(40))) << "what no heartbeat has is a sample";
  EXPECT_TRUE(news.Take(Update(99, "heartbeat: true skipped: 58"))) << "a sample in a heartbeat";
  EXPECT_TRUE(news.Take(Update(159, kHeartbeat)));
  EXPECT_TRUE(news.Take(Update(160, kHeartbeat, /*boot=*/8)));
}

// Nothing was skipped, since the device was silent.
TEST(WatchNewsTest, TheFirstSnapshotAfterASilenceIsASample) {
  WatchNews news(absl::Seconds(60));
  EXPECT_TRUE(news.Take(Update(1)));
  v1::SubscribeResponse next = Update(2, kHeartbeat);
  next.mutable_update()->set_reference_time_ns(59'500'000'000);
  EXPECT_TRUE(news.Take(next));
}

TEST(WatchNewsTest, AHeartbeatMayBeTheFirstToHaveAChange) {
  WatchNews news(absl::ZeroDuration());
  const std::string state = absl::StrCat(DeviceItem("gpu0", "FRESH"), " ", ScopeItem("vm1", "ACTIVE"));
  EXPECT_EQ(News(news, state), state);
  EXPECT_EQ(News(news, state, kHeartbeat), "");
  EXPECT_EQ(News(news, absl::StrCat(DeviceItem("gpu0", "STALE"), " ", ScopeItem("vm1", "ACTIVE")), kHeartbeat),
            DeviceItem("gpu0", "STALE"));
  EXPECT_EQ(News(news, ScopeItem("vm2", "IDLE"), kHeartbeat), ScopeItem("vm2", "IDLE"));
  EXPECT_EQ(News(news, DeviceItem("gpu0", "FRESH"), kHeartbeat), DeviceItem("gpu0", "FRESH")) << "as it was before";
  EXPECT_EQ(News(news, state), state) << "no heartbeat is sent for a reason";
}

TEST(WatchNewsTest, WhatIsGoneAndComesBackIsNew) {
  WatchNews news(absl::ZeroDuration());
  const std::string items[] = {
      "items { device { name: \"gpu0\" state: STATE_FRESH } }",
      "items { scope { scope { device: \"gpu0\" vm: \"vm1\" } state: STATE_ACTIVE flags: \"overflow\" } }",
      "items { limit { device: \"gpu0\" sensor { name: \"watts\" labels { name: \"kind\" value: \"peak\" } value: 5 "
      "group: \"power\" } } }",
      "items { mark { mark_id: 3 scope { device: \"gpu0\" vm: \"vm1\" context: \"c\" } label: \"a\" state: "
      "STATE_READ } }"};
  const std::string identities[] = {
      "items { device { name: \"gpu0\" } gone: true }",
      "items { scope { scope { device: \"gpu0\" vm: \"vm1\" } } gone: true }",
      "items { limit { device: \"gpu0\" sensor { name: \"watts\" labels { name: \"kind\" value: \"peak\" } } } "
      "gone: true }",
      "items { mark { mark_id: 3 scope { device: \"gpu0\" vm: \"vm1\" } } gone: true }"};
  for (size_t i = 0; i < std::size(items); ++i) {
    EXPECT_EQ(News(news, items[i]), items[i]);
    EXPECT_EQ(News(news, identities[i], kHeartbeat), identities[i]);
    EXPECT_EQ(News(news, identities[i], kHeartbeat), "") << "it was said";
    EXPECT_EQ(News(news, items[i], kHeartbeat), items[i]);
    EXPECT_EQ(News(news, items[i], kHeartbeat), "");
  }
}

TEST(WatchNewsTest, ItemsThatAreAlikeAreToldApart) {
  WatchNews news(absl::ZeroDuration());
  const std::string both = absl::StrCat(ScopeItem("vm1", "ACTIVE"), " ", ScopeItem("vm1", "IDLE"));
  EXPECT_EQ(News(news, both), both);
  EXPECT_EQ(News(news, both, kHeartbeat), "");
}

TEST(WatchNewsTest, AfterAGapTheStateIsNew) {
  WatchNews news(absl::ZeroDuration());
  EXPECT_EQ(News(news, ScopeItem("vm1", "IDLE")), ScopeItem("vm1", "IDLE"));
  news.ForgetState();
  EXPECT_EQ(News(news, ScopeItem("vm1", "IDLE"), kHeartbeat), ScopeItem("vm1", "IDLE"));
}

}  // namespace
}  // namespace sideband::client
