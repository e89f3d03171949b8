// SPDX-License-Identifier: Apache-2.0
#include "daemon/bmc/bmc_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "daemon/board/board_groups.h"
#include "daemon/board/sensor_families.h"
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
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

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

// The numbers of a reading as a front end has them, by name and labels.
class Samples final : public BoardSeries {
 public:
  static std::map<std::string, double> Of(const BoardReading& reading) {
    const BoardPart whole = BoardPart::Whole();
    const BoardSight sight{.reading = reading, .part = whole, .now = {}};
    Samples samples(sight);
    for (const SensorFamily& family : SensorFamilies()) {
      if (family.name == kSampleAges) continue;
      samples.family_ = family.name;
      family.write(samples);
    }
    return samples.numbers_;
  }

 protected:
  void TakeGauge(SensorLabels labels, double value) override {
    numbers_[absl::StrCat(family_, "{", absl::StrJoin(labels, ",", absl::PairFormatter("=")), "}")] = value;
  }
  void TakeCount(SensorLabels labels, const RunningCount& count, uint32_t per_unit) override {
    TakeGauge(labels, static_cast<double>(count.value) / per_unit);
  }

 private:
  explicit Samples(const BoardSight& sight) : BoardSeries(sight) {}

  std::string family_;
  std::map<std::string, double> numbers_;
};

// A BMC with resources by path, and its own clock.
class ScriptedBmc {
 public:
  std::map<std::string, std::string> resources;
  std::map<std::string, int> codes;  // instead of 200
  std::vector<std::string> asked;    // paths, "LOGIN"
  std::vector<std::pair<std::string, absl::Duration>> times;
  int login_code = 201;
  bool has_session = false;
  int requests = 1;     // that each answer takes
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
      has_session = login_code == 201;
      return Code(login_code);
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
    return {.status = absl::OkStatus(), .code = code, .body = {}, .retry_after = retry_after, .requests = requests};
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
  static std::string Chassis(int gpu) { return absl::StrCat("/redfish/v1/Chassis/HGX_GPU_", gpu); }
  static std::string Sensor(int gpu, const std::string& name) {
    return absl::StrCat(Chassis(gpu), "/Sensors/HGX_GPU_", gpu, "_", name);
  }
  static std::string Dram(int gpu) { return absl::StrCat(kTray, "/Memory/GPU_", gpu, "_DRAM_0"); }

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

  // Writes all reports anew, but those that are frozen.
  void Measure() {
    std::vector<Value> environment, activity, processor, memory, health;
    for (int gpu : {0, 1}) {
      environment.push_back({Sensor(gpu, "TEMP_0"), absl::StrCat(40 + gpu), absl::Milliseconds(100)});
      environment.push_back({Sensor(gpu, "Power_0"), "200.5", absl::ZeroDuration()});
      environment.push_back({Sensor(gpu, "Energy_0"), absl::StrCat(ToInt64Seconds(now_) * 200), absl::ZeroDuration()});
      const std::string metrics = absl::StrCat(Gpu(gpu), "/ProcessorMetrics#/");
      activity.push_back({absl::StrCat(metrics, "Oem/Nvidia/SMActivityPercent"), "50", absl::ZeroDuration()});
      processor.push_back({absl::StrCat(metrics, "OperatingSpeedMHz"), "1980", absl::Seconds(12)});
      processor.push_back({absl::StrCat(metrics, "Oem/Nvidia/ThrottleReasons/0"), "NA", absl::Seconds(20)});
      const std::string dram = absl::StrCat(Dram(gpu), "/MemoryMetrics#/");
      memory.push_back({absl::StrCat(dram, "OperatingSpeedMHz"), "2600", absl::Seconds(29)});
      memory.push_back({absl::StrCat(dram, "LifeTime/CorrectableECCErrorCount"), "3", absl::ZeroDuration()});
      health.push_back({absl::StrCat(Chassis(gpu), "#/Status/Health"), "OK", absl::Hours(1800)});
    }
    environment.push_back({"/redfish/v1/Chassis/HGX_Chassis_0/Sensors/HGX_Chassis_0_TotalGPU_Power_0", "401", {}});
    for (const auto& [id, values] : {std::pair("HGX_PlatformEnvironmentMetrics_0", &environment),
                                     {"HGX_ProcessorGPMMetrics_0", &activity},
                                     {"HGX_ProcessorMetrics_0", &processor},
                                     {"HGX_MemoryMetrics_0", &memory},
                                     {"HGX_HealthMetrics_0", &health}}) {
      if (!frozen_.contains(id)) SetReport(id, *values);
    }
    SetReport("PlatformEnvironmentMetrics_0", {{"/redfish/v1/Chassis/1/Sensors/Fan", "7000", {}}});
  }
  // Sets a report that stays as it is.
  void Freeze(const std::string& id, const std::vector<Value>& values) {
    frozen_.insert(id);
    SetReport(id, values);
  }
  // The reports that the BMC has; it says to each other one that there is none.
  void ListReports(const std::vector<std::string>& ids) {
    std::vector<std::string> members;
    for (const std::string& id : ids) members.push_back(Report(id));
    bmc_.resources[kReports] = Collection(members);
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
  ptrdiff_t CountAsked(const std::string& what) const { return std::ranges::count(bmc_.asked, what); }
  absl::Duration Age(const std::string& gpu, BoardGroup group) { return now_ - Reading(gpu)->samples.at(group).steady; }
  // The numbers of GPU_1 as a reader has them that begins at the first second.
  std::map<std::string, double> FirstSamples() {
    reader_.reset();
    now_ = absl::Seconds(1000);
    RunFor(absl::Seconds(4));
    return Samples::Of(*Reading("GPU_1"));
  }

  BmcReaderOptions options_;
  ScriptedBmc bmc_;
  absl::Duration now_ = absl::Seconds(1000);
  bool is_measuring_ = true;
  std::set<std::string> frozen_;
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
  EXPECT_THAT(std::vector(bmc_.asked.begin(), bmc_.asked.begin() + 7),
              ElementsAre("/redfish/v1/", "LOGIN", "/redfish/v1/Systems", kTray, absl::StrCat(kTray, "/Processors"),
                          kReports, Report("HGX_PlatformEnvironmentMetrics_0")));
  const auto reading = Reading("GPU_1");
  EXPECT_EQ(reading->temperature.celsius.at(TempSensor::kGpu0), 41);
  EXPECT_EQ(reading->power.watts.at(PowerSource::kTotal), 200.5);
  EXPECT_EQ(reading->metrics.scopes.at({}).ratios.at(MetricId::kSmActivity), 0.5);
  EXPECT_EQ(reading->clocks.current_mhz.at(BoardClock::kGraphics), 1980);
  EXPECT_EQ(reading->clocks.current_mhz.at(BoardClock::kMemory), 2600);
  EXPECT_EQ(reading->clocks.throttle_active, 0u);
  EXPECT_EQ(reading->ecc.corrected.at(EccMemory::kDram).value, 3u);
  EXPECT_EQ(reading->health.worst, BoardHealth::kOk);
  EXPECT_EQ(reading->identity.items.at(SysId::kMarketingName), "Test GPU");
  EXPECT_EQ(reading->identity.items.at(SysId::kGuid), "5b0f6a2e7c644d0c9d7e2f1a90c3e001");
  EXPECT_FALSE(reading->identity.items.contains(SysId::kSerialNumber)) << "a placeholder";
  EXPECT_EQ(reading->power_limits.limits.at(PowerSource::kTotal).current, 700);
  EXPECT_THAT(reader().TakeChanged(), ElementsAre("GPU_0", "GPU_1"));
  EXPECT_THAT(reader().TakeChanged(), IsEmpty());
  EXPECT_THAT(lines_, ElementsAre("Tray: 2 GPUs, the fastest values every 5s"));
  EXPECT_EQ(is_up_, true);
  EXPECT_EQ(logins_, 1);
}

TEST_F(BmcReaderTest, LinksAreReadOnlyIfAskedFor) {
  options_.requests_per_minute = 120;
  const std::string port = absl::StrCat(Gpu(1), "/Ports/NVLink_");
  ListReports({"HGX_PlatformEnvironmentMetrics_0", "HGX_ProcessorPortMetrics_0"});
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
  ListReports({"HGX_PlatformEnvironmentMetrics_0", "HGX_ProcessorPortMetrics_0"});
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

  // Nor where there is no other of its kind: a report of another kind has the prefix.
  for (const char* const system : {kTray, "/redfish/v1/Systems/1"}) {
    SCOPED_TRACE(system);
    reader_.reset();
    bmc_.asked.clear();
    bmc_.resources["/redfish/v1/Systems"] = Collection({system});
    bmc_.resources[absl::StrCat(system, "/Processors")] = Collection({absl::StrCat(system, "/Processors/GPU_0")});
    ListReports({"PlatformEnvironmentMetrics_0", "HGX_ProcessorGPMMetrics_0"});
    RunFor(absl::Minutes(2));
    EXPECT_THAT(bmc_.asked, Not(Contains(Report("PlatformEnvironmentMetrics_0"))));
    EXPECT_THAT(bmc_.asked, Contains(Sensor(0, "TEMP_0")));
  }
}

TEST_F(BmcReaderTest, ABoardThatIsAskedDirectlyHasNoPrefix) {
  options_.requests_per_minute = 120;
  is_measuring_ = false;
  const auto behind_a_host = FirstSamples();
  bmc_.resources.erase(Report("PlatformEnvironmentMetrics_0"));
  std::map<std::string, std::string> direct;
  for (const auto& [path, body] : bmc_.resources) {
    direct[absl::StrReplaceAll(path, {{"HGX_", ""}})] = absl::StrReplaceAll(body, {{"HGX_", ""}});
  }
  bmc_.resources = direct;
  bmc_.resources["/redfish/v1/Systems"] = Collection({"/redfish/v1/Systems/Baseboard_0"});
  bmc_.asked.clear();
  EXPECT_EQ(FirstSamples(), behind_a_host);
  EXPECT_EQ(bmc_.asked.at(6), Report("PlatformEnvironmentMetrics_0")) << "at once";
  // Without the report it has the sensors.
  ListReports({"ProcessorMetrics_0"});
  FirstSamples();
  EXPECT_THAT(bmc_.asked, Contains("/redfish/v1/Chassis/GPU_0/Sensors/GPU_0_TEMP_0"));
  EXPECT_THAT(bmc_.asked, Contains("/redfish/v1/Chassis/GPU_0/LogServices/XID"));
  EXPECT_THAT(bmc_.asked, Each(Not(HasSubstr("HGX_"))));
}

TEST_F(BmcReaderTest, LinksOfMembersMayEndWithASlash) {
  options_.requests_per_minute = 120;
  is_measuring_ = false;
  const auto without = FirstSamples();
  for (const std::string& path :
       {std::string("/redfish/v1/Systems"), absl::StrCat(kTray, "/Processors"), std::string(kReports)}) {
    bmc_.resources[path] = absl::StrReplaceAll(bmc_.resources[path], {{R"("})", R"(/"})"}});
  }
  EXPECT_EQ(FirstSamples(), without);
  EXPECT_EQ(reader().SourcesOf(BmcTopic::kEnvironment), "HGX_PlatformEnvironmentMetrics_0");
  EXPECT_THAT(bmc_.asked, Each(Not(HasSubstr("//"))));
}

