// SPDX-License-Identifier: Apache-2.0
#include "daemon/bmc/bmc_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

using mailbox::BoardClock;
using mailbox::EccMemory;
using mailbox::MetricId;
using mailbox::PowerSource;
using mailbox::SysId;
using mailbox::TempSensor;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kTray[] = "/redfish/v1/Systems/HGX_Baseboard_0";
constexpr char kReports[] = "/redfish/v1/TelemetryService/MetricReports";

std::string Collection(const std::vector<std::string>& members) {
  return absl::StrCat(R"({"Members": [)",
                      absl::StrJoin(members, ", ",
                                    [](std::string* out, const std::string& member) {
                                      absl::StrAppend(out, R"({"@odata.id": ")", member, R"("})");
                                    }),
                      "]}");
}

// A BMC with resources by path, and its own clock.
class ScriptedBmc {
 public:
  std::map<std::string, std::string> resources;
  std::map<std::string, int> codes;  // instead of 200
  std::vector<std::string> asked;    // paths, "LOGIN"
  std::vector<std::pair<std::string, absl::Duration>> times;
  bool accepts_login = true;
  bool has_session = false;
  absl::Status broken;  // of the network
  std::map<std::string, absl::Status> broken_paths;
  std::optional<absl::Duration> retry_after;

  BmcAnswer Answer(const BmcRequest& request, absl::Duration now) {
    const bool is_login = request.method == BmcRequest::Method::kLogIn;
    const bool is_logout = request.method == BmcRequest::Method::kLogOut;
    asked.push_back(is_login ? "LOGIN" : is_logout ? "LOGOUT" : request.target);
    times.emplace_back(asked.back(), now);
    if (!broken.ok()) return {.status = broken, .body = {}, .retry_after = {}};
    if (is_logout) return Code(204);
    if (is_login) {
      has_session = accepts_login;
      return Code(accepts_login ? 201 : 401);
    }
    const std::string path(absl::StripSuffix(request.target, "/"));
    if (const auto found = broken_paths.find(path); found != broken_paths.end()) {
      return {.status = found->second, .body = {}, .retry_after = {}};
    }
    if (path != "/redfish/v1" && !has_session) return Code(401);
    if (const auto code = codes.find(path); code != codes.end()) return Code(code->second);
    const auto found = resources.find(path);
    if (found == resources.end()) return Code(404);
    BmcAnswer answer = Code(200);
    answer.body = found->second;
    return answer;
  }

 private:
  BmcAnswer Code(int code) const {
    return {.status = absl::OkStatus(), .code = code, .body = {}, .retry_after = retry_after};
  }
};

// A value of a report: property, text, and how old it is.
struct Value {
  std::string property;
  std::string text;
  absl::Duration age;
};

class BmcReaderTest : public ::testing::Test {
 protected:
  static constexpr absl::Time kBmcStart = absl::FromUnixSeconds(946684800);  // of 2000: its clock was never set

