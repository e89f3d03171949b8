// SPDX-License-Identifier: Apache-2.0
//
// A target of a request for a Redfish resource. Every answer and every error is JSON, but for the metadata; has a
// status of the service; and has no row of another tenant.
//   Input: a first byte that selects the caller, modulo 3; then the target.
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "daemon/board/board_store.h"
#include "daemon/redfish/document.h"
#include "daemon/redfish/public_documents.h"
#include "daemon/redfish/redfish_service.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/sensor_queries.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

using daemon::RedfishTarget;

struct Asker {
  const char* who;
  const char* foreign;  // a name that no answer has
};
constexpr Asker kAskers[] = {{"ops", "\"render\""}, {"tenant-a", "vm1"}, {"tenant-b", "vm0"}};

// A device with counters, and a board that an operator alone sees.
struct Host {
  Host() {
    world.Publish(0, 1);
    daemon::BoardReading reading;
    reading.samples[daemon::BoardGroup::kPower] = {world.clock.Steady(), world.clock.Now()};
    reading.power.watts[mailbox::PowerSource::kTotal] = 250;
    boards.SetSettings(0, {.is_read = true});
    boards.Publish(0, std::make_shared<const daemon::BoardReading>(reading));
  }
  daemon::FakeWorld world;
  daemon::BoardStore boards;
  daemon::SensorQueries sensors{world.reader, boards};
  daemon::RedfishService service{sensors};
};

Host& TheHost() {
  static auto* const host = new Host();
  return *host;
}

absl::StatusOr<daemon::RedfishDocument> Ask(const Asker& asker, absl::string_view text) {
  const absl::StatusOr<RedfishTarget> target = daemon::ParseRedfishTarget(text);
  if (!target.ok()) return target.status();
  if (daemon::IsPublic(*target)) return daemon::PublicDocument(*target);
  Host& host = TheHost();
  return host.service.Get(*host.world.reader.Identify(daemon::CredentialsOf(asker.who)), *target);
}

void CheckError(const absl::Status& status, absl::string_view text) {
  const daemon::RedfishError error = daemon::RedfishErrorOf(status, text);
  FUZZ_CHECK(error.http_status == 400 || error.http_status == 404 || error.http_status == 501);
  FUZZ_CHECK(nlohmann::json::accept(daemon::DocumentOf(error.document).text));
}

Bytes Seed(uint8_t asker, const std::string& target) {
  Bytes seed(target.begin(), target.end());
  seed.insert(seed.begin(), asker);
  return seed;
}

std::vector<Bytes> Seeds() {
  std::vector<Bytes> seeds;
  for (const char* path : {"",
                           "/",
                           "/odata",
                           "/$metadata",
                           "/SessionService/Sessions?$top=1",
                           "/Chassis?$skip=1&$top=1",
                           "/Chassis/gpu0",
                           "/Chassis/gpu0/Sensors",
                           "/Chassis/gpu0/Sensors/power_total",
                           "/TelemetryService/MetricDefinitions/vm.cycles",
                           "/TelemetryService/MetricReportDefinitions/Counters",
                           "/TelemetryService/MetricReports/Counters?only",
                           "/Chassis/gpu0/EnvironmentMetrics",
                           "/JsonSchemas/SidebandTelemetry.v1_0_0",
                           "/Schemas/SidebandTelemetry_v1.xml",
                           "/Schemas/SidebandTelemetry.v1_0_0.json",
                           "/Systems?$expand=.",
                           "/Systems/Host/Processors?$expand=.",
                           "/Systems/Host/Processors/gpu0",
                           "/Systems/Host/Processors/gpu0/ProcessorMetrics",
                           "/Chassis?$expand=.",
                           "/Chassis/gpu0/Sensors?$expand=*($levels=1)&$top=1",
                           "/Chassis?$expand=~($levels=2)",
                           "/Chassis/%67pu%30/%2e%2e"}) {
    for (uint8_t asker = 0; asker < std::size(kAskers); ++asker) {
      seeds.push_back(Seed(asker, absl::StrCat("/redfish/v1", path)));
    }
  }
  return seeds;
}

int RunInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const Asker& asker = kAskers[data[0] % std::size(kAskers)];
  const absl::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto document = Ask(asker, text);
  if (!document.ok()) {
    CheckError(document.status(), text);
    return 0;
  }
  FUZZ_CHECK(!absl::StrContains(document->text, asker.foreign));
  const bool is_json = document->content_type == sideband::daemon::kRedfishJsonType;
  FUZZ_CHECK(!is_json || nlohmann::json::accept(document->text));
  return 0;
}

FUZZ_TARGET(redfish_fuzz);

}  // namespace
}  // namespace sideband::fuzz
