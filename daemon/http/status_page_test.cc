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
#include "proto/base/wait_until.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/memory_links.h"

namespace sideband::daemon {
namespace {

using mailbox::BoardClock;
using mailbox::EccMemory;
using mailbox::MetricId;
using mailbox::MiscFlag;
using mailbox::NvlinkState;
using mailbox::PowerSource;
using mailbox::SysId;
using mailbox::TempSensor;
using mailbox::ThermParam;
using mailbox::ThrottleReason;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr absl::Duration kAsked = absl::Seconds(1000);

json JsonOf(const BoardReading& reading) { return BoardJson(reading, kAsked); }

RunningCount Count(uint64_t value) { return {.value = value}; }

mailbox::DriverEvent Message(uint16_t xid, const std::string& text) { return {.xid = xid, .time_s = 7, .text = text}; }

TEST(BoardJsonTest, WhatIsUnknownIsAbsent) {
  EXPECT_EQ(JsonOf({}), json::object());
  BoardReading reading;
  reading.power_limits.limits[PowerSource::kTotal] = {.current = 400};
  reading.clock_limits.throttle_supported = mailbox::MaskOf(ThrottleReason::kSyncBoost);
  reading.clock_limits.maximum_mhz = {{BoardClock::kGraphics, 1980}};
  reading.metrics.scopes[{}] = {};
  reading.metrics.scopes[{.partition = 1}] = {};
  EXPECT_EQ(JsonOf(reading), json::object()) << "limits of what is not known";
}

TEST(BoardJsonTest, Identity) {
  BoardReading reading;
  reading.identity.items = {{SysId::kMarketingName, "Board"}, {SysId::kSerialNumber, "165"}};
  reading.identity.driver_version = "550.54";
  EXPECT_EQ(JsonOf(reading), json::parse(R"({"name": "Board", "driver": "550.54"})"));
}

TEST(BoardJsonTest, TemperaturesAndThresholds) {
  BoardReading reading;
  reading.temperature.celsius = {{TempSensor::kMemory, 70}, {TempSensor::kGpu0, 61.5}};
  reading.thresholds.celsius = {{ThermParam::kSlowdown, 90}, {ThermParam::kShutdownTLimit, -7}};
  reading.margin.celsius = 25.5;
  EXPECT_EQ(JsonOf(reading), json::parse(R"({
      "temperatures": [{"name": "GPU0", "value": 61.5}, {"name": "memory", "value": 70.0}],
      "thresholds": [{"name": "HW slowdown", "value": 90.0}],
      "margin": 25.5,
      "margin_thresholds": [{"name": "shutdown", "value": -7.0}]})"));
}

TEST(BoardJsonTest, ABoardIsHotFromItsThresholdsOn) {
  const auto is_hot = [](TempSensor sensor, double celsius, ThermParam threshold) {
    BoardReading reading;
    reading.temperature.celsius = {{sensor, celsius}};
    reading.thresholds.celsius = {{threshold, 90}};
    return JsonOf(reading).contains("is_hot");
  };
  EXPECT_TRUE(is_hot(TempSensor::kGpu0, 90, ThermParam::kSlowdown));
  EXPECT_FALSE(is_hot(TempSensor::kGpu0, 89.9, ThermParam::kSlowdown));
  EXPECT_TRUE(is_hot(TempSensor::kGpu0, 90, ThermParam::kSoftwareSlowdown));
  EXPECT_FALSE(is_hot(TempSensor::kGpu0, 95, ThermParam::kTarget));
  EXPECT_TRUE(is_hot(TempSensor::kMemory, 90, ThermParam::kMemorySlowdown));
  EXPECT_FALSE(is_hot(TempSensor::kMemory, 95, ThermParam::kSlowdown)) << "of another part";
  BoardReading reading;
  reading.margin.celsius = 0;
  EXPECT_TRUE(JsonOf(reading).contains("is_hot"));
}

TEST(BoardJsonTest, PowersHaveTheLimitInForce) {
  BoardReading reading;
  reading.power.watts = {{PowerSource::kTotal, 412.5}, {PowerSource::kSmbpbi, 1}, {PowerSource::kModule, 0}};
  reading.power_limits.limits = {{PowerSource::kTotal, {.current = 400, .maximum = 700}},
                                 {PowerSource::kModule, {.maximum = 1000}}};
  EXPECT_EQ(JsonOf(reading)["powers"],
            json::parse(R"([{"name": "total", "value": 412.5, "limit": 400.0}, {"name": "module", "value": 0.0}])"));
}

TEST(BoardJsonTest, ClocksAndThrottling) {
  BoardReading reading;
  reading.clocks = {.current_mhz = {{BoardClock::kGraphics, 1410}, {BoardClock::kMemory, 2619}},
                    .performance_state = 0,
                    .throttle_active = mailbox::MaskOf(ThrottleReason::kHardwareThermal) | 1u << 31};
  reading.clock_limits.maximum_mhz = {{BoardClock::kGraphics, 1980}};
  EXPECT_EQ(JsonOf(reading), json::parse(R"({
      "clocks": [{"name": "graphics", "value": 1.41e9, "maximum": 1.98e9}, {"name": "memory", "value": 2.619e9}],
      "performance_state": 0,
      "throttling": ["HW thermal"]})"));
  reading.clocks.throttle_active = 0;
  EXPECT_EQ(JsonOf(reading)["throttling"], json::array()) << "known: for no reason";
}

TEST(BoardJsonTest, MemoryAndItsErrors) {
  BoardReading reading;
  reading.memory = {.used_mib = 1, .total_mib = 1 << 24};
  reading.ecc = {.corrected = {{EccMemory::kDram, Count(18'446'744'073'709'551'615u)}},
                 .uncorrected = {{EccMemory::kSram, Count(0)}, {EccMemory::kDram, Count(2)}}};
  reading.row_remaps = {.uncorrected = Count(3), .has_excess = true, .is_pending = false};
  reading.retired_pages = {.double_bit = 255};
  EXPECT_EQ(JsonOf(reading), json::parse(R"({
      "memory": {"used": 1048576.0, "total": 17592186044416.0},
      "ecc": [{"name": "SRAM", "uncorrected": "0"},
              {"name": "DRAM", "corrected": "18446744073709551615", "uncorrected": "2"}],
      "remapped_rows": {"uncorrected": "3", "is_pending": false, "has_excess": true},
      "retired_pages": {"double_bit": 255}})"));
}

TEST(BoardJsonTest, NvlinksThatAreDisabledAreNotDown) {
  BoardReading reading;
  reading.nvlink.links = {{.is_up = true, .replays = Count(1), .data_crc = Count(4)},
                          {.is_up = false, .recoveries = Count(2)},
                          {.is_up = false, .state = NvlinkState::kDisabled},
                          {.is_up = false, .state = NvlinkState::kOff},
                          {}};
  EXPECT_EQ(JsonOf(reading)["nvlinks"], json::parse(R"({"count": 5, "up": 1, "down": [1, 3], "errors": "7"})"));
  reading.nvlink.links = {{}, {}};
  EXPECT_EQ(JsonOf(reading)["nvlinks"], json::parse(R"({"count": 2})"));
}

TEST(BoardJsonTest, Pcie) {
  BoardReading reading;
  reading.pcie = {.generation = 5,
                  .lanes = 16,
                  .non_fatal = Count(1),
                  .correctable = Count(4),
                  .recoveries = Count(9),
                  .replays = Count(6)};
  EXPECT_EQ(JsonOf(reading)["pcie"], json::parse(R"({"generation": 5, "lanes": 16, "errors": "5", "replays": "6"})"));
}

TEST(BoardJsonTest, AttentionIsForWhatNeedsAnOperator) {
  BoardReading reading;
  reading.flags.flags = {
      {MiscFlag::kResetRequired, false}, {MiscFlag::kEccCurrent, true}, {MiscFlag::kDriverRuns, true}};
  reading.flags.fabric_manager = 1;
  reading.row_remaps = {.is_pending = false, .has_failed = false};
  reading.ecc.sram_threshold_exceeded = false;
  EXPECT_FALSE(JsonOf(reading).contains("attention"));
  reading.flags.flags = {{MiscFlag::kResetRequired, true}, {MiscFlag::kDrainRecommended, true}};
  reading.flags.fabric_manager = 3;
  reading.row_remaps = {.is_pending = true, .has_failed = true};
  reading.ecc.sram_threshold_exceeded = true;
  EXPECT_EQ(JsonOf(reading)["attention"],
            json({"reset required", "drain and reset recommended", "the fabric manager has an error",
                  "a row waits for its replacement, which needs a reset", "the replacement of a row has failed",
                  "SRAM errors above the vendor's threshold"}));
}

TEST(BoardJsonTest, TheNewestMessagesComeFirst) {
  BoardReading reading;
  for (uint16_t xid = 1; xid <= kMessagesShown + 1; ++xid)
    reading.driver_messages.messages.push_back(Message(xid, "x"));
  reading.driver_messages.taken = 70;
  const json board = JsonOf(reading);
  ASSERT_EQ(board["messages"].size(), kMessagesShown);
  EXPECT_EQ(board["messages"].front(), json::parse(R"({"xid": 6, "time": 7, "text": "x"})"));
  EXPECT_EQ(board["messages"].back()["xid"], 2);
  EXPECT_EQ(board["messages_taken"], "70");
}

TEST(BoardJsonTest, TextsOfTheBoardStayTexts) {
  BoardReading reading;
  const std::string hostile = "\"}],</script><img src=x onerror=alert(1)>\\";
  reading.driver_messages.messages = {Message(31, hostile)};
  reading.identity.items = {{SysId::kMarketingName, hostile}};
  const json board = json::parse(JsonOf(reading).dump());
  EXPECT_EQ(board["messages"][0]["text"], hostile);
  EXPECT_EQ(board["name"], hostile);
}

TEST(BoardJsonTest, RatiosOfTheDeviceAndOfPartitions) {
  BoardReading reading;
  auto& scopes = reading.metrics.scopes;
  scopes[{}] = {.ratios = {{MetricId::kSmActivity, 0.375}}, .bytes_per_second = {{MetricId::kPcieTx, 1}}};
  scopes[{.partition = 2}] = {.ratios = {{MetricId::kSmActivity, 1}}};
  scopes[{.partition = 2, .compute_instance = 0}] = {.ratios = {{MetricId::kDramUsage, 0}}};
  EXPECT_EQ(JsonOf(reading), json::parse(R"({
      "ratios": [{"name": "SM activity", "value": 0.375}],
      "partitions": [{"partition": 2, "ratios": [{"name": "SM activity", "value": 1.0}]},
                     {"partition": 2, "instance": 0, "ratios": [{"name": "DRAM usage", "value": 0.0}]}]})"));
}

TEST(BoardJsonTest, TheOldestGroupIsOfThoseThatAreReadAgain) {
  BoardReading reading;
  reading.samples[BoardGroup::kIdentity].steady = kAsked - absl::Seconds(900);
  EXPECT_FALSE(JsonOf(reading).contains("oldest"));
  reading.samples[BoardGroup::kTemperature].steady = kAsked - absl::Seconds(1);
  reading.samples[BoardGroup::kEcc].steady = kAsked - absl::Milliseconds(29'500);
  EXPECT_EQ(JsonOf(reading)["oldest"], json::parse(R"({"name": "ecc", "age": 29.5})"));
  reading.samples = {{BoardGroup::kPower, {.steady = kAsked + absl::Milliseconds(1)}}};
  EXPECT_EQ(JsonOf(reading)["oldest"]["age"], 0.0) << "newer than the caller's time";
}

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
  const TimeLimit limit("the end of the threads");
  for (std::thread& thread : threads) thread.join();
}

class PageDataTest : public testing::Test {
 protected:
  Caller As(const std::string& who) { return *world_.reader.Identify(CredentialsOf(who)); }
  json Status(const std::string& who) { return json::parse(data_.Status(As(who)).ToString()); }
  // Status() where boards are read.
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