  BmcReaderTest() {
    bmc_.resources["/redfish/v1"] = R"({"Product": "Tray", "Links": {"Sessions": {"@odata.id": "/redfish/v1/S"}}})";
    bmc_.resources["/redfish/v1/Systems"] = Collection({"/redfish/v1/Systems/Host", kTray});
    bmc_.resources[absl::StrCat(kTray, "/Processors")] =
        Collection({Gpu(0), Gpu(1), absl::StrCat(kTray, "/Processors/CPU_0")});
    for (int gpu : {0, 1}) {
      bmc_.resources[Gpu(gpu)] =
          absl::StrCat(R"({"Model": "Test GPU", "UUID": "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e00)", gpu,
                       R"(", "SerialNumber": "NA", "Status": {"State": "Enabled"}, "MaxSpeedMHz": 2000})");
      bmc_.resources[absl::StrCat(Gpu(gpu), "/EnvironmentMetrics")] =
          R"({"PowerLimitWatts": {"SetPoint": 700, "Reading": 123, "AllowableMax": 750}})";
    }
    bmc_.resources[kReports] =
        Collection({Report("HGX_PlatformEnvironmentMetrics_0"), Report("PlatformEnvironmentMetrics_0"),
                    Report("HGX_ProcessorGPMMetrics_0"), Report("HGX_ProcessorMetrics_0"),
                    Report("HGX_MemoryMetrics_0"), Report("HGX_HealthMetrics_0")});
    Measure();
  }

  static std::string Gpu(int gpu) { return absl::StrCat(kTray, "/Processors/GPU_", gpu); }
  static std::string Report(const std::string& id) { return absl::StrCat(kReports, "/", id); }
  static std::string Sensor(int gpu, const std::string& name) {
    return absl::StrCat("/redfish/v1/Chassis/HGX_GPU_", gpu, "/Sensors/HGX_GPU_", gpu, "_", name);
  }

  std::string BmcTime(absl::Duration age) const {
    return absl::FormatTime("%Y-%m-%d%ET%H:%M:%E3S%Ez", kBmcStart + now_ - age, absl::UTCTimeZone());
  }

  void SetReport(const std::string& id, const std::vector<Value>& values) {
    bmc_.resources[Report(id)] = absl::StrCat(
        R"({"MetricValues": [)",
        absl::StrJoin(values, ", ",
                      [&](std::string* out, const Value& value) {
                        absl::StrAppend(out, R"({"MetricProperty": ")", value.property, R"(", "MetricValue": ")",
                                        value.text, R"(", "Timestamp": ")", BmcTime(value.age), R"("})");
                      }),
        "]}");
  }

  // Writes all reports anew.
  void Measure() {
    std::vector<Value> environment, activity, processor, memory;
    for (int gpu : {0, 1}) {
      environment.push_back({Sensor(gpu, "TEMP_0"), absl::StrCat(40 + gpu), absl::Milliseconds(100)});
      environment.push_back({Sensor(gpu, "Power_0"), "200.5", absl::ZeroDuration()});
      environment.push_back({Sensor(gpu, "Energy_0"), absl::StrCat(ToInt64Seconds(now_) * 200), absl::ZeroDuration()});
      const std::string metrics = absl::StrCat(Gpu(gpu), "/ProcessorMetrics#/");
      activity.push_back({absl::StrCat(metrics, "Oem/Nvidia/SMActivityPercent"), "50", absl::ZeroDuration()});
      processor.push_back({absl::StrCat(metrics, "OperatingSpeedMHz"), "1980", absl::Seconds(12)});
      processor.push_back({absl::StrCat(metrics, "Oem/Nvidia/ThrottleReasons/0"), "NA", absl::Seconds(20)});
      const std::string dram = absl::StrCat(kTray, "/Memory/GPU_", gpu, "_DRAM_0/MemoryMetrics#/");
      memory.push_back({absl::StrCat(dram, "OperatingSpeedMHz"), "2600", absl::Seconds(29)});
      memory.push_back({absl::StrCat(dram, "LifeTime/CorrectableECCErrorCount"), "3", absl::ZeroDuration()});
    }
    environment.push_back({"/redfish/v1/Chassis/HGX_Chassis_0/Sensors/HGX_Chassis_0_TotalGPU_Power_0", "401", {}});
    SetReport("HGX_PlatformEnvironmentMetrics_0", environment);
    SetReport("PlatformEnvironmentMetrics_0", {{"/redfish/v1/Chassis/1/Sensors/Fan", "7000", {}}});
    SetReport("HGX_ProcessorGPMMetrics_0", activity);
    SetReport("HGX_ProcessorMetrics_0", processor);
    SetReport("HGX_MemoryMetrics_0", memory);
  }

  BmcEvents Events() {
    return {.log = [this](const std::string& line, bool) { lines_.push_back(line); },
            .requested = [this](absl::string_view code) { ++requests_[std::string(code)]; },
            .logged_in = [this] { ++logins_; },
            .left_out = [this](BmcOmission why, size_t values) { left_out_[why] += values; },
            .period = [this](BmcTopic topic, absl::Duration period) { periods_[topic] = period; },
            .state = [this](BmcState state) { is_up_ = state == BmcState::kUp; }};
  }

  BmcReader& reader() {
    if (!reader_) reader_.emplace(options_, Events(), [] { return 0.0; });
    return *reader_;
  }
  BoardTime Now() const { return {.steady = now_, .wall = absl::FromUnixSeconds(1'800'000'000) + now_}; }

  // Asks all that there is to ask until then; the BMC measures all the time.
  void RunFor(absl::Duration duration) {
    const absl::Duration end = now_ + duration;
    while (true) {
      const auto request = reader().Next(Now());
      if (!request) {
        const absl::Duration next = reader().NextTime(now_);
        if (next > end) break;
        now_ = std::max(next, now_ + absl::Milliseconds(1));
        if (is_measuring_) Measure();
        continue;
      }
      EXPECT_EQ(reader().Next(Now()), std::nullopt) << "one request at a time";
      const BmcAnswer answer = bmc_.Answer(*request, now_);
      now_ += absl::Milliseconds(50);
      reader().Take(answer, Now());
    }
    now_ = end;
  }
  std::shared_ptr<const BoardReading> Reading(const std::string& gpu) { return reader().Reading(gpu, Now()); }
  std::vector<std::string> Since(size_t asked) const {
    return {bmc_.asked.begin() + static_cast<ptrdiff_t>(asked), bmc_.asked.end()};
  }

  BmcReaderOptions options_;
  ScriptedBmc bmc_;
  absl::Duration now_ = absl::Seconds(1000);
  bool is_measuring_ = true;
  std::optional<BmcReader> reader_;
  std::vector<std::string> lines_;
  std::map<std::string, int> requests_;
  int logins_ = 0;
  std::map<BmcOmission, size_t> left_out_;
  std::map<BmcTopic, absl::Duration> periods_;
  std::optional<bool> is_up_;
};

TEST_F(BmcReaderTest, FindsTheGpusAndReadsThem) {
  options_.requests_per_minute = 120;
  RunFor(absl::Seconds(4));
  EXPECT_THAT(reader().gpus(), ElementsAre("GPU_0", "GPU_1"));
  EXPECT_THAT(
      std::vector(bmc_.asked.begin(), bmc_.asked.begin() + 5),
      ElementsAre("/redfish/v1/", "LOGIN", "/redfish/v1/Systems", absl::StrCat(kTray, "/Processors"), kReports));
  const auto reading = Reading("GPU_1");
  EXPECT_EQ(reading->temperature.celsius.at(TempSensor::kGpu0), 41);
  EXPECT_EQ(reading->power.watts.at(PowerSource::kTotal), 200.5);
  EXPECT_EQ(reading->metrics.scopes.at({}).ratios.at(MetricId::kSmActivity), 0.5);
  EXPECT_EQ(reading->clocks.current_mhz.at(BoardClock::kGraphics), 1980);
  EXPECT_EQ(reading->clocks.current_mhz.at(BoardClock::kMemory), 2600);
  EXPECT_EQ(reading->clocks.throttle_active, 0u);
  EXPECT_EQ(reading->ecc.corrected.at(EccMemory::kDram).value, 3u);
  EXPECT_EQ(reading->identity.items.at(SysId::kMarketingName), "Test GPU");
  EXPECT_EQ(reading->identity.items.at(SysId::kGuid), "5b0f6a2e7c644d0c9d7e2f1a90c3e001");
  EXPECT_FALSE(reading->identity.items.contains(SysId::kSerialNumber)) << "a placeholder";
  EXPECT_EQ(reading->power_limits.limits.at(PowerSource::kTotal).current, 700);
  EXPECT_THAT(reader().TakeChanged(), ElementsAre("GPU_0", "GPU_1"));
  EXPECT_THAT(reader().TakeChanged(), IsEmpty());
  EXPECT_THAT(lines_, ElementsAre("2 GPUs, the fastest values every 5s"));
  EXPECT_EQ(is_up_, true);
  EXPECT_EQ(logins_, 1);
}

TEST_F(BmcReaderTest, LinksAreReadOnlyIfAskedFor) {
  options_.requests_per_minute = 120;
  const std::string port = absl::StrCat(Gpu(1), "/Ports/NVLink_");
  bmc_.resources[kReports] =
      Collection({Report("HGX_PlatformEnvironmentMetrics_0"), Report("HGX_ProcessorPortMetrics_0")});
  const auto set = [&](int bytes) {
    SetReport("HGX_ProcessorPortMetrics_0", {{port + "0/Metrics#/TXBytes", absl::StrCat(bytes), {}},
                                             {port + "1/Metrics#/TXBytes", absl::StrCat(bytes / 2), {}},
                                             {port + "1#/CurrentSpeedGbps", "400.0", {}},
                                             {port + "1/Metrics#/Oem/Nvidia/UnintentionalLinkDownCount", "2", {}},
                                             {port + "1/Metrics#/Oem/Nvidia/TXWait", "4294967295", {}}});
  };
  set(100);
  RunFor(absl::Minutes(1));
  EXPECT_TRUE(Reading("GPU_1")->nvlink.links.empty());
  EXPECT_THAT(bmc_.asked, Not(Contains(Report("HGX_ProcessorPortMetrics_0"))));

  reader_.reset();
  options_.has_links = true;
  RunFor(absl::Minutes(1));
  set(140);
  RunFor(absl::Minutes(1));
  const auto reading = Reading("GPU_1");
  const auto& links = reading->nvlink.links;
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links[0].tx->value, 140u);
  EXPECT_EQ(links[1].tx->value, 70u) << "a counter of its own";
  EXPECT_EQ(links[1].bits_per_second, 400'000'000'000u);
  EXPECT_EQ(links[1].downs->value, 2u);
  EXPECT_EQ(links[0].downs, std::nullopt);
  EXPECT_EQ(periods_.at(BmcTopic::kLinks), absl::Minutes(1));

  // A link that an answer lacks stays for three periods.
  SetReport("HGX_ProcessorPortMetrics_0", {{port + "0/Metrics#/TXBytes", "150", {}}});
  RunFor(absl::Minutes(1));
  const auto later = Reading("GPU_1");
  ASSERT_EQ(later->nvlink.links.size(), 2u);
  EXPECT_EQ(later->nvlink.links[0].tx->value, 150u);
  EXPECT_EQ(later->nvlink.links[1].tx->value, 70u);
}

TEST_F(BmcReaderTest, LinksThatTimeOutEndNothingElse) {
  options_.has_links = true;
  bmc_.resources[kReports] =
      Collection({Report("HGX_PlatformEnvironmentMetrics_0"), Report("HGX_ProcessorPortMetrics_0")});
  bmc_.broken_paths[Report("HGX_ProcessorPortMetrics_0")] = absl::DeadlineExceededError("the BMC is too slow");
  RunFor(absl::Minutes(3));
  EXPECT_EQ(is_up_, true);
  EXPECT_EQ(Reading("GPU_1")->temperature.celsius.at(TempSensor::kGpu0), 41);
  EXPECT_FALSE(periods_.contains(BmcTopic::kLinks));
  EXPECT_THAT(lines_, Contains(HasSubstr("HGX_ProcessorPortMetrics_0: the BMC is too slow")));
}

TEST_F(BmcReaderTest, SaysThatThereIsNoReportOfLinks) {
  options_.has_links = true;
  RunFor(absl::Hours(3));
  EXPECT_EQ(std::ranges::count(lines_, "the BMC has no report of links"), 1);
}

TEST_F(BmcReaderTest, DoesNotReadTheHostsReports) {
  RunFor(absl::Minutes(2));
  EXPECT_THAT(bmc_.asked, Not(Contains(Report("PlatformEnvironmentMetrics_0"))));
  EXPECT_THAT(bmc_.asked, Not(Contains(Report("HGX_HealthMetrics_0"))));
}

TEST_F(BmcReaderTest, AgesAreTheBmcsDifferences) {
  RunFor(absl::Seconds(60));
  const auto reading = Reading("GPU_0");
  const auto age = [&](BoardGroup group) { return now_ - reading->samples.at(group).steady; };
  EXPECT_LE(age(BoardGroup::kPower), absl::Seconds(6));
  EXPECT_GE(age(BoardGroup::kClocks), absl::Seconds(29));
}

TEST_F(BmcReaderTest, ABmcThatRepeatsItselfIsStale) {
  RunFor(absl::Seconds(10));
  EXPECT_FALSE(Reading("GPU_0")->power.watts.empty());
  is_measuring_ = false;
  RunFor(absl::Seconds(30));
  EXPECT_TRUE(Reading("GPU_0")->power.watts.empty());
  EXPECT_GT(left_out_[BmcOmission::kStale], 0u);
  is_measuring_ = true;
  RunFor(absl::Seconds(10));
  EXPECT_FALSE(Reading("GPU_0")->power.watts.empty());
}

TEST_F(BmcReaderTest, KeepsItsPeriodsAndItsBudget) {
  RunFor(absl::Minutes(10));
  const auto asked = [&](const std::string& path) { return std::ranges::count(bmc_.asked, path); };
  EXPECT_NEAR(asked(Report("HGX_PlatformEnvironmentMetrics_0")), 120, 3);
  EXPECT_NEAR(asked(Report("HGX_ProcessorMetrics_0")), 20, 2);
  for (size_t i = 40; i < bmc_.times.size(); ++i) {
    EXPECT_GE(bmc_.times[i].second - bmc_.times[i - 40].second, absl::Minutes(1));
  }
  EXPECT_EQ(logins_, 1);
}

TEST_F(BmcReaderTest, FastValuesDoNotWaitForIdentities) {
  options_.requests_per_minute = 30;
  std::vector<std::string> members;
  for (int gpu = 0; gpu < 8; ++gpu) {
    members.push_back(Gpu(gpu));
    bmc_.resources.emplace(Gpu(gpu), R"({"Status": {"State": "Enabled"}})");
    bmc_.resources.emplace(absl::StrCat(Gpu(gpu), "/EnvironmentMetrics"), "{}");
  }
  bmc_.resources[absl::StrCat(kTray, "/Processors")] = Collection(members);
  RunFor(absl::Hours(2) + absl::Minutes(10));
  absl::Duration last = -absl::InfiniteDuration(), longest;
  size_t identities = 0;
  for (const auto& [what, time] : bmc_.times) {
    identities += what == Gpu(7) ? 1 : 0;
    if (what != Report("HGX_PlatformEnvironmentMetrics_0")) continue;
    if (last > -absl::InfiniteDuration()) longest = std::max(longest, time - last);
    last = time;
  }
  EXPECT_LE(longest, absl::Seconds(11));
  EXPECT_EQ(identities, 3u);
  EXPECT_EQ(periods_.at(BmcTopic::kIdentity), absl::Hours(1));
  for (size_t i = 30; i < bmc_.times.size(); ++i) {
    EXPECT_GE(bmc_.times[i].second - bmc_.times[i - 30].second, absl::Minutes(1));
  }
}

class BmcXidTest : public BmcReaderTest {
 protected:
  using Entries = std::vector<std::pair<int, std::string>>;  // numbers and texts

  BmcXidTest() {
    for (int gpu : {0, 1}) SetLog(gpu, {});
  }

  static std::string Log(int gpu) { return absl::StrCat("/redfish/v1/Chassis/HGX_GPU_", gpu, "/LogServices/XID"); }
  static std::string Pages(int gpu) { return absl::StrCat(Log(gpu), "/Entries"); }

  // The log's head, and a page with all entries.
  void SetLog(int gpu, const Entries& entries) {
    SetHead(gpu, entries.empty() ? 0 : entries.back().first);
    bmc_.resources[Pages(gpu)] = Page(entries, "");
  }
  void SetHead(int gpu, int latest) {
    bmc_.resources[Log(gpu)] =
        absl::StrCat(R"({"Entries": {"@odata.id": ")", Pages(gpu), R"("}, "Oem": {"Nvidia": {"LatestEntryID": ")",
                     latest, R"(", "LatestEntryTimeStamp": "2000-01-01T00:00:00Z"}}})");
  }
  static std::string Page(const Entries& entries, const std::string& next) {
    return absl::StrCat(R"({"Members@odata.count": 0, "Members@odata.nextLink": ")", next, R"(", "Members": [)",
                        absl::StrJoin(entries, ", ",
                                      [](std::string* out, const auto& entry) {
                                        absl::StrAppend(
                                            out, R"({"Id": ")", entry.first,
                                            R"(", "Created": "2000-01-01T00:00:01Z", "MessageArgs": ["", ")",
                                            entry.second, R"("]})");
                                      }),
                        "]}");
  }
  std::map<uint16_t, uint64_t> Counts(const std::string& gpu) {
    const auto reading = Reading(gpu);
    std::map<uint16_t, uint64_t> counts;
    for (const auto& [xid, count] : reading->driver_messages.counts) counts[xid] = count.value;
    return counts;
  }
  // The longest time between two requests for the temperatures, since the first.
  absl::Duration LongestGap() const {
    absl::Duration last = -absl::InfiniteDuration(), longest;
    for (const auto& [what, time] : bmc_.times) {
      if (what != Report("HGX_PlatformEnvironmentMetrics_0")) continue;
      if (last > -absl::InfiniteDuration()) longest = std::max(longest, time - last);
      last = time;
    }
    return longest;
  }
};