TEST_F(BmcReaderTest, TheEnvironmentIsReadFromSensorsWithoutItsReport) {
  options_.requests_per_minute = 200;
  ListReports({"HGX_ProcessorMetrics_0"});
  for (const auto& [name, reading] : {std::pair("TEMP_0", R"(41.5, "ReadingUnits": "Cel")"),
                                      {"TEMP_1", R"(50, "ReadingUnits": "Cel", "ReadingTime": null)"},
                                      {"Power_0", R"(201.5, "ReadingTime": "1970-01-01T00:00:00.000+00:00")"},
                                      {"Energy_0", R"(9000.5, "ReadingUnits": "J")"},
                                      {"DRAM_0_Temp_0", R"(48)"},
                                      {"DRAM_0_Power_0", R"(30, "ReadingUnits": "W")"}}) {
    bmc_.resources[Sensor(1, name)] =
        absl::StrCat(R"({"Thresholds": {"UpperCritical": {"Reading": 95}}, "Reading": )", reading, "}");
  }
  RunFor(absl::Minutes(1));
  const auto reading = Reading("GPU_1");
  EXPECT_THAT(reading->temperature.celsius, ElementsAre(Pair(TempSensor::kGpu0, 41.5), Pair(TempSensor::kMemory, 48)));
  EXPECT_EQ(reading->margin.celsius, 50);
  EXPECT_THAT(reading->power.watts,
              UnorderedElementsAre(Pair(PowerSource::kTotal, 201.5), Pair(PowerSource::kMemory, 30)));
  EXPECT_EQ(reading->energy.millijoules.at(PowerSource::kTotal).value, 9'000'500u);
  for (const BoardGroup group : {BoardGroup::kTemperature, BoardGroup::kPower}) {
    EXPECT_LE(Age("GPU_1", group), absl::Seconds(6)) << "as old as the answer";
  }
  EXPECT_EQ(reader().SourcesOf(BmcTopic::kEnvironment), "12 resources");
  EXPECT_TRUE(Reading("GPU_0")->temperature.celsius.empty());
  EXPECT_EQ(is_up_, true);
}

TEST_F(BmcReaderTest, ASensorInAnotherUnitIsLeftOut) {
  ListReports({"HGX_ProcessorMetrics_0"});
  for (const auto& [name, group, unit, is_shown] :
       {std::tuple("TEMP_0", BoardGroup::kTemperature, R"("ReadingUnits": "Cel",)", true),
        {"TEMP_0", BoardGroup::kTemperature, R"("ReadingUnits": "[degF]",)", false},
        {"TEMP_0", BoardGroup::kTemperature, "", true},
        {"TEMP_1", BoardGroup::kMargin, R"("ReadingUnits": "%",)", false},
        {"Power_0", BoardGroup::kPower, R"("ReadingUnits": "mW",)", false},
        {"Power_0", BoardGroup::kPower, R"("Peak": {"ReadingUnits": "mW"},)", true},
        {"Energy_0", BoardGroup::kEnergy, R"("ReadingUnits": "kW.h",)", false},
        {"Energy_0", BoardGroup::kEnergy, R"("ReadingUnits": "J",)", true},
        {"Energy_0", BoardGroup::kEnergy, R"("ReadingUnits": null,)", true}}) {
    SCOPED_TRACE(absl::StrCat(name, " ", unit));
    left_out_.clear();
    bmc_.resources[Sensor(1, name)] = absl::StrCat("{", unit, R"("Reading": 40})");
    FirstSamples();
    EXPECT_EQ(Reading("GPU_1")->samples.contains(group), is_shown);
    EXPECT_EQ(left_out_[BmcOmission::kWrongUnit], is_shown ? 0u : 1u);
    bmc_.resources.erase(Sensor(1, name));
  }
}

TEST_F(BmcReaderTest, AgesAreTheBmcsDifferences) {
  RunFor(absl::Seconds(60));
  EXPECT_LE(Age("GPU_0", BoardGroup::kPower), absl::Seconds(6));
  EXPECT_GE(Age("GPU_0", BoardGroup::kClocks), absl::Seconds(29));
}

