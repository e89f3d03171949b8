// SPDX-License-Identifier: Apache-2.0
//
// One answer of a BMC among good ones. What is asked is a path of the BMC, within the budget; GPUs have plain names;
// what is published is finite, has a time that is not ahead, and fits a front end.
//   Input: a first byte that selects the answer, modulo 16; then its body.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "daemon/bmc/bmc_reader.h"
#include "daemon/bmc/bmc_values.h"
#include "daemon/board/sensor_families.h"
#include "proto/mailbox/memory_links.h"
#include "proto/mailbox/services.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

using daemon::BmcAnswer;
using daemon::BmcRequest;
using daemon::BoardTime;

constexpr size_t kAnswers = 16;
constexpr int kRequests = 40;
constexpr char kEntries[] = "/redfish/v1/Entries";

const std::map<std::string, std::string>& GoodAnswers() {
  static const auto& answers = *new std::map<std::string, std::string>{
      {"/redfish/v1", R"({"Product": "Tray", "Systems": {"@odata.id": "/redfish/v1/Systems"}})"},
      {"/redfish/v1/Systems", R"({"Members": [{"@odata.id": "/redfish/v1/Systems/HGX_Baseboard_0"}]})"},
      {"/redfish/v1/Systems/HGX_Baseboard_0/Processors",
       R"({"Members": [{"@odata.id": "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_0"}]})"},
      {"/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_0",
       R"({"Model": "G", "UUID": "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e001", "Status": {"State": "Enabled"}})"},
      {"/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_0/ProcessorMetrics",
       R"({"Oem": {"Nvidia": {"SMActivityPercent": 1.5, "ThrottleReasons": ["NA"]}}, "OperatingSpeedMHz": 345})"},
      {"/redfish/v1/TelemetryService/MetricReports",
       R"({"Members": [{"@odata.id": "/redfish/v1/TelemetryService/MetricReports/HGX_PlatformEnvironmentMetrics_0"}]})"},
      {"/redfish/v1/TelemetryService/MetricReports/HGX_PlatformEnvironmentMetrics_0",
       R"({"MetricValues": [{"MetricProperty": "/redfish/v1/Chassis/HGX_GPU_0/Sensors/HGX_GPU_0_TEMP_0",
           "MetricValue": "32.5", "Timestamp": "2026-06-29T08:05:27.513+00:00"},
           {"MetricProperty": "/redfish/v1/Systems/S/Processors/GPU_0/Ports/NVLink_3/Metrics#/TXBytes",
           "MetricValue": "5"}]})"},
      {"/redfish/v1/Chassis/HGX_GPU_0/LogServices/XID", R"({"Entries": {"@odata.id": "/redfish/v1/Entries"}})"},
      {kEntries, R"({"Members": [{"Id": "1", "MessageArgs": ["GPU_0", "[0][1][0] XID 79 lost"]}]})"}};
  return answers;
}

// The log has another entry at each request.
BmcAnswer GoodAnswer(const BmcRequest& request, size_t asked) {
  if (request.method == BmcRequest::Method::kLogIn) return {.status = {}, .code = 201, .body = {}, .retry_after = {}};
  const auto found = GoodAnswers().find(std::string(absl::StripSuffix(request.target, "/")));
  if (found == GoodAnswers().end()) return {.status = {}, .code = 404, .body = {}, .retry_after = {}};
  std::string body = found->second;
  if (found->first == kEntries) body = absl::StrReplaceAll(body, {{R"("1")", absl::StrCat("\"", asked, "\"")}});
  return {.status = {}, .code = 200, .body = std::move(body), .retry_after = {}};
}

// Takes samples as a front end does.
class CheckedSeries final : public daemon::BoardSeries {
 public:
  using BoardSeries::BoardSeries;

