// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/status_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemon/board/board_store.h"
#include "daemon/view/fake_world.h"

namespace sideband::daemon {
namespace {

using testing::HasSubstr;
using testing::Not;

class SharedRowsTest : public testing::Test {
 protected:
  SharedRowsTest() { world_.Publish(0, 1); }

  std::shared_ptr<const std::string> RowsOf(const std::string& who) {
    const Caller caller = *world_.reader.Identify(CredentialsOf(who));
    return rows_.JsonOf(caller, world_.reader.Devices(caller));
  }

  FakeWorld world_;
  SharedRows rows_;
};

TEST_F(SharedRowsTest, AreMadeOnceForASnapshot) {
  const auto first = RowsOf("tenant-a");
  world_.clock.Advance(absl::Seconds(1));
  EXPECT_EQ(RowsOf("tenant-a"), first) << "the same bytes";
  world_.Publish(0, 2);
  EXPECT_NE(RowsOf("tenant-a"), first);
  EXPECT_THAT(*RowsOf("tenant-a"), HasSubstr("\"snapshot_id\":2"));
}

TEST_F(SharedRowsTest, FollowTheDevicesState) {
  EXPECT_THAT(*RowsOf("tenant-a"), HasSubstr("STATE_FRESH"));
  world_.clock.Advance(absl::Seconds(4));
  EXPECT_THAT(*RowsOf("tenant-a"), HasSubstr("STATE_STALE"));
}

TEST_F(SharedRowsTest, AreAViewsOwn) {
  EXPECT_THAT(*RowsOf("tenant-a"), HasSubstr("vm0"));
  EXPECT_THAT(*RowsOf("tenant-b"), Not(HasSubstr("vm0")));
  EXPECT_THAT(*RowsOf("tenant-a"), Not(HasSubstr("vm1")));
}

TEST_F(SharedRowsTest, FollowThePolicy) {
  const auto before = RowsOf("tenant-a");
  world_.policy.Replace(FakePolicy("00000000-0000-0000-0000-0000000000ff"));
  EXPECT_THAT(*RowsOf("tenant-a"), Not(HasSubstr("vm0")));
}

TEST_F(SharedRowsTest, ServeManyThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 20; ++k) EXPECT_THAT(*RowsOf(i % 2 == 0 ? "tenant-a" : "ops"), HasSubstr("vm0"));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class PageDataTest : public testing::Test {
 protected:
  Caller As(const std::string& who) { return *world_.reader.Identify(CredentialsOf(who)); }
  json Status(const std::string& who) { return json::parse(data_.Status(As(who)).ToString()); }
  // As data_, with boards.
  std::string StatusWithBoards(const std::string& who) { return with_boards_.Status(As(who)).ToString(); }
  void PublishBoard(size_t device) {
    BoardReading reading;
    reading.samples[BoardGroup::kPower] = {world_.clock.Steady(), world_.clock.Now()};
    reading.power.watts[mailbox::PowerSource::kTotal] = 250;
    reading.driver_messages.messages = {{.xid = 31, .text = "</script>\xff"}};
    boards_.SetSettings(device, {.is_read = true});
    boards_.Publish(device, std::make_shared<const BoardReading>(reading));
  }

  FakeWorld world_;
  const FakePast past_{world_};
  const std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  PageData data_{{.reader = world_.reader, .history = past_.reader, .metrics = *metrics_, .version = "1.2"}};
  BoardStore boards_;
  PageData with_boards_{
      {.reader = world_.reader, .history = past_.reader, .metrics = *metrics_, .version = "1.2", .boards = &boards_}};
};

TEST_F(PageDataTest, StatusSaysWhoTheCallerIs) {
  const json status = Status("tenant-a");
  EXPECT_EQ(status["identity"], "spiffe://example.org/tenant-a");
  EXPECT_EQ(status["role"], "tenant:a");
  EXPECT_FALSE(status.contains("version")) << "the operator's, as sideband_build_info is";
  EXPECT_EQ(Status("ops")["version"], "1.2");
  EXPECT_EQ(status["time"], absl::ToDoubleSeconds(world_.clock.Now() - absl::UnixEpoch()));
}

TEST_F(PageDataTest, BeforeTheFirstSnapshotOperatorsSeeTheDevices) {
  const json status = Status("ops");
  EXPECT_EQ(status["devices"].size(), 2u);
  EXPECT_EQ(status["devices"][0]["state"], "STATE_AWAY");
  EXPECT_TRUE(status["snapshots"].empty());
  EXPECT_TRUE(Status("tenant-a")["devices"].empty());
}

TEST_F(PageDataTest, StatusHasTheCallersRows) {
  world_.Publish(0, 1);
  const json snapshot = Status("tenant-a")["snapshots"].at(0);
  EXPECT_EQ(snapshot["device"], "gpu0");
  EXPECT_EQ(snapshot["device_state"], "STATE_FRESH");
  ASSERT_EQ(snapshot["scopes"].size(), 3u) << "vm0 and its contexts render and compute";
  EXPECT_EQ(snapshot["scopes"][1]["scope"]["context"], "render");
  EXPECT_EQ(snapshot["scopes"][1]["counters"][0]["count"], "1020") << "64-bit integers are text in JSON";
}

TEST_F(PageDataTest, AgesGrowBetweenSnapshots) {
  world_.Publish(0, 1);
  EXPECT_EQ(Status("ops")["ages"], json({{"gpu0", 0.0}}));
  world_.clock.Advance(absl::Seconds(2));
  EXPECT_EQ(Status("ops")["ages"], json({{"gpu0", 2.0}}));
  EXPECT_FALSE(Status("ops")["snapshots"][0].contains("age"));
}

TEST_F(PageDataTest, AConfidentialVmIsAScopeWithoutCounters) {
  world_.Publish(0, 1);
  const json status = Status("tenant-c");
  ASSERT_EQ(status["scopes"].size(), 1u);
  EXPECT_EQ(status["scopes"][0]["confidential"], true);
  EXPECT_TRUE(status["snapshots"].empty());
}

TEST_F(PageDataTest, TheDaemonsOwnMetricsAreTheOperators) {
  world_.Publish(0, 1);
  metrics_->BusTransfer("gpu0", "ok");
  const json own = Status("ops")["own_metrics"];
  const json transfers = {
      {"name", "sideband_bus_transfers_total"}, {"labels", {{"device", "gpu0"}, {"outcome", "ok"}}}, {"value", 1.0}};
  EXPECT_THAT(own, testing::Contains(transfers));
  EXPECT_TRUE(Status("tenant-a")["own_metrics"].empty());
  EXPECT_TRUE(Status("auditor")["own_metrics"].empty());
}

TEST_F(PageDataTest, OperatorsSeeTheBoardsThatAnswer) {
  world_.Publish(0, 1);
  EXPECT_EQ(json::parse(StatusWithBoards("ops"))["boards"], json::object());
  PublishBoard(0);
  PublishBoard(1);
  const json boards = json::parse(StatusWithBoards("ops"))["boards"];
  EXPECT_EQ(boards.size(), 2u);
  EXPECT_EQ(boards["gpu0"]["powers"], json::parse(R"([{"name": "total", "value": 250.0}])"));
  EXPECT_FALSE(boards["gpu0"].contains("temperatures")) << "unknown";
  world_.clock.Advance(absl::Seconds(61));
  EXPECT_EQ(json::parse(StatusWithBoards("ops"))["boards"], json::object()) << "silent for too long";
}

TEST_F(PageDataTest, ABoardsTextThatIsNotUtf8IsReplaced) {
  PublishBoard(0);
  const json status = json::parse(StatusWithBoards("ops"));
  EXPECT_EQ(status["boards"]["gpu0"]["messages"][0]["text"], "</script>\xEF\xBF\xBD");
}

TEST_F(PageDataTest, OthersHaveTheSameAnswerWithBoardsAndWithout) {
  world_.Publish(0, 1);
  PublishBoard(0);
  PublishBoard(1);
  for (const char* who : {"tenant-a", "tenant-b", "tenant-c", "auditor"}) {
    EXPECT_EQ(StatusWithBoards(who), data_.Status(As(who)).ToString()) << who;
  }
}

TEST_F(PageDataTest, HistoryIsTheCallersOwn) {
  world_.Publish(0, 1);
  world_.clock.Advance(absl::Seconds(1));
  world_.Publish(0, 2);
  sideband::v1::GetHistoryRequest request;
  request.mutable_filter()->add_events("cycles");
  const auto text = data_.History(As("tenant-a"), request);
  ASSERT_TRUE(text.ok()) << text.status();
  const json device = json::parse(*text)["devices"].at(0);
  EXPECT_EQ(device["events"], json({"cycles"}));
  EXPECT_EQ(device["points"].size(), 2u);
  EXPECT_THAT(*text, HasSubstr("vm0"));
  EXPECT_THAT(*text, Not(HasSubstr("vm1")));
  EXPECT_THAT(*text, HasSubstr("render")) << "its context";
  EXPECT_THAT(*data_.History(As("ops"), request), Not(HasSubstr("render"))) << "as in the rows";
}

TEST_F(PageDataTest, ManyContextsHaveNoHistory) {
  mailbox::Catalog catalog = world_.topology->catalog();
  sideband::v1::GetHistoryRequest request;
  request.mutable_filter()->add_events("cycles");
  // vm0 has two already.
  for (size_t more = kContextsWithHistory - 2; more <= kContextsWithHistory - 1; ++more) {
    catalog.contexts.resize(FakeTopology()->catalog().contexts.size());
    for (size_t i = 0; i < more; ++i) {
      catalog.contexts.push_back({1, static_cast<uint16_t>(100 + i), absl::StrCat("more-", i), 0, 1});
    }
    world_.topology = std::make_shared<Topology>(catalog, 100 + more);
    world_.clock.Advance(absl::Seconds(1));
    world_.Publish(0, more);
    const auto text = data_.History(As("tenant-a"), request);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_THAT(*text, HasSubstr("vm0"));
    EXPECT_EQ(absl::StrContains(*text, "render"), more + 2 <= kContextsWithHistory) << more;
  }
}

TEST_F(PageDataTest, AnAbsentEventIsNotFound) {
  world_.Publish(0, 1);
  sideband::v1::GetHistoryRequest request;
  request.mutable_filter()->add_events("dram_bytes");
  EXPECT_TRUE(absl::IsNotFound(data_.History(As("tenant-b"), request).status()));
}

using testing::HasSubstr;
using testing::Not;

// A browser would run nothing else; the browser's test runs the page itself.
TEST(StatusPageTest, LoadsNothingFromElsewhere) {
  for (const char* elsewhere : {" src=", "@import", "url(", "javascript:"}) {
    EXPECT_THAT(StatusPage(), Not(HasSubstr(elsewhere)));
  }
}

TEST(StatusPageTest, ThePolicyNamesOneScriptAndOneStyle) {
  const std::string policy(StatusPagePolicy());
  EXPECT_THAT(policy, testing::ContainsRegex("script-src 'sha256-[^' ]*'; style-src 'sha256-[^' ]*';"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
}

TEST(StatusPageTest, HasTheNoticesOfItsLibraries) {
  // A build without npm has none.
  if (absl::StrContains(StatusPage(), "This build has no charts")) return;
  EXPECT_THAT(StatusPage(), HasSubstr("Leon Sorokin"));
  EXPECT_THAT(StatusPage(), HasSubstr("Jason Miller"));
}

TEST(StatusPageTest, NoPlaceholderIsLeft) { EXPECT_THAT(StatusPage(), Not(HasSubstr("{{"))); }

}  // namespace

}  // namespace sideband::daemon