TEST_F(BmcXidTest, CountsWhatIsNew) {
  SetLog(0, {{1, "XID 31 of before"}});
  RunFor(absl::Minutes(3));
  EXPECT_THAT(Counts("GPU_0"), IsEmpty());
  EXPECT_TRUE(Reading("GPU_0")->samples.contains(BoardGroup::kDriverMessages));
  EXPECT_EQ(periods_.at(BmcTopic::kXid), absl::Seconds(30));
  SetLog(0, {{1, "XID 31 of before"}, {2, "[0][2][0] XID 79 lost"}, {3, "XID 31 again"}, {4, "no number"}});
  RunFor(absl::Minutes(1));
  EXPECT_THAT(Counts("GPU_0"), ElementsAre(std::pair(31, 1), std::pair(79, 1)));
  EXPECT_THAT(Counts("GPU_1"), IsEmpty());
  EXPECT_THAT(lines_, Contains("GPU_0: xid 79: lost"));
  EXPECT_EQ(left_out_[BmcOmission::kUnknownWord], 1u);
  const auto message = Reading("GPU_0")->driver_messages.messages.front();
  EXPECT_EQ(message.sequence, 2u);
  EXPECT_NEAR(message.time_s, absl::ToUnixSeconds(Now().wall), 60) << "by the daemon's clock, not that of 2000";
  RunFor(absl::Hours(2));
  EXPECT_THAT(Counts("GPU_0"), ElementsAre(std::pair(31, 1), std::pair(79, 1))) << "inventories do not count again";
}