TEST_F(BmcReaderTest, ValuesAreShownForThreePeriodsAndSlowOnesHalfAMinuteMore) {
  RunFor(absl::Minutes(2));
  bmc_.broken = absl::UnavailableError("away");
  const auto samples = Reading("GPU_0")->samples;
  std::map<absl::Duration, BoardGroup> ends;
  for (const auto& [group, keep] : {std::pair(BoardGroup::kPower, absl::Seconds(15)),
                                    {BoardGroup::kMetrics, absl::Seconds(15)},
                                    {BoardGroup::kEcc, absl::Minutes(2)},
                                    {BoardGroup::kHealth, absl::Seconds(210)},
                                    {BoardGroup::kIdentity, absl::Hours(3) + absl::Seconds(30)}}) {
    ends[samples.at(group).steady + keep] = group;
  }
  EXPECT_EQ(ends.size(), 5u);
  for (const auto& [end, group] : ends) {
    now_ = end;
    EXPECT_TRUE(Reading("GPU_0")->samples.contains(group)) << RowOf(group).name;
    now_ += absl::Milliseconds(1);
    EXPECT_FALSE(Reading("GPU_0")->samples.contains(group)) << RowOf(group).name;
  }
}

TEST_F(BmcReaderTest, AValueThatTheBmcCallsStaleKeepsItsNumber) {
  is_measuring_ = false;
  const auto fresh = FirstSamples();
  for (auto& [path, body] : bmc_.resources) {
    body = absl::StrReplaceAll(body,
                               {{R"("Timestamp")", R"("Oem": {"Nvidia": {"MetricValueStale": true}}, "Timestamp")"}});
  }
  EXPECT_EQ(FirstSamples(), fresh);
}

TEST_F(BmcReaderTest, CountsWhatIsLeftOut) {
  for (int gpu : {0, 1}) bmc_.resources[Gpu(gpu)] = "{}";
  Freeze("HGX_PlatformEnvironmentMetrics_0",
         {{Sensor(0, "TEMP_0"), "", {}},
          {Sensor(0, "TEMP_1"), "nan", {}},
          {Sensor(0, "DRAM_0_Temp_0"), "31463", {}},
          {Sensor(1, "DRAM_0_Temp_0"), "-273", {}},
          {Sensor(1, "TEMP_0"), "40", absl::Hours(1)},
          {absl::StrCat(Gpu(0), "/ProcessorMetrics"), "1", {}},
          {absl::StrCat(Gpu(0), "/ProcessorMetrics#/Oem/Nvidia/ThrottleReasons/0"), "Tired", {}},
          {absl::StrCat(Gpu(0), "/ProcessorMetrics#/Oem/Nvidia/SMUtilizationPercent"), "nan", {}},
          {Sensor(0, "Power_0"), "200", {}}});
  RunFor(absl::Seconds(4));
  EXPECT_THAT(left_out_, UnorderedElementsAre(Pair(BmcOmission::kNull, 1u), Pair(BmcOmission::kNotANumber, 1u),
                                              Pair(BmcOmission::kOutOfRange, 2u), Pair(BmcOmission::kStale, 1u),
                                              Pair(BmcOmission::kNoMember, 1u), Pair(BmcOmission::kUnknownWord, 1u)));
  EXPECT_EQ(Reading("GPU_0")->power.watts.at(PowerSource::kTotal), 200);
}

TEST_F(BmcReaderTest, SaysThatAReportIsTooLong) {
  std::vector<Value> values(kReportValuesMax, {Sensor(0, "Fan_0"), "1", {}});
  values.front() = {Sensor(0, "Power_0"), "200", {}};
  values.push_back({Sensor(0, "TEMP_0"), "40", {}});
  Freeze("HGX_PlatformEnvironmentMetrics_0", values);
  RunFor(absl::Seconds(6));
  EXPECT_EQ(std::ranges::count(lines_, absl::StrCat(Report("HGX_PlatformEnvironmentMetrics_0"),
                                                    ": only its first 20000 values are read")),
            1);
  EXPECT_FALSE(Reading("GPU_0")->power.watts.empty());
  EXPECT_TRUE(Reading("GPU_0")->temperature.celsius.empty());
}

TEST_F(BmcReaderTest, OfACountThatIsThereTwiceTheFirstCounts) {
  const std::string metrics = absl::StrCat(Dram(0), "/MemoryMetrics");
  bmc_.resources[metrics] = R"({"LifeTime": {"CorrectableECCErrorCount": 7, "CorrectableECCErrorCount": 3}})";
  frozen_.insert("HGX_MemoryMetrics_0");
  bmc_.resources[Report("HGX_MemoryMetrics_0")] = absl::StrReplaceAll(
      R"({"MetricValues": [{"MetricProperty": "$", "MetricValue": 7}, {"MetricProperty": "$", "MetricValue": 3}]})",
      {{"$", absl::StrCat(metrics, "#/LifeTime/CorrectableECCErrorCount")}});
  for (const bool is_report : {false, true}) {
    SCOPED_TRACE(is_report);
    reader_.reset();
    ListReports({"HGX_PlatformEnvironmentMetrics_0", is_report ? "HGX_MemoryMetrics_0" : "Other"});
    RunFor(absl::Minutes(1));
    const RunningCount first = Reading("GPU_0")->ecc.corrected.at(EccMemory::kDram);
    EXPECT_EQ(first.value, 7u);
    RunFor(absl::Minutes(5));
    EXPECT_EQ(Reading("GPU_0")->ecc.corrected.at(EccMemory::kDram), first);
  }
}

TEST_F(BmcReaderTest, ACountThatAReportHasTwiceDoesNotBeginAgain) {
  const std::string property = absl::StrCat(Dram(0), "/MemoryMetrics#/LifeTime/CorrectableECCErrorCount");
  std::set<absl::Time> beginnings;
  for (int i = 0; i < 12; ++i) {
    Freeze("HGX_PlatformEnvironmentMetrics_0", {{property, "7", {}}, {property, "3", absl::Seconds(1)}});
    Freeze("HGX_MemoryMetrics_0", {});
    RunFor(absl::Seconds(5));
    beginnings.insert(Reading("GPU_0")->ecc.corrected.at(EccMemory::kDram).created);
  }
  EXPECT_EQ(beginnings.size(), 1u);
}

TEST_F(BmcReaderTest, HealthIsTheWorstAndDoesNotAge) {
  bmc_.resources[Gpu(1)] = R"({"Status": {"State": "Enabled", "Health": "Critical"}})";
  // Its times say when it has changed. GPUs that nothing else knows are none.
  Freeze("HGX_HealthMetrics_0", {{absl::StrCat(Chassis(0), "#/Status/Health"), "OK", absl::Hours(1800)},
                                 {absl::StrCat(Chassis(0), "#/Status/HealthRollup"), "Warning", absl::Hours(9)},
                                 {absl::StrCat(Chassis(1), "#/Status/Health"), "OK", absl::Hours(1800)},
                                 {absl::StrCat(Chassis(1), "#/Status/HealthRollup"), "Splendid", {}},
                                 {absl::StrCat(Chassis(7), "#/Status/Health"), "OK", {}},
                                 {"/redfish/v1/Chassis/HGX_Chassis_0#/Status/Health", "Critical", {}}});
  RunFor(absl::Minutes(1));
  EXPECT_EQ(left_out_[BmcOmission::kUnknownWord], 1u);
  RunFor(absl::Minutes(20));
  EXPECT_EQ(Reading("GPU_0")->health.worst, BoardHealth::kWarning);
  EXPECT_LE(Age("GPU_0", BoardGroup::kHealth), absl::Seconds(62));
  EXPECT_EQ(Reading("GPU_1")->health.worst, BoardHealth::kOk) << "not that of its processor, which is an hour old";
  EXPECT_THAT(reader().gpus(), ElementsAre("GPU_0", "GPU_1"));
  EXPECT_EQ(periods_.at(BmcTopic::kHealth), absl::Minutes(1));
}