 private:
  void TakeGauge(daemon::SensorLabels labels, double value) override {
    FUZZ_CHECK(std::isfinite(value));
    for (const auto& [name, text] : labels) FUZZ_CHECK(!name.empty() && !text.empty());
  }
  void TakeCount(daemon::SensorLabels, const daemon::RunningCount& count, uint32_t) override {
    FUZZ_CHECK(count.created > absl::UnixEpoch());
  }
};

void CheckLog(const std::string& body) {
  const auto log = daemon::ParseLog(body);
  if (!log.ok()) return;
  for (const daemon::BmcLogEntry& entry : log->entries) {
    const auto xid = daemon::ParseXid(entry.text);
    FUZZ_CHECK(xid.has_value() || entry.text.empty());
    if (!xid) continue;
    FUZZ_CHECK(xid->text.size() < mailbox::DriverEvent::kTextBytesMax);
    FUZZ_CHECK(std::ranges::all_of(xid->text, [](char c) { return absl::ascii_isprint(c); }));
  }
}

void CheckReading(const daemon::BoardReading& reading, const BoardTime& now) {
  for (const auto& [group, time] : reading.samples) FUZZ_CHECK(time.steady <= now.steady);
  FUZZ_CHECK(reading.nvlink.links.size() <= mailbox::kNvlinksMax);
  const daemon::BoardPart whole = daemon::BoardPart::Whole();
  const daemon::BoardSight sight{.reading = reading, .part = whole, .now = now.steady};
  CheckedSeries series(sight);
  for (const daemon::SensorFamily& family : daemon::SensorFamilies()) family.write(series);
}

std::vector<Bytes> Seeds() {
  std::vector<Bytes> seeds;
  // All prefixes of each are run.
  for (size_t answer = 0; answer < kAnswers; answer += 4) {
    for (const auto& [path, body] : GoodAnswers()) {
      Bytes seed(body.begin(), body.end());
      seed.insert(seed.begin(), static_cast<uint8_t>(answer));
      seeds.push_back(std::move(seed));
    }
  }
  return seeds;
}

int RunInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t chosen = data[0] % kAnswers;
  const std::string body(data + 1, data + size);
  CheckLog(body);
  daemon::BmcEvents events{
      .log = [](const std::string& line,
                bool) { FUZZ_CHECK(std::ranges::all_of(line, [](char c) { return absl::ascii_isprint(c); })); },
      .requested = [](absl::string_view) {},
      .logged_in = [] {},
      .left_out = [](daemon::BmcOmission, size_t) {},
      .period = [](daemon::BmcTopic, absl::Duration) {},
      .state = [](daemon::BmcState) {}};
  daemon::BmcReader reader({.has_links = true}, std::move(events), [] { return 0.5; });
  BoardTime now{.steady = absl::Hours(1), .wall = absl::FromUnixSeconds(1'800'000'000)};
  for (size_t asked = 0; asked < kRequests; ++asked) {
    while (reader.NextTime(now.steady) > now.steady) {
      const absl::Duration wait = reader.NextTime(now.steady) - now.steady;
      FUZZ_CHECK(wait < absl::Hours(2));
      now = {.steady = now.steady + wait, .wall = now.wall + wait};
    }
    const auto request = reader.Next(now);
    FUZZ_CHECK(request.has_value());
    FUZZ_CHECK(absl::StartsWith(request->target, "/") && !absl::StartsWith(request->target, "//"));
    FUZZ_CHECK(std::ranges::all_of(request->target, [](char c) { return absl::ascii_isgraph(c); }));
    BmcAnswer answer = GoodAnswer(*request, asked);
    if (asked == chosen) answer = {.status = {}, .code = 200, .body = body, .retry_after = {}};
    reader.Take(answer, now);
    for (const std::string& gpu : reader.TakeChanged()) CheckReading(*reader.Reading(gpu, now), now);
  }
  return 0;
}

FUZZ_TARGET(bmc_fuzz);

}  // namespace
}  // namespace sideband::fuzz