TEST_F(BmcXidTest, AsksOnlyForTheHeadWhileNothingIsNew) {
  SetLog(0, {{1, "XID 31 of before"}});
  RunFor(absl::Minutes(30));
  EXPECT_EQ(std::ranges::count(bmc_.asked, Pages(0)), 1);
  EXPECT_NEAR(std::ranges::count(bmc_.asked, Log(0)), 58, 4);
}

TEST_F(BmcXidTest, ALogThatComesBackIsNotCountedAgain) {
  Entries entries;
  for (int i = 1; i <= 20; ++i) entries.emplace_back(i, "XID 31 of before");
  SetLog(0, entries);
  RunFor(absl::Minutes(3));
  SetLog(0, {});  // the BMC restarts, and has not found its entries yet
  RunFor(absl::Minutes(2));
  SetLog(0, entries);
  RunFor(absl::Minutes(2));
  EXPECT_THAT(Counts("GPU_0"), IsEmpty());
  entries.erase(entries.begin(), entries.begin() + 15);
  entries.emplace_back(21, "XID 79 new");
  std::ranges::reverse(entries);  // the newest one first
  SetLog(0, entries);
  SetHead(0, 21);
  RunFor(absl::Minutes(2));
  EXPECT_THAT(Counts("GPU_0"), ElementsAre(std::pair(79, 1)));
}

TEST_F(BmcXidTest, AHeadThatSaysNothingTrueIsNotBelieved) {
  SetLog(0, {{1, "XID 31 of before"}});
  SetHead(0, 0);
  RunFor(absl::Minutes(3));
  SetLog(0, {{1, "XID 31 of before"}, {2, "XID 79 new"}});
  SetHead(0, 0);
  RunFor(absl::Minutes(2));
  EXPECT_THAT(Counts("GPU_0"), ElementsAre(std::pair(79, 1)));
}

TEST_F(BmcXidTest, AHeadMaySayNothing) {
  bmc_.resources[Log(0)] = "{}";
  RunFor(absl::Minutes(3));
  bmc_.resources[Pages(0)] = Page({{1, "XID 79 new"}}, "");
  RunFor(absl::Minutes(2));
  EXPECT_THAT(Counts("GPU_0"), ElementsAre(std::pair(79, 1)));
}

TEST_F(BmcXidTest, FollowsPages) {
  RunFor(absl::Minutes(3));
  SetHead(0, 2);
  bmc_.resources[Pages(0)] = Page({{1, "XID 31 a"}}, "/redfish/v1/next");
  bmc_.resources["/redfish/v1/next"] = Page({{2, "XID 32 b"}}, "");
  RunFor(absl::Minutes(2));
  EXPECT_THAT(Counts("GPU_0"), ElementsAre(std::pair(31, 1), std::pair(32, 1)));
}

TEST_F(BmcXidTest, LogsTakeNoTurnsOfTheTemperatures) {
  for (int gpu : {0, 1}) {
    SetHead(gpu, 3);
    bmc_.resources[Pages(gpu)] = Page({{3, "XID 33 c"}}, Pages(gpu));  // without an end
  }
  RunFor(absl::Hours(3));
  EXPECT_LE(LongestGap(), absl::Seconds(11));
  EXPECT_THAT(lines_, Contains(absl::StrCat(Log(0), ": the log has more than 16 pages")));
  EXPECT_EQ(is_up_, true);
  EXPECT_LE(std::ranges::count(bmc_.asked, Pages(0)), 3 * 60 / 15 * 16 + 64) << "after pauses of 15 min";
}

TEST_F(BmcXidTest, AnEntryIsNotLostToAnError) {
  RunFor(absl::Minutes(3));
  SetLog(0, {{1, "XID 31 a"}});
  bmc_.codes[Pages(0)] = 500;
  const auto before = std::ranges::count(bmc_.asked, Pages(0));
  RunFor(absl::Minutes(70));  // and over an inventory
  EXPECT_THAT(Counts("GPU_0"), IsEmpty());
  EXPECT_LE(std::ranges::count(bmc_.asked, Pages(0)) - before, 9) << "after 1, 2, 4, 8 and 15 min";
  EXPECT_EQ(is_up_, true);
  bmc_.codes.clear();
  RunFor(absl::Minutes(20));
  EXPECT_THAT(Counts("GPU_0"), ElementsAre(std::pair(31, 1)));
  EXPECT_THAT(lines_, Contains(absl::StrCat(Log(0), ": is there again")));
}

TEST_F(BmcXidTest, WhatALogAnswersConcernsNothingElse) {
  for (const int code : {401, 403, 404, 429, 500, 503}) {
    SCOPED_TRACE(code);
    for (int gpu : {0, 1}) bmc_.codes[Log(gpu)] = code;
    RunFor(absl::Minutes(31));
    EXPECT_EQ(is_up_, true);
    EXPECT_LE(LongestGap(), absl::Seconds(11));
  }
  EXPECT_LE(logins_, 1);
  bmc_.codes.clear();
  for (int gpu : {0, 1}) bmc_.broken_paths[Log(gpu)] = absl::DeadlineExceededError("no answer within 15s");
  RunFor(absl::Minutes(31));
  EXPECT_LE(LongestGap(), absl::Seconds(11));
}

TEST_F(BmcXidTest, AnAbsentGpuHasNoMessages) {
  bmc_.resources[Gpu(0)] = R"({"Status": {"State": "Absent"}})";
  RunFor(absl::Minutes(5));
  EXPECT_FALSE(Reading("GPU_0")->samples.contains(BoardGroup::kDriverMessages));
  EXPECT_TRUE(Reading("GPU_1")->samples.contains(BoardGroup::kDriverMessages));
}

TEST_F(BmcXidTest, CountsStayWhileTheBmcIsAway) {
  RunFor(absl::Minutes(3));
  SetLog(0, {{1, "XID 31 a"}});
  RunFor(absl::Minutes(2));
  bmc_.broken = absl::UnavailableError("away");
  RunFor(absl::Minutes(10));
  EXPECT_TRUE(Reading("GPU_0")->power.watts.empty());
  EXPECT_THAT(Counts("GPU_0"), ElementsAre(std::pair(31, 1)));
  EXPECT_GT(now_ - Reading("GPU_0")->samples.at(BoardGroup::kDriverMessages).steady, absl::Minutes(9));
}