TEST_F(BmcReaderTest, HealthIsTheProcessorsWithoutItsReport) {
  ListReports({"HGX_PlatformEnvironmentMetrics_0", "HGX_ProcessorMetrics_0", "HGX_MemoryMetrics_0"});
  const auto set = [&](const char* health, const char* rollup) {
    bmc_.resources[Gpu(1)] = absl::StrCat(R"({"Status": {"State": "Enabled", "Health": ")", health,
                                          R"(", "HealthRollup": ")", rollup, R"("}})");
  };
  set("Warning", "Critical");
  RunFor(absl::Minutes(59));
  EXPECT_EQ(Reading("GPU_1")->health.worst, BoardHealth::kCritical);
  EXPECT_FALSE(periods_.contains(BmcTopic::kHealth));
  set("Warning", "OK");
  RunFor(absl::Minutes(5));
  EXPECT_EQ(Reading("GPU_1")->health.worst, BoardHealth::kWarning);
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
  EXPECT_NEAR(CountAsked(Report("HGX_PlatformEnvironmentMetrics_0")), 120, 3);
  EXPECT_NEAR(CountAsked(Report("HGX_ProcessorMetrics_0")), 20, 2);
  for (size_t i = 40; i < bmc_.times.size(); ++i) {
    EXPECT_GE(bmc_.times[i].second - bmc_.times[i - 40].second, absl::Minutes(1));
  }
  EXPECT_EQ(logins_, 1);
}

TEST_F(BmcReaderTest, RequestsThatAreSentAgainCount) {
  bmc_.requests = 4;
  RunFor(absl::Minutes(10));
  for (size_t i = 10; i < bmc_.times.size(); ++i) {
    EXPECT_GE(bmc_.times[i].second - bmc_.times[i - 10].second, absl::Minutes(1));
  }
  EXPECT_GT(bmc_.times.size(), 95u);
}

TEST_F(BmcReaderTest, AnotherReaderOfTheBmcHasTheRestOfTheBudget) {
  options_.requests_per_minute = 10;
  for (int i = 0; i < 5; ++i) {
    RunFor(absl::Seconds(20));
    options_.before.emplace(reader().budget());
    reader_.reset();
  }
  EXPECT_GT(bmc_.times.size(), 15u);
  for (size_t i = 10; i < bmc_.times.size(); ++i) {
    EXPECT_GE(bmc_.times[i].second - bmc_.times[i - 10].second, absl::Minutes(1));
  }
}

TEST_F(BmcReaderTest, SaysWhatItReads) {
  options_.requests_per_minute = 60;
  options_.has_links = true;
  ListReports({"HGX_PlatformEnvironmentMetrics_0", "HGX_ProcessorMetrics_0", "HGX_MemoryMetrics_0",
               "HGX_HealthMetrics_0", "HGX_ProcessorPortGPMMetrics_0", "HGX_ProcessorPortMetrics_0"});
  RunFor(absl::Minutes(1));
  std::vector<std::string> sources;
  for (size_t topic = 0; topic < std::size(kBmcTopics); ++topic) {
    sources.push_back(reader().SourcesOf(static_cast<BmcTopic>(topic)));
  }
  EXPECT_THAT(sources, ElementsAre("HGX_PlatformEnvironmentMetrics_0", "2 resources", "HGX_ProcessorMetrics_0",
                                   "HGX_MemoryMetrics_0", "HGX_HealthMetrics_0",
                                   "HGX_ProcessorPortMetrics_0, HGX_ProcessorPortGPMMetrics_0", "", "4 resources"));
  // 12 for the environment, 24 for the activities of two GPUs, 2 each of what is slow, 1 each of what is rare.
  EXPECT_NEAR(reader().RequestsPerMinute(), 12 + 24 + 2 + 2 + 1 + 2, 1e-9);
  // Three sensors, a clock, a list with one reason, a clock and a count of the memory, the health, and of the identity
  // model, UUID, clock and two limits.
  EXPECT_EQ(reader().CountValues("GPU_0"), 13u);
  EXPECT_EQ(reader().CountValues("GPU_9"), 0u);
}