TEST_F(BmcXidTest, AProbeEndsBesideALogThatCannotBeRead) {
  options_.is_probe = true;
  SetLog(0, {{1, "XID 31 a"}});
  bmc_.codes[Pages(0)] = 403;
  RunFor(absl::Seconds(20));
  EXPECT_TRUE(reader().is_complete());
}

TEST_F(BmcXidTest, MissingLogsAreNotWarnedAbout) {
  for (int gpu : {0, 1}) bmc_.resources.erase(Log(gpu));
  RunFor(absl::Minutes(10));
  EXPECT_EQ(std::ranges::count(bmc_.asked, Log(0)), 1);
  EXPECT_FALSE(Reading("GPU_0")->samples.contains(BoardGroup::kDriverMessages));
  EXPECT_FALSE(periods_.contains(BmcTopic::kXid));
  EXPECT_THAT(lines_, ElementsAre("2 GPUs, the fastest values every 5s"));
}

TEST_F(BmcReaderTest, ManyGpusThatAreAbsentNeedOneInventory) {
  options_.requests_per_minute = 120;
  for (int gpu : {0, 1}) bmc_.resources[Gpu(gpu)] = R"({"Status": {"State": "Absent"}})";
  RunFor(absl::Minutes(20));
  EXPECT_LE(std::ranges::count(bmc_.asked, "/redfish/v1/Systems"), 2);
}

TEST_F(BmcReaderTest, ASessionThatIsDeletedSoonAfterItsLoginIsMadeAgain) {
  RunFor(absl::Minutes(2));
  bmc_.has_session = false;
  RunFor(absl::Minutes(1));
  EXPECT_EQ(logins_, 2);
  EXPECT_LE(now_ - Reading("GPU_0")->samples.at(BoardGroup::kPower).steady, absl::Seconds(6));
}

TEST_F(BmcReaderTest, AnEmptyReportIsAskedAgainSoon) {
  RunFor(absl::Seconds(20));
  is_measuring_ = false;
  bmc_.resources[Report("HGX_PlatformEnvironmentMetrics_0")] = R"({"MetricValues": []})";
  RunFor(absl::Seconds(6));
  is_measuring_ = true;
  RunFor(absl::Seconds(70));
  EXPECT_FALSE(Reading("GPU_0")->power.watts.empty());
  EXPECT_THAT(lines_, Contains(HasSubstr("HGX_PlatformEnvironmentMetrics_0: has no values of GPUs any more")));
}

TEST_F(BmcReaderTest, AnInventoryThatFailsDoesNotEndTheReading) {
  RunFor(absl::Minutes(2));
  bmc_.codes["/redfish/v1/Systems"] = 500;
  RunFor(absl::Hours(1));
  EXPECT_LE(now_ - Reading("GPU_0")->samples.at(BoardGroup::kPower).steady, absl::Seconds(75));
  RunFor(absl::Minutes(2));
  EXPECT_LE(now_ - Reading("GPU_0")->samples.at(BoardGroup::kPower).steady, absl::Seconds(6));
}

TEST_F(BmcReaderTest, AStepThatAlwaysFailsIsLeftOut) {
  bmc_.codes[absl::StrCat(kTray, "/Processors")] = 501;
  RunFor(absl::Minutes(20));
  EXPECT_EQ(is_up_, true);
  EXPECT_FALSE(Reading("GPU_0")->power.watts.empty()) << "known by the reports";
}

TEST_F(BmcReaderTest, WhatWasRepeatedIsNotNewAfterAnInventory) {
  RunFor(absl::Minutes(50));
  is_measuring_ = false;
  RunFor(absl::Minutes(9));
  EXPECT_TRUE(Reading("GPU_0")->power.watts.empty());
  for (int i = 0; i < 24; ++i) {
    RunFor(absl::Seconds(5));
    EXPECT_TRUE(Reading("GPU_0")->power.watts.empty());
  }
}

TEST_F(BmcReaderTest, ASmallBudgetMakesValuesRarer) {
  options_.requests_per_minute = 6;
  RunFor(absl::Minutes(10));
  EXPECT_LE(bmc_.asked.size(), 60u + 6u);
  EXPECT_GT(periods_[BmcTopic::kEnvironment], absl::Seconds(5));
  EXPECT_FALSE(Reading("GPU_0")->power.watts.empty());
}

TEST_F(BmcReaderTest, ReportsWithoutMembersAreReplacedByResources) {
  SetReport("HGX_ProcessorGPMMetrics_0", {{absl::StrCat(Gpu(0), "/ProcessorMetrics"), "0.0", {}},
                                          {absl::StrCat(Gpu(0), "/ProcessorMetrics"), "0.0", {}}});
  is_measuring_ = false;
  bmc_.resources[absl::StrCat(Gpu(0), "/ProcessorMetrics")] =
      R"({"Oem": {"Nvidia": {"SMActivityPercent": 12.5}}, "OperatingSpeedMHz": 345})";
  RunFor(absl::Seconds(8));
  const auto reading = Reading("GPU_0");
  EXPECT_EQ(reading->metrics.scopes.at({}).ratios.at(MetricId::kSmActivity), 0.125);
  EXPECT_EQ(left_out_[BmcOmission::kNoMember], 2u);
  EXPECT_THAT(lines_,
              Contains(HasSubstr("HGX_ProcessorGPMMetrics_0 does not say what its values are; each GPU's resource "
                                 "is read instead")));
}

TEST_F(BmcReaderTest, OneReportThatFailsDoesNotLoseTheOthers) {
  bmc_.codes[Report("HGX_MemoryMetrics_0")] = 500;
  bmc_.resources[Report("HGX_ProcessorMetrics_0")] = "<html>";
  is_measuring_ = false;
  RunFor(absl::Seconds(10));
  EXPECT_FALSE(Reading("GPU_0")->power.watts.empty());
  EXPECT_THAT(lines_, Contains(absl::StrCat(Report("HGX_MemoryMetrics_0"), ": HTTP status 500")));
  EXPECT_THAT(lines_, Contains(absl::StrCat(Report("HGX_ProcessorMetrics_0"), ": the answer is no JSON at byte 1")));
  EXPECT_EQ(is_up_, true);
  const size_t before = lines_.size();
  is_measuring_ = true;
  RunFor(absl::Minutes(10));
  EXPECT_EQ(lines_.size(), before + 1) << "each is told once: " << absl::StrJoin(lines_, "\n");
  EXPECT_EQ(lines_.back(), absl::StrCat(Report("HGX_ProcessorMetrics_0"), ": is there again"));
}

TEST_F(BmcReaderTest, AnAnswerThatIsTooLargeDoesNotLoseTheOthers) {
  bmc_.broken_paths[Report("HGX_ProcessorGPMMetrics_0")] = absl::DataLossError("the answer is larger than 4 MiB");
  RunFor(absl::Minutes(2));
  EXPECT_LE(now_ - Reading("GPU_0")->samples.at(BoardGroup::kPower).steady, absl::Seconds(6));
  EXPECT_THAT(lines_, Contains(absl::StrCat(Report("HGX_ProcessorGPMMetrics_0"), ": the answer is larger than 4 MiB")));
  EXPECT_EQ(is_up_, true);
}