TEST_F(BmcReaderTest, FastValuesDoNotWaitForIdentities) {
  options_.requests_per_minute = 31;
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
  for (size_t i = 31; i < bmc_.times.size(); ++i) {
    EXPECT_GE(bmc_.times[i].second - bmc_.times[i - 31].second, absl::Minutes(1));
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
  EXPECT_EQ(CountAsked(Pages(0)), 1);
  EXPECT_NEAR(CountAsked(Log(0)), 58, 4);
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

TEST_F(BmcXidTest, NextPagesElsewhereAreNotFollowed) {
  bmc_.resources[Pages(0)] = Page({}, "https://evil.example.org/next");
  RunFor(absl::Minutes(3));
  SetHead(0, 1);
  bmc_.resources[Pages(0)] = Page({{1, "XID 31 a"}}, "//evil.example.org/next");
  RunFor(absl::Minutes(2));
  EXPECT_THAT(Counts("GPU_0"), ElementsAre(std::pair(31, 1)));
  EXPECT_THAT(bmc_.asked, Each(Not(HasSubstr("evil"))));
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
  EXPECT_LE(CountAsked(Pages(0)), 3 * 60 / 15 * 16 + 64) << "after pauses of 15 min";
}

TEST_F(BmcXidTest, AnEntryIsNotLostToAnError) {
  RunFor(absl::Minutes(3));
  SetLog(0, {{1, "XID 31 a"}});
  bmc_.codes[Pages(0)] = 500;
  const auto before = CountAsked(Pages(0));
  RunFor(absl::Minutes(70));  // and over an inventory
  EXPECT_THAT(Counts("GPU_0"), IsEmpty());
  EXPECT_LE(CountAsked(Pages(0)) - before, 9) << "after 1, 2, 4, 8 and 15 min";
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
  EXPECT_GT(Age("GPU_0", BoardGroup::kDriverMessages), absl::Minutes(9));
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
  EXPECT_EQ(CountAsked(Log(0)), 1);
  EXPECT_FALSE(Reading("GPU_0")->samples.contains(BoardGroup::kDriverMessages));
  EXPECT_FALSE(periods_.contains(BmcTopic::kXid));
  EXPECT_THAT(lines_, ElementsAre("Tray: 2 GPUs, the fastest values every 5s"));
}

TEST_F(BmcReaderTest, ManyGpusThatAreAbsentNeedOneInventory) {
  options_.requests_per_minute = 120;
  for (int gpu : {0, 1}) bmc_.resources[Gpu(gpu)] = R"({"Status": {"State": "Absent"}})";
  RunFor(absl::Minutes(20));
  EXPECT_LE(CountAsked("/redfish/v1/Systems"), 2);
}

TEST_F(BmcReaderTest, ASessionThatIsDeletedSoonAfterItsLoginIsMadeAgain) {
  RunFor(absl::Minutes(2));
  bmc_.has_session = false;
  RunFor(absl::Minutes(1));
  EXPECT_EQ(logins_, 2);
  EXPECT_LE(Age("GPU_0", BoardGroup::kPower), absl::Seconds(6));
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
  EXPECT_LE(Age("GPU_0", BoardGroup::kPower), absl::Seconds(75));
  RunFor(absl::Minutes(2));
  EXPECT_LE(Age("GPU_0", BoardGroup::kPower), absl::Seconds(6));
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
  EXPECT_LE(reader().RequestsPerMinute(), 0.95 * 6 + 1e-9);
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

TEST_F(BmcReaderTest, AReportThatIsRefusedOrEmptyIsReplacedByResources) {
  options_.interval = absl::Minutes(1);
  const std::string id = "HGX_ProcessorGPMMetrics_0", report = Report(id);
  for (int gpu : {0, 1}) {
    bmc_.resources[absl::StrCat(Gpu(gpu), "/ProcessorMetrics")] = R"({"Oem": {"Nvidia": {"SMActivityPercent": 12.5}}})";
  }
  for (const int code : {404, 403, 200}) {
    SCOPED_TRACE(code);
    reader_.reset();
    lines_.clear();
    bmc_.asked.clear();
    bmc_.codes[report] = code;
    Freeze(id, {});
    if (code == 200) bmc_.codes.clear();
    RunFor(absl::Seconds(179));
    EXPECT_EQ(reader().SourcesOf(BmcTopic::kActivity), id);
    RunFor(absl::Seconds(10));
    EXPECT_EQ(CountAsked(report), 3) << "after pauses of 1 and 2 minutes";
    EXPECT_EQ(reader().SourcesOf(BmcTopic::kActivity), "2 resources");
    EXPECT_EQ(Reading("GPU_1")->metrics.scopes.at({}).ratios.at(MetricId::kSmActivity), 0.125);
    RunFor(absl::Hours(2));
    EXPECT_EQ(CountAsked(report), 3 + 2) << "each inventory tries it once";
    EXPECT_EQ(reader().SourcesOf(BmcTopic::kActivity), "2 resources");
    EXPECT_LE(Age("GPU_1", BoardGroup::kMetrics), absl::Seconds(61));
    EXPECT_EQ(std::ranges::count(lines_, absl::StrCat(report, code == 200 ? " has no values of GPUs" : " is refused",
                                                      "; each GPU's resource is read instead")),
              1);
    bmc_.codes.clear();
    frozen_.clear();
    RunFor(absl::Hours(1));
    EXPECT_EQ(reader().SourcesOf(BmcTopic::kActivity), id) << "it is there again";
    EXPECT_EQ(Reading("GPU_1")->metrics.scopes.at({}).ratios.at(MetricId::kSmActivity), 0.5);
  }
}

TEST_F(BmcReaderTest, AReportWithoutMembersIsToldOnce) {
  options_.interval = absl::Minutes(1);
  const std::string id = "HGX_ProcessorGPMMetrics_0";
  Freeze(id, {{absl::StrCat(Gpu(0), "/ProcessorMetrics"), "0.0", {}}});
  RunFor(absl::Hours(3) + absl::Minutes(1));
  EXPECT_EQ(CountAsked(Report(id)), 1 + 3);
  EXPECT_EQ(
      std::ranges::count_if(lines_, [](const auto& line) { return absl::StrContains(line, "does not say what"); }), 1);
}

TEST_F(BmcReaderTest, AReportThatHadValuesIsNotReplacedWhileItIsEmpty) {
  const std::string id = "HGX_ProcessorGPMMetrics_0";
  RunFor(absl::Minutes(1));
  Freeze(id, {});
  RunFor(absl::Minutes(90));
  EXPECT_EQ(reader().SourcesOf(BmcTopic::kActivity), id);
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("2 GPUs"), HasSubstr("has no values of GPUs any more")));
  frozen_.clear();
  RunFor(absl::Minutes(16));
  EXPECT_LE(Age("GPU_0", BoardGroup::kMetrics), absl::Seconds(6));
  EXPECT_EQ(lines_.back(), absl::StrCat(Report(id), ": is there again"));
}

TEST_F(BmcReaderTest, AReportWithAnErrorIsNotReplaced) {
  const std::string id = "HGX_ProcessorGPMMetrics_0";
  for (const bool has_status : {true, false}) {
    reader_.reset();
    if (has_status) bmc_.codes[Report(id)] = 500;
    if (!has_status) bmc_.broken_paths[Report(id)] = absl::DeadlineExceededError("no answer within 15s");
    RunFor(absl::Minutes(40));
    EXPECT_EQ(reader().SourcesOf(BmcTopic::kActivity), id);
  }
}

TEST_F(BmcReaderTest, TheFirstReportThatFailsDoesNotEndTheOthers) {
  const std::string report = Report("HGX_PlatformEnvironmentMetrics_0");
  for (const auto& [code, status] : {std::pair(503, absl::OkStatus()),
                                     {0, absl::DeadlineExceededError("no answer within 15s")},
                                     {0, absl::UnavailableError("the connection ended")}}) {
    SCOPED_TRACE(absl::StrCat(code, status.ToString()));
    reader_.reset();
    bmc_.codes.clear();
    if (code != 0) bmc_.codes[report] = code;
    if (!status.ok()) bmc_.broken_paths[report] = status;
    RunFor(absl::Minutes(4));
    EXPECT_EQ(is_up_, true);
    for (int i = 0; i < 30; ++i) {
      RunFor(absl::Minutes(1));
      EXPECT_LE(Age("GPU_0", BoardGroup::kMetrics), absl::Seconds(16));
    }
  }
}

TEST_F(BmcReaderTest, WhatIsToldOnceIsNotToldByEachInventory) {
  options_.interval = absl::Hours(1);
  bmc_.codes[Report("HGX_ProcessorGPMMetrics_0")] = 403;
  std::vector<Value> values(kReportValuesMax + 1, {Sensor(0, "Fan_0"), "1", {}});
  values.front() = {Sensor(0, "Power_0"), "200", {}};
  Freeze("HGX_PlatformEnvironmentMetrics_0", values);
  for (int gpu : {0, 1}) bmc_.resources[absl::StrCat(Gpu(gpu), "/ProcessorMetrics")] = "{}";
  RunFor(absl::Minutes(190));
  EXPECT_EQ(std::set<std::string>(lines_.begin(), lines_.end()).size(), lines_.size()) << absl::StrJoin(lines_, "\n");
}

TEST_F(BmcReaderTest, ATrayThatCannotBeReadEndsNothing) {
  const char manager[] = "/redfish/v1/Managers/M";
  bmc_.resources[kTray] = R"({"Links": {"ManagedBy": [{"@odata.id": "/redfish/v1/Managers/M"}]}})";
  for (const std::string path : {kTray, manager}) {
    for (const int code : {500, 503, 429, 0}) {
      SCOPED_TRACE(absl::StrCat(path, code));
      reader_.reset();
      bmc_.codes.clear();
      bmc_.broken_paths.clear();
      bmc_.asked.clear();
      if (code != 0) bmc_.codes[path] = code;
      if (code == 0) bmc_.broken_paths[path] = absl::DeadlineExceededError("no answer within 15s");
      RunFor(absl::Minutes(6));
      EXPECT_LE(Age("GPU_0", BoardGroup::kPower), absl::Seconds(6));
      EXPECT_EQ(CountAsked("/redfish/v1/Systems"), 1);
    }
  }
}

TEST_F(BmcReaderTest, HealthIsTheProcessorsWhereItsReportIsUseless) {
  for (int gpu : {0, 1}) bmc_.resources[Gpu(gpu)] = R"({"Status": {"State": "Enabled", "Health": "Warning"}})";
  for (const int code : {404, 200}) {
    reader_.reset();
    bmc_.codes.clear();
    if (code != 200) bmc_.codes[Report("HGX_HealthMetrics_0")] = code;
    Freeze("HGX_HealthMetrics_0", {});
    RunFor(absl::Minutes(70));
    EXPECT_EQ(Reading("GPU_0")->health.worst, BoardHealth::kWarning) << code;
  }
}

TEST_F(BmcReaderTest, AResourceIsReadForOneTopic) {
  options_.requests_per_minute = 120;
  for (const char* const id : {"HGX_ProcessorMetrics_0", "HGX_ProcessorGPMMetrics_0"}) {
    bmc_.codes[Report(id)] = 404;
    RunFor(absl::Minutes(5));
  }
  EXPECT_EQ(reader().SourcesOf(BmcTopic::kActivity), "2 resources");
  EXPECT_EQ(reader().SourcesOf(BmcTopic::kProcessor), "");
}

TEST_F(BmcReaderTest, ABusyReportIsNotReplaced) {
  bmc_.codes[Report("HGX_ProcessorMetrics_0")] = 429;
  RunFor(absl::Minutes(30));
  EXPECT_EQ(reader().SourcesOf(BmcTopic::kProcessor), "HGX_ProcessorMetrics_0");
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
  EXPECT_LE(Age("GPU_0", BoardGroup::kPower), absl::Seconds(6));
  EXPECT_THAT(lines_, Contains(absl::StrCat(Report("HGX_ProcessorGPMMetrics_0"), ": the answer is larger than 4 MiB")));
  EXPECT_EQ(is_up_, true);
}

TEST_F(BmcReaderTest, ARequestThatBreaksTheConnectionDoesNotLoseTheOthers) {
  bmc_.broken_paths[Report("HGX_ProcessorGPMMetrics_0")] = absl::UnavailableError("the connection ended");
  RunFor(absl::Minutes(2));
  EXPECT_LE(Age("GPU_0", BoardGroup::kPower), absl::Seconds(16));
}

TEST_F(BmcReaderTest, OneRequestThatTimesOutIsAskedRarely) {
  bmc_.broken_paths[Report("HGX_ProcessorGPMMetrics_0")] = absl::DeadlineExceededError("no answer within 15s");
  RunFor(absl::Minutes(3));
  const size_t before = lines_.size();
  RunFor(absl::Minutes(30));
  EXPECT_LE(Age("GPU_0", BoardGroup::kPower), absl::Seconds(6));
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
  EXPECT_GE(CountAsked("LOGOUT"), logins_ - 1) << "none is left behind";
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
  EXPECT_LE(Age("GPU_0", BoardGroup::kPower), absl::Seconds(6));
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
  bmc_.login_code = 401;
  options_.login = "of u (pw)";
  RunFor(absl::Hours(1));
  // At once, and after pauses of 1, 2, 4, 8, 15 and 15 minutes.
  EXPECT_EQ(CountAsked("LOGIN"), 7);
  EXPECT_THAT(lines_, ElementsAre("the BMC refuses the login of u (pw): HTTP status 401"));
  EXPECT_EQ(is_up_, false);
  bmc_.login_code = 201;
  reader().Retry(now_);
  RunFor(absl::Minutes(2));
  EXPECT_EQ(is_up_, true);
}

TEST_F(BmcReaderTest, ALoginThatFailsIsNotRepeatedSoon) {
  const std::string busy = "the BMC is busy, or has no session left: HTTP status ";
  const std::string refused = "the BMC refuses the login: HTTP status ";
  for (const auto& [code, line] :
       {std::pair(503, busy + "503"),
        {429, busy + "429"},
        {400, refused + "400"},
        {403, refused + "403"},
        {404, std::string("there is no Redfish service at the url, which may need a path such "
                          "as /hmc: HTTP status 404")}}) {
    SCOPED_TRACE(code);
    reader_.reset();
    lines_.clear();
    bmc_.asked.clear();
    bmc_.login_code = code;
    RunFor(absl::Minutes(31));
    EXPECT_EQ(CountAsked("LOGIN"), 6) << "after 1, 2, 4, 8 and 15 minutes";
    EXPECT_THAT(lines_, ElementsAre(line));
    EXPECT_EQ(is_up_, false);
    bmc_.login_code = 201;
    RunFor(absl::Minutes(16));
    EXPECT_EQ(is_up_, true);
  }
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

TEST_F(BmcReaderTest, ABmcThatDoesNotSayHowLongItIsBusyIsAskedEverMoreRarely) {
  for (const int code : {429, 503, 0}) {
    SCOPED_TRACE(code);
    RunFor(absl::Seconds(20));
    if (code == 0) bmc_.broken = absl::DeadlineExceededError("no answer within 15s");
    for (const auto& [path, body] : bmc_.resources) {
      if (code != 0) bmc_.codes[path] = code;
    }
    const size_t before = bmc_.times.size();
    RunFor(absl::Minutes(31));
    std::vector<int64_t> minutes;
    for (size_t i = before + 1; i < bmc_.times.size(); ++i) {
      minutes.push_back(absl::ToInt64Minutes(bmc_.times[i].second - bmc_.times[i - 1].second));
    }
    EXPECT_THAT(minutes, ElementsAre(1, 2, 4, 8, 15));
    EXPECT_EQ(is_up_, false);
    bmc_.codes.clear();
    bmc_.broken = absl::OkStatus();
    RunFor(absl::Minutes(16));
    EXPECT_EQ(is_up_, true);
  }
}

TEST_F(BmcReaderTest, AProbeIsNotEndedByOneReport) {
  options_.is_probe = true;
  const std::string report = Report("HGX_PlatformEnvironmentMetrics_0");
  for (const auto& [code, status] : {std::pair(503, absl::OkStatus()),
                                     {429, absl::OkStatus()},
                                     {0, absl::DeadlineExceededError("no answer within 15s")},
                                     {0, absl::UnavailableError("the connection ended")}}) {
    SCOPED_TRACE(absl::StrCat(code, status.ToString()));
    reader_.reset();
    bmc_.codes.clear();
    if (code != 0) bmc_.codes[report] = code;
    if (!status.ok()) bmc_.broken_paths[report] = status;
    RunFor(absl::Seconds(20));
    EXPECT_TRUE(reader().is_complete());
    EXPECT_TRUE(Reading("GPU_0")->power.watts.empty());
    EXPECT_FALSE(Reading("GPU_0")->clocks.current_mhz.empty());
    EXPECT_EQ(Reading("GPU_0")->identity.items.at(SysId::kMarketingName), "Test GPU");
  }
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

TEST_F(BmcReaderTest, TheFirstLineSaysWhichMachineItIs) {
  const char manager[] = R"("Links": {"ManagedBy": [{"@odata.id": "/redfish/v1/Managers/M"}]})";
  const std::string tray = absl::StrCat(R"({"Manufacturer": "NVIDIA", "Model": "HGX B200", )", manager, "}");
  const std::string firmware = R"({"FirmwareVersion": "25.07"})";
  const std::string longest(80, 'x');
  is_measuring_ = false;
  for (const auto& [of_tray, of_manager, machine] : {
           std::tuple(tray, firmware, std::string("NVIDIA HGX B200, firmware 25.07: ")),
           {tray, "{}", "NVIDIA HGX B200: "},
           {tray, "[7", "NVIDIA HGX B200: "},
           {tray, "", "NVIDIA HGX B200: "},
           {R"({"Manufacturer": "NVIDIA"})", firmware, "NVIDIA Tray: "},
           {R"({"Manufacturer": "NVIDIA", "Model": "NVIDIA X"})", firmware, "NVIDIA X: "},
           {absl::StrCat("{", manager, "}"), firmware, "Tray, firmware 25.07: "},
           {"", firmware, "Tray: "},
           {R"({"Model": "A", "Links": {"ManagedBy": [{"@odata.id": "https://evil.example.org/M"}]}})", firmware,
            "A: "},
           {R"({"Manufacturer": " a\u001b[31m\nb\u00e4  ", "Model": null})", "", "a\\033[31m\\nb\\303\\244 Tray: "},
           {absl::StrCat(R"({"Manufacturer": ")", longest, R"(y", "Model": "A)", longest, R"(", )", manager, "}"),
            absl::StrCat(R"({"FirmwareVersion": ")", longest, R"(y"})"),
            absl::StrCat(longest, " A", longest.substr(1), ", firmware ", longest, ": ")},
       }) {
    reader_.reset();
    lines_.clear();
    bmc_.asked.clear();
    for (const auto& [path, body] : {std::pair(kTray, of_tray), {"/redfish/v1/Managers/M", of_manager}}) {
      bmc_.resources[path] = body;
      if (body.empty()) bmc_.resources.erase(path);
    }
    RunFor(absl::Minutes(6));
    EXPECT_THAT(lines_, ElementsAre(absl::StrCat(machine, "2 GPUs, the fastest values every 5s")));
    EXPECT_EQ(CountAsked("/redfish/v1/Systems"), 1) << "the inventory is whole: " << machine;
    EXPECT_THAT(bmc_.asked, Each(Not(HasSubstr("evil"))));
  }
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

TEST_F(BmcReaderTest, HasBoundsOfGpusAndMembers) {
  const std::string processors = absl::StrCat(kTray, "/Processors");
  std::vector<std::string> members;
  for (int gpu = 0; gpu < 300; ++gpu) members.push_back(Gpu(gpu));
  bmc_.resources[processors] = Collection(members);
  RunFor(absl::Seconds(4));
  EXPECT_EQ(reader().gpus().size(), 256u);

  // Four of these are among the members that are read.
  members.resize(12);
  bmc_.resources[absl::StrCat(processors, "?page=2")] = Collection(members);
  members.assign(kMembersMax - 4, "/redfish/v1/Systems/1/Processors/CPU_");
  for (size_t i = 0; i < members.size(); ++i) absl::StrAppend(&members[i], i);
  bmc_.resources[processors] = absl::StrReplaceAll(
      Collection(members),
      {{R"({"Members")", absl::StrCat(R"({"Members@odata.nextLink": ")", processors, R"(?page=2", "Members")")}});
  reader_.reset();
  RunFor(absl::Seconds(4));
  EXPECT_THAT(reader().gpus(), ElementsAre("GPU_0", "GPU_1", "GPU_2", "GPU_3"));
}

TEST_F(BmcReaderTest, LinksElsewhereAreNotFollowed) {
  bmc_.resources["/redfish/v1"] = R"({"Links": {"Sessions": {"@odata.id": "https://evil.example.org/s"}},
      "Systems": {"@odata.id": "//evil.example.org/Systems"}, "TelemetryService": {"@odata.id": "/a b\r\nX: y"}})";
  RunFor(absl::Seconds(4));
  EXPECT_EQ(is_up_, true);
  EXPECT_THAT(bmc_.asked, Each(Not(HasSubstr("evil"))));
  for (const char* const link : {"https://evil.example.org/p", "//evil.example.org/p"}) {
    reader_.reset();
    bmc_.resources[absl::StrCat(kTray, "/Processors")] =
        absl::StrCat(R"({"Members": [{"@odata.id": ")", Gpu(0), R"("}], "Members@odata.nextLink": ")", link, R"("})");
    RunFor(absl::Seconds(4));
    EXPECT_EQ(reader().SourcesOf(BmcTopic::kEnvironment), "HGX_PlatformEnvironmentMetrics_0");
  }
  EXPECT_THAT(bmc_.asked, Each(Not(HasSubstr("evil"))));
}

TEST_F(BmcReaderTest, NamesOfGpusArePlain) {
  SetReport(
      "HGX_PlatformEnvironmentMetrics_0",
      {{Sensor(0, "TEMP_0"), "40", {}}, {"/redfish/v1/Chassis/HGX_GPU_<b>/Sensors/HGX_GPU_<b>_TEMP_0", "41", {}}});
  is_measuring_ = false;
  RunFor(absl::Seconds(4));
  EXPECT_THAT(reader().gpus(), ElementsAre("GPU_0", "GPU_1"));
}

// A board of AMD: a value's time says when it last changed.
class BmcAmdTest : public BmcReaderTest {
 protected:
  BmcAmdTest() {
    is_measuring_ = false;
    bmc_.resources.clear();
    bmc_.resources["/redfish/v1"] = "{}";
    bmc_.resources["/redfish/v1/Systems"] = Collection({"/redfish/v1/Systems/UBB"});
    ListReports({"OAM_ProcessorMetrics_0"});
  }

  // Answers a report of this age, whose values have not changed for long.
  void Answer(absl::Duration age) {
    bmc_.resources[Report("OAM_ProcessorMetrics_0")] =
        absl::StrCat(R"({"MetricValues": [{"MetricProperty": "/redfish/v1/Chassis/OAM_0/Sensors/GPU_0_DIE_TEMP/Reading",
            "MetricValue": "50.0", "Timestamp": "1999-12-31T23:00:00+00:00"},
            {"MetricProperty": "/redfish/v1/Chassis/OAM_0/Sensors/GPU_0_POWER/Reading", "MetricValue": 147,
            "Timestamp": "1970-01-01T00:03:19+00:00"}], "Timestamp": ")",
                     BmcTime(age), R"("})");
    RunFor(absl::Seconds(5));
  }
};