TEST_F(BmcReaderTest, ARequestThatBreaksTheConnectionDoesNotLoseTheOthers) {
  bmc_.broken_paths[Report("HGX_ProcessorGPMMetrics_0")] = absl::UnavailableError("the connection ended");
  RunFor(absl::Minutes(2));
  EXPECT_LE(now_ - Reading("GPU_0")->samples.at(BoardGroup::kPower).steady, absl::Seconds(16));
}

TEST_F(BmcReaderTest, OneRequestThatTimesOutIsAskedRarely) {
  bmc_.broken_paths[Report("HGX_ProcessorGPMMetrics_0")] = absl::DeadlineExceededError("no answer within 15s");
  RunFor(absl::Minutes(3));
  const size_t before = lines_.size();
  RunFor(absl::Minutes(30));
  EXPECT_LE(now_ - Reading("GPU_0")->samples.at(BoardGroup::kPower).steady, absl::Seconds(6));
  EXPECT_LE(lines_.size(), before + 1) << absl::StrJoin(lines_, "\n");
  EXPECT_EQ(is_up_, true);
}

TEST_F(BmcReaderTest, OneResourceThatIsRefusedEndsNoSession) {
  bmc_.codes[Report("HGX_ProcessorMetrics_0")] = 401;
  RunFor(absl::Minutes(9));
  EXPECT_EQ(logins_, 1);
  EXPECT_FALSE(Reading("GPU_0")->power.watts.empty());
  EXPECT_THAT(lines_, Contains(absl::StrCat(Report("HGX_ProcessorMetrics_0"), ": HTTP status 401")));
  RunFor(absl::Hours(2));
  EXPECT_LE(logins_, 13) << "one in ten minutes";
  EXPECT_GE(std::ranges::count(bmc_.asked, "LOGOUT"), logins_ - 1) << "none is left behind";
}

TEST_F(BmcReaderTest, ARefusedStepIsNotRepeatedSoon) {
  bmc_.codes["/redfish/v1/Systems"] = 401;
  RunFor(absl::Hours(1));
  EXPECT_LE(logins_, 7);
  EXPECT_EQ(is_up_, false);
}

TEST_F(BmcReaderTest, ABmcThatRestartsIsLoggedInToAndLookedThroughAgain) {
  RunFor(absl::Minutes(2));
  bmc_.broken = absl::UnavailableError("connection refused");
  RunFor(absl::Seconds(20));
  bmc_.broken = absl::OkStatus();
  bmc_.has_session = false;
  const size_t before = bmc_.asked.size();
  RunFor(absl::Minutes(4));
  EXPECT_EQ(logins_, 2);
  EXPECT_EQ(is_up_, true);
  EXPECT_EQ(std::ranges::count(Since(before), "/redfish/v1/Systems"), 1);
}

TEST_F(BmcReaderTest, NothingIsAnsweredIsAProblem) {
  RunFor(absl::Seconds(20));
  for (const auto& [path, body] : bmc_.resources) bmc_.codes[path] = 404;
  RunFor(absl::Minutes(10));
  EXPECT_EQ(is_up_, false);
  EXPECT_THAT(lines_, Contains("nothing is answered; the last error: HTTP status 404"));
}

TEST_F(BmcReaderTest, EachGpuHasItsOwnReasons) {
  is_measuring_ = false;
  const auto report = [&](const std::vector<std::string>& of_0, const std::vector<std::string>& of_1) {
    std::vector<Value> values;
    for (int gpu : {0, 1}) {
      const auto& reasons = gpu == 0 ? of_0 : of_1;
      for (size_t i = 0; i < reasons.size(); ++i) {
        values.push_back({absl::StrCat(Gpu(gpu), "/ProcessorMetrics#/Oem/Nvidia/ThrottleReasons/", i), reasons[i], {}});
      }
    }
    SetReport("HGX_ProcessorMetrics_0", values);
  };
  report({"NA"}, {"SWPowerCap", "HWSlowdown"});
  RunFor(absl::Seconds(10));
  EXPECT_EQ(Reading("GPU_0")->clocks.throttle_active, 0u);
  EXPECT_EQ(Reading("GPU_1")->clocks.throttle_active, 0b11u);
  report({"SyncBoost"}, {"NA"});
  RunFor(absl::Seconds(30));
  EXPECT_EQ(Reading("GPU_0")->clocks.throttle_active, 0b10000u);
  EXPECT_EQ(Reading("GPU_1")->clocks.throttle_active, 0u);
}

TEST_F(BmcReaderTest, OneTimeOfTheFutureDoesNotAgeTheOthers) {
  is_measuring_ = false;
  for (int round = 0; round < 12; ++round) {
    SetReport("HGX_PlatformEnvironmentMetrics_0", {{Sensor(0, "Power_0"), "200", {}},
                                                   {"/redfish/v1/Chassis/X/Sensors/Y", "1", -absl::Hours(2)},
                                                   {Sensor(0, "TEMP_0"), "nan", -absl::Hours(2)}});
    RunFor(absl::Seconds(5));
  }
  EXPECT_LE(now_ - Reading("GPU_0")->samples.at(BoardGroup::kPower).steady, absl::Seconds(6));
}

TEST_F(BmcReaderTest, ASessionThatHasExpiredIsMadeAgainOnce) {
  RunFor(absl::Minutes(11));
  bmc_.has_session = false;
  const size_t before = bmc_.asked.size();
  RunFor(absl::Minutes(1));
  EXPECT_EQ(logins_, 2);
  EXPECT_EQ(std::ranges::count(Since(before), "LOGIN"), 1);
  EXPECT_EQ(is_up_, true);
}

TEST_F(BmcReaderTest, ARefusedLoginIsNotRepeatedSoon) {
  bmc_.accepts_login = false;
  options_.login = "of u (pw)";
  RunFor(absl::Hours(1));
  // At once, and after pauses of 1, 2, 4, 8, 15 and 15 minutes.
  EXPECT_EQ(std::ranges::count(bmc_.asked, "LOGIN"), 7);
  EXPECT_THAT(lines_, ElementsAre("the BMC refuses the login of u (pw): HTTP status 401"));
  EXPECT_EQ(is_up_, false);
  bmc_.accepts_login = true;
  reader().Retry(now_);
  RunFor(absl::Minutes(2));
  EXPECT_EQ(is_up_, true);
}

TEST_F(BmcReaderTest, NoLoginFollowsAnotherWithinAMinute) {
  for (int i = 0; i < 20; ++i) {
    RunFor(absl::Seconds(17));
    bmc_.has_session = false;
  }
  absl::Duration last = -absl::InfiniteDuration();
  for (const auto& [what, time] : bmc_.times) {
    if (what != "LOGIN") continue;
    EXPECT_GE(time - last, absl::Minutes(1));
    last = time;
  }
}

TEST_F(BmcReaderTest, NoLoginIsMadeBeforeItsTime) {
  options_.first_login = now_ + absl::Seconds(9);
  RunFor(absl::Seconds(8));
  EXPECT_THAT(bmc_.asked, ElementsAre("/redfish/v1/"));
  RunFor(absl::Seconds(2));
  EXPECT_EQ(logins_, 1);
}