TEST_F(BmcAmdTest, AValueThatHasNotChangedIsNotOld) {
  for (int i = 0; i < 30; ++i) {
    Answer(absl::ZeroDuration());
    EXPECT_EQ(Find(Reading("GPU0")->temperature.celsius, TempSensor::kGpu0), 50);
    EXPECT_EQ(Find(Reading("GPU0")->power.watts, PowerSource::kTotal), 147);
    EXPECT_LE(Age("GPU0", BoardGroup::kTemperature), absl::Seconds(6));
  }
  EXPECT_THAT(left_out_, IsEmpty());
}

TEST_F(BmcAmdTest, AReportWhoseTimeStandsBecomesStale) {
  for (int i = 0; i < 5; ++i) Answer(i * absl::Seconds(5));
  EXPECT_TRUE(Reading("GPU0")->temperature.celsius.empty());
  EXPECT_GT(left_out_[BmcOmission::kStale], 0u);
  Answer(absl::ZeroDuration());
  EXPECT_FALSE(Reading("GPU0")->temperature.celsius.empty());
}

// Reports that have values of all rows, each in any of them.
class BmcPropertyTest : public BmcReaderTest {
 protected:
  struct Answers {
    std::map<std::string, std::vector<Value>> values;  // by report
    std::map<std::string, std::map<BmcOmission, size_t>> left_out;
  };
  static constexpr const char* kHealthReport = "HGX_HealthMetrics_0";
  static constexpr const char* kOthers[] = {"HGX_PlatformEnvironmentMetrics_0", "HGX_ProcessorGPMMetrics_0",
                                            "HGX_ProcessorMetrics_0",           "HGX_MemoryMetrics_0",
                                            "HGX_ProcessorPortMetrics_0",       "HGX_ProcessorPortGPMMetrics_0"};