TEST_F(BmcReaderTest, ABrokenConnectionIsTriedSoonAndThenRarely) {
  RunFor(absl::Seconds(20));
  bmc_.broken = absl::UnavailableError("bmc.example.org: connection refused");
  const size_t before = bmc_.asked.size();
  RunFor(absl::Minutes(10));
  // Once, after 5 s, and after 2 and 4 minutes.
  EXPECT_EQ(Since(before).size(), 4u);
  EXPECT_EQ(lines_.back(), "bmc.example.org: connection refused");
  EXPECT_EQ(is_up_, false);
  bmc_.broken = absl::OkStatus();
  RunFor(absl::Minutes(10));
  EXPECT_EQ(is_up_, true);
  EXPECT_EQ(logins_, 1) << "the session is still there";
}

TEST_F(BmcReaderTest, WaitsAsABusyBmcAsks) {
  RunFor(absl::Seconds(20));
  for (const auto& [path, body] : bmc_.resources) bmc_.codes[path] = 503;
  bmc_.retry_after = absl::Seconds(40);
  const size_t before = bmc_.asked.size();
  RunFor(absl::Seconds(100));
  EXPECT_LE(Since(before).size(), 3u);
  EXPECT_THAT(lines_.back(), HasSubstr(": the BMC is busy, or has no session left: HTTP status 503"));
}

TEST_F(BmcReaderTest, AnAbsentGpuHasNoValues) {
  options_.requests_per_minute = 120;
  bmc_.resources[Gpu(1)] = R"({"Status": {"State": "Absent"}})";
  RunFor(absl::Seconds(20));
  EXPECT_TRUE(Reading("GPU_1")->power.watts.empty());
  EXPECT_FALSE(Reading("GPU_0")->power.watts.empty());
  EXPECT_THAT(lines_, Contains("GPU_1 is absent, as the BMC says"));
  bmc_.resources[Gpu(1)] = R"({"Status": {"State": "Enabled"}})";
  RunFor(absl::Hours(1) + absl::Minutes(1));
  EXPECT_FALSE(Reading("GPU_1")->power.watts.empty());
  EXPECT_THAT(lines_, Contains("GPU_1 is present again"));
}

TEST_F(BmcReaderTest, AnotherGpuInItsPlaceCountsFromItsOwnBeginning) {
  RunFor(absl::Seconds(20));
  bmc_.resources[Gpu(0)] = R"({"UUID": "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e0ff", "Status": {"State": "Enabled"}})";
  const RunningCount before = Reading("GPU_0")->energy.millijoules.at(PowerSource::kTotal);
  RunFor(absl::Hours(1) + absl::Minutes(2));
  EXPECT_THAT(lines_, Contains("GPU_0 is another GPU now; its counts begin again"));
  EXPECT_GT(Reading("GPU_0")->energy.millijoules.at(PowerSource::kTotal).created, before.created);
}

TEST_F(BmcReaderTest, SaysThatABmcHasNothingToServe) {
  bmc_.resources["/redfish/v1/Systems"] = Collection({"/redfish/v1/Systems/1"});
  bmc_.resources["/redfish/v1/Systems/1/Processors"] =
      Collection({"/redfish/v1/Systems/1/Processors/1", "/redfish/v1/Systems/1/Processors/3"});
  bmc_.resources.erase(kReports);
  RunFor(absl::Hours(2));
  EXPECT_THAT(lines_,
              ElementsAre("the BMC has no telemetry of GPUs that is served (it is 'Tray'); docs/bmc.md lists what is"));
  EXPECT_EQ(is_up_, false);
  EXPECT_LE(bmc_.asked.size(), 5u * 12 * 2) << "it is asked again every five minutes";
}

TEST_F(BmcReaderTest, FollowsPages) {
  bmc_.resources[absl::StrCat(kTray, "/Processors")] =
      absl::StrCat(R"({"Members": [{"@odata.id": ")", Gpu(0), R"("}], "Members@odata.nextLink": ")", kTray,
                   R"(/Processors?$skip=1"})");
  bmc_.resources[absl::StrCat(kTray, "/Processors?$skip=1")] = Collection({Gpu(1)});
  RunFor(absl::Seconds(4));
  EXPECT_THAT(reader().gpus(), ElementsAre("GPU_0", "GPU_1"));
}

TEST_F(BmcReaderTest, EndlessPagesEnd) {
  bmc_.resources[absl::StrCat(kTray, "/Processors")] = absl::StrCat(
      R"({"Members": [{"@odata.id": ")", Gpu(0), R"("}], "Members@odata.nextLink": ")", kTray, R"(/Processors"})");
  RunFor(absl::Minutes(2));
  EXPECT_EQ(is_up_, true);
}

TEST_F(BmcReaderTest, LinksElsewhereAreNotFollowed) {
  bmc_.resources["/redfish/v1"] = R"({"Links": {"Sessions": {"@odata.id": "https://evil.example.org/s"}},
      "Systems": {"@odata.id": "//evil.example.org/Systems"}, "TelemetryService": {"@odata.id": "/a b\r\nX: y"}})";
  RunFor(absl::Seconds(4));
  EXPECT_EQ(is_up_, true);
  for (const std::string& path : bmc_.asked) EXPECT_THAT(path, Not(HasSubstr("evil")));
}

TEST_F(BmcReaderTest, NamesOfGpusArePlain) {
  SetReport(
      "HGX_PlatformEnvironmentMetrics_0",
      {{Sensor(0, "TEMP_0"), "40", {}}, {"/redfish/v1/Chassis/HGX_GPU_<b>/Sensors/HGX_GPU_<b>_TEMP_0", "41", {}}});
  is_measuring_ = false;
  RunFor(absl::Seconds(4));
  EXPECT_THAT(reader().gpus(), ElementsAre("GPU_0", "GPU_1"));
}

// Whatever a BMC answers: no crash, at most the budget, and what is shown was in an answer.
TEST_F(BmcReaderTest, TakesAnyAnswer) {
  std::mt19937 random(20261202);
  const auto any = [&](auto&... of) {
    const std::string texts[] = {of...};
    return texts[random() % std::size(texts)];
  };
  for (int round = 0; round < 60; ++round) {
    reader_.reset();
    for (auto& [path, body] : bmc_.resources) {
      if (random() % 4 == 0) {
        body = any("", "{}", "[]", "null", "{\"Members\": [[[1]]]}", "{\"MetricValues\": [{\"MetricProperty\": 1}]}",
                   "\xff\xfe", R"({"Links": [], "Systems": 7, "Members": {"@odata.id": "/redfish/v1"}})");
      }
      if (random() % 8 == 0 && !body.empty()) body[random() % body.size()] = static_cast<char>(random());
    }
    is_measuring_ = random() % 2 == 0;
    const size_t before = bmc_.asked.size();
    RunFor(absl::Minutes(5));
    EXPECT_LE(bmc_.asked.size() - before, 5u * 30 + 30);
    for (const std::string& gpu : reader().gpus()) {
      const auto celsius = Find(Reading(gpu)->temperature.celsius, TempSensor::kGpu0);
      if (celsius) EXPECT_TRUE(*celsius >= 0 && *celsius <= 250) << *celsius;
    }
  }
}

class CapturedTreeTest : public ::testing::Test {
 protected:
  // Answers of a captured machine; nullptr without the data.
  bool Load(const std::string& machine) {
    const char* const data = std::getenv("SIDEBAND_SHARED_DATA");
    if (data == nullptr || *data == '\0') return false;
    const std::filesystem::path root = std::filesystem::path(data) / "redfish" / machine;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().filename() != "index.json") continue;
      std::stringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      bmc_.resources["/" + std::filesystem::relative(entry.path().parent_path(), root).string()] = text.str();
    }
    // The capture of AMD's machine has the reports alone.
    std::vector<std::string> reports;
    for (const auto& [path, body] : bmc_.resources) {
      if (absl::StartsWith(path, absl::StrCat(kReports, "/"))) reports.push_back(path);
    }
    if (!reports.empty()) bmc_.resources.emplace(kReports, Collection(reports));
    BmcEvents events{.log = [this](const std::string& line, bool) { lines_.push_back(line); },
                     .requested = [](absl::string_view) {},
                     .logged_in = [] {},
                     .left_out = [this](BmcOmission why, size_t values) { left_out_[why] += values; },
                     .period = [](BmcTopic, absl::Duration) {},
                     .state = [](BmcState) {}};
    reader_.emplace(BmcReaderOptions{.requests_per_minute = 120, .has_links = true}, std::move(events),
                    [] { return 0.0; });
    const absl::Duration end = now_ + absl::Seconds(12);
    while (now_ < end) {
      const auto request = reader_->Next(Now());
      if (request) reader_->Take(bmc_.Answer(*request, now_), Now());
      now_ += absl::Milliseconds(50);
    }
    return true;
  }
  BoardTime Now() const { return {.steady = now_, .wall = absl::FromUnixSeconds(1'800'000'000) + now_}; }
  std::shared_ptr<const BoardReading> Reading(const std::string& gpu) { return reader_->Reading(gpu, Now()); }

  ScriptedBmc bmc_;
  absl::Duration now_ = absl::Seconds(1000);
  std::optional<BmcReader> reader_;
  std::vector<std::string> lines_;
  std::map<BmcOmission, size_t> left_out_;
};

TEST_F(CapturedTreeTest, Gb300) {
  if (!Load("nvidia-gb300-supermicro")) GTEST_SKIP() << "SIDEBAND_SHARED_DATA is not set: no captured answers";
  EXPECT_THAT(reader_->gpus(), ElementsAre("GPU_0", "GPU_1", "GPU_2", "GPU_3"));
  const auto reading = Reading("GPU_0");
  EXPECT_EQ(reading->temperature.celsius.at(TempSensor::kGpu0), 32.9375);
  EXPECT_NEAR(reading->temperature.celsius.at(TempSensor::kMemory), 32.128906, 1e-6);
  EXPECT_NEAR(reading->margin.celsius.value_or(0), 54.0625, 0.2);
  EXPECT_NEAR(reading->power.watts.at(PowerSource::kTotal), 232.168, 1e-9);
  EXPECT_NEAR(reading->power.watts.at(PowerSource::kMemory), 34.461, 1e-9);
  EXPECT_EQ(reading->energy.millijoules.at(PowerSource::kTotal).value, 230'133'110'593u);
  EXPECT_EQ(reading->clocks.current_mhz.at(BoardClock::kGraphics), 2070);
  EXPECT_EQ(reading->clocks.current_mhz.at(BoardClock::kMemory), 3996);
  EXPECT_EQ(reading->clocks.throttle_active, 0u);
  EXPECT_EQ(reading->metrics.scopes.at({}).ratios.size(), 14u);
  EXPECT_EQ(reading->metrics.scopes.at({}).bytes_per_second.size(), 6u);
  EXPECT_EQ(reading->decoders.ratios.size(), 16u);
  EXPECT_EQ(reading->pcie.recoveries->value, 4u);
  EXPECT_EQ(reading->pcie.lanes, 16);
  EXPECT_EQ(reading->identity.items.at(SysId::kMarketingName), "NVIDIA GB300");
  EXPECT_EQ(reading->power_limits.limits.at(PowerSource::kTotal).current, 1400) << "not the usage beside it";
  EXPECT_EQ(reading->memory.total_mib, std::nullopt) << "0 is unknown";
  const auto other = Reading("GPU_1");
  const auto& links = other->nvlink.links;
  ASSERT_EQ(links.size(), 18u);
  EXPECT_EQ(links[5].tx->value, 9'358'063'165'018u);
  EXPECT_EQ(links[5].bits_per_second, 400'000'000'000u);
  EXPECT_EQ(links[5].recoveries->value, 0u);
  EXPECT_EQ(links[5].data_rx_rate, 0);
}

TEST_F(CapturedTreeTest, Gh200HasResourcesInsteadOfReports) {
  if (!Load("nvidia-gh200")) GTEST_SKIP() << "SIDEBAND_SHARED_DATA is not set: no captured answers";
  EXPECT_THAT(reader_->gpus(), ElementsAre("GPU_0", "GPU_1"));
  EXPECT_GT(left_out_[BmcOmission::kNoMember], 0u);
  EXPECT_THAT(lines_, Contains(HasSubstr("HGX_ProcessorPortMetrics_0 does not say what its values are; links are not "
                                         "served")));
  const auto reading = Reading("GPU_0");
  EXPECT_TRUE(reading->temperature.celsius.contains(TempSensor::kGpu0));
  EXPECT_EQ(reading->clocks.current_mhz.at(BoardClock::kGraphics), 345);
  EXPECT_EQ(reading->clocks.current_mhz.at(BoardClock::kMemory), 2619);
  EXPECT_TRUE(reading->metrics.scopes.at({}).ratios.contains(MetricId::kIntegerActivity)) << "as it is misspelt there";
}

TEST_F(CapturedTreeTest, Mi325x) {
  if (!Load("amd-mi325x")) GTEST_SKIP() << "SIDEBAND_SHARED_DATA is not set: no captured answers";
  EXPECT_EQ(reader_->gpus().size(), 8u);
  const auto reading = Reading("GPU0");
  EXPECT_EQ(reading->temperature.celsius.at(TempSensor::kGpu0), 50);
  EXPECT_EQ(reading->temperature.celsius.at(TempSensor::kMemory), 49);
  EXPECT_EQ(reading->power.watts.at(PowerSource::kTotal), 147);
  EXPECT_EQ(reading->clocks.current_mhz.at(BoardClock::kMemory), 900);
  EXPECT_EQ(reading->pcie.lanes, 16);
}

TEST_F(CapturedTreeTest, HostsWithoutGpuTelemetry) {
  for (const char* const machine : {"dell-r750-h100", "hpe-dl380a-gen12-h200nvl", "lenovo-sr670-a6000"}) {
    lines_.clear();
    bmc_ = {};
    if (!Load(machine)) GTEST_SKIP() << "SIDEBAND_SHARED_DATA is not set: no captured answers";
    EXPECT_THAT(lines_, ElementsAre(HasSubstr("the BMC has no telemetry of GPUs that is served"))) << machine;
  }
}

}  // namespace
}  // namespace sideband::daemon