  BmcPropertyTest() {
    options_.has_links = true;
    is_measuring_ = false;
    std::vector<std::string> reports(std::begin(kOthers), std::end(kOthers));
    reports.push_back(kHealthReport);
    ListReports(reports);
    for (int gpu : {0, 1})
      bmc_.resources[Gpu(gpu)] = bmc_.resources[absl::StrCat(Gpu(gpu), "/EnvironmentMetrics")] = "{}";
  }

  static bool IsPort(const BmcQuantity& row) {
    return row.resource == BmcResource::kPort || row.resource == BmcResource::kPortMetrics;
  }
  static int CountIndexes(const BmcQuantity& row) {
    return row.kind == BmcKind::kThrottle ? 2 : IsList(row) ? 8 : IsPort(row) ? 3 : 1;
  }
  static std::string PropertyOf(const BmcQuantity& row, int gpu, int index) {
    const std::string port = absl::StrCat(Gpu(gpu), "/Ports/NVLink_", index);
    const std::map<BmcResource, std::string> resources = {
        {BmcResource::kProcessor, Gpu(gpu)},
        {BmcResource::kProcessorMetrics, absl::StrCat(Gpu(gpu), "/ProcessorMetrics")},
        {BmcResource::kEnvironmentMetrics, absl::StrCat(Gpu(gpu), "/EnvironmentMetrics")},
        {BmcResource::kMemory, Dram(gpu)},
        {BmcResource::kMemoryMetrics, absl::StrCat(Dram(gpu), "/MemoryMetrics")},
        {BmcResource::kPcieDevice, absl::StrCat(Chassis(gpu), "/PCIeDevices/GPU_", gpu)},
        {BmcResource::kChassis, Chassis(gpu)},
        {BmcResource::kPort, port},
        {BmcResource::kPortMetrics, absl::StrCat(port, "/Metrics")}};
    if (row.resource == BmcResource::kSensor) return Sensor(gpu, row.member);
    return absl::StrCat(resources.at(row.resource), "#/", row.member, IsList(row) ? absl::StrCat("/", index) : "");
  }

  // A text that no other value of the row has, where there are enough.
  std::string GoodText(const BmcQuantity& row) {
    constexpr int kParts = 99'991;
    ++numbers_;
    switch (row.kind) {
      case BmcKind::kGauge:
        return absl::StrFormat("%.9f", row.min + (row.max - row.min) * (numbers_ % kParts) / kParts);
      case BmcKind::kCount:
        return absl::StrCat(numbers_);
      case BmcKind::kDuration:
        return absl::StrCat("PT", numbers_, "S");
      case BmcKind::kState:
        return numbers_ % 2 == 0 ? "true" : "false";
      case BmcKind::kThrottle:
        return numbers_ % 2 == 0 ? "NA" : "SWPowerCap";
      case BmcKind::kHealth:
        return numbers_ % 2 == 0 ? "OK" : "Warning";
      case BmcKind::kText:
        break;
    }
    return "";
  }
  std::pair<std::string, BmcOmission> BadText(const BmcQuantity& row) {
    const bool is_word = row.kind == BmcKind::kThrottle || row.kind == BmcKind::kHealth;
    switch (random_() % 3) {
      case 0:
        return {"", BmcOmission::kNull};
      case 1:
        return {"nan", is_word ? BmcOmission::kUnknownWord : BmcOmission::kNotANumber};
      default:
        return {row.kind == BmcKind::kDuration ? "P99999D" : "1e300",
                is_word ? BmcOmission::kUnknownWord : BmcOmission::kOutOfRange};
    }
  }
  // The samples of a reading with this value alone may be there.
  void Allow(const BmcQuantity& row, int gpu, int index, const std::string& text) {
    BmcSample sample = ParseSample(row, text).sample;
    double number = 0;
    if (absl::SimpleAtod(absl::StripSuffix(absl::StripPrefix(text, "PT"), "S"), &number)) {
      sample.number = number * row.scale;
      sample.count.value = static_cast<uint64_t>(std::llround(sample.number));
    }
    sample.index = static_cast<uint8_t>(index);
    BoardReading alone;
    row.set(sample, alone);
    for (const auto& [name, value] : Samples::Of(alone)) allowed_[gpu][name].insert(value);
  }
  void AddAny(const BmcQuantity& row, int gpu, int index, Answers& answers) {
    const bool is_health = row.kind == BmcKind::kHealth;
    const std::string report = is_health ? kHealthReport : kOthers[random_() % std::size(kOthers)];
    const bool is_old = random_() % 16 == 0;
    Value value{PropertyOf(row, gpu, index), GoodText(row),
                is_old ? absl::Hours(1) : absl::Milliseconds(static_cast<int>(random_() % 8000))};
    if (random_() % 8 == 0) {
      const auto [text, why] = BadText(row);
      value.text = text;
      ++answers.left_out[report][why];
    } else if (is_old && !is_health) {
      ++answers.left_out[report][BmcOmission::kStale];
    } else {
      Allow(row, gpu, index, value.text);
    }
    answers.values[report].push_back(value);
  }
  // Sets all reports anew, and allows their values.
  Answers Randomise() {
    Answers answers;
    for (const BmcQuantity& row : BmcQuantities()) {
      if (row.vendor != BmcVendor::kNvidia || row.kind == BmcKind::kText) continue;
      for (const int gpu : {0, 1}) {
        for (int index = 0; index < CountIndexes(row); ++index) {
          if (random_() % 4 != 0) AddAny(row, gpu, index, answers);
        }
      }
    }
    answers.values[kOthers[0]].push_back({absl::StrCat(Gpu(0), "/ProcessorMetrics"), "1", {}});
    ++answers.left_out[kOthers[0]][BmcOmission::kNoMember];
    Shuffle(answers);
    return answers;
  }
  void Shuffle(Answers& answers) {
    for (auto& [report, values] : answers.values) {
      std::ranges::shuffle(values, random_);
      SetReport(report, values);
    }
  }

  std::mt19937 random_{20261203};
  int numbers_ = 0;
  std::map<std::string, std::set<double>> allowed_[2];
};

TEST_F(BmcPropertyTest, EachPublishedValueWasInAnAnswer) {
  for (int round = 0; round < 10; ++round) {
    reader_.reset();
    std::map<BmcOmission, size_t> left_out;
    left_out_.clear();
    for (auto& allowed : allowed_) allowed.clear();
    for (int step = 0; step < 8; ++step) {
      const Answers answers = Randomise();
      const size_t before = bmc_.asked.size();
      RunFor(absl::Seconds(5));
      for (const auto& [report, reasons] : answers.left_out) {
        const auto times = static_cast<size_t>(std::ranges::count(Since(before), Report(report)));
        for (const auto& [why, values] : reasons) {
          if (times > 0) left_out[why] += times * values;
        }
      }
      for (const int gpu : {0, 1}) {
        const auto samples = Samples::Of(*Reading(absl::StrCat("GPU_", gpu)));
        EXPECT_GT(samples.size(), 40u);
        for (const auto& [name, value] : samples) EXPECT_TRUE(allowed_[gpu][name].contains(value)) << name << value;
      }
    }
    EXPECT_EQ(left_out_, left_out);
  }
}

TEST_F(BmcPropertyTest, TheOrderOfValuesDoesNotMatter) {
  options_.requests_per_minute = 120;
  Answers answers = Randomise();
  const auto samples = FirstSamples();
  const auto times = Reading("GPU_1")->samples;
  EXPECT_GT(samples.size(), 40u);
  for (int round = 0; round < 10; ++round) {
    now_ = absl::Seconds(1000);
    Shuffle(answers);
    EXPECT_EQ(FirstSamples(), samples);
    EXPECT_EQ(Reading("GPU_1")->samples, times);
  }
}

// Whatever a BMC answers: no crash, at most the budget, and no temperature that cannot be.
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
  // Reads a captured machine. False without the data.
  bool Load(const std::string& machine, bool has_reports = true) {
    const char* const data = std::getenv("SIDEBAND_SHARED_DATA");
    if (data == nullptr || *data == '\0') return false;
    const std::filesystem::path root = std::filesystem::path(data) / "redfish" / machine;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().filename() != "index.json") continue;
      const std::string path = "/" + std::filesystem::relative(entry.path().parent_path(), root).string();
      if (!has_reports && absl::StartsWith(path, kReports)) continue;
      std::stringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      bmc_.resources[path] = text.str();
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
    // Many resources take longer.
    const absl::Duration end = now_ + (has_reports ? absl::Seconds(12) : absl::Minutes(3));
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
  EXPECT_EQ(reading->metrics.scopes.at({}).ratios.size(), 15u);
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
  EXPECT_EQ(reading->health.worst, BoardHealth::kOk);
  EXPECT_THAT(lines_, Contains("NVIDIA GB200 NVL, firmware GB200Nvl-25.07-7: 4 GPUs, the fastest values every 5s"));
}

TEST_F(CapturedTreeTest, Gb300HasTheSameValuesWithoutReports) {
  if (!Load("nvidia-gb300-supermicro")) GTEST_SKIP() << "SIDEBAND_SHARED_DATA is not set: no captured answers";
  const auto reported = Samples::Of(*Reading("GPU_0"));
  bmc_ = {};
  ASSERT_TRUE(Load("nvidia-gb300-supermicro", /*has_reports=*/false));
  const auto asked = Samples::Of(*Reading("GPU_0"));
  size_t both = 0;
  std::vector<std::string> reported_alone;
  for (const auto& [name, value] : reported) {
    const auto found = asked.find(name);
    if (found != asked.end()) {
      ++both;
      // Idle rates were captured at another time.
      EXPECT_NEAR(found->second, value, 0.2 * value) << name;
    } else if (!absl::StartsWith(name, "sideband_nvlink_")) {
      reported_alone.push_back(name);
    }
  }
  EXPECT_GT(both, 60u);
  EXPECT_THAT(reported_alone, ElementsAre("sideband_pcie_link_width{}", "sideband_row_remap_state{state=failed}"));
}

TEST_F(CapturedTreeTest, Gh200HasResourcesInsteadOfReports) {
  if (!Load("nvidia-gh200")) GTEST_SKIP() << "SIDEBAND_SHARED_DATA is not set: no captured answers";
  EXPECT_THAT(reader_->gpus(), ElementsAre("GPU_0", "GPU_1"));
  EXPECT_GT(left_out_[BmcOmission::kNoMember], 0u);
  EXPECT_THAT(lines_, Contains(HasSubstr("HGX_ProcessorPortMetrics_0 does not say what its values are; links are "
                                         "not served")));
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
