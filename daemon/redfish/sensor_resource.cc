// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/sensor_resource.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "daemon/redfish/identifiers.h"
#include "daemon/sensors/sensor_families.h"

namespace sideband::daemon {
namespace {

using sideband::v1::DeviceSensors;
using sideband::v1::Sensor;

constexpr char kRatio[] = "_ratio";

constexpr SensorUnit kUnits[] = {
    {"_celsius", "Cel", "Temperature"},     {"_watts", "W", "Power"},        {"_joules_total", "J", "EnergyJoules"},
    {"_hertz", "Hz", "Frequency"},          {kRatio, "%", "Percent"},        {"_bits_per_second", "bit/s", nullptr},
    {"_bytes_per_second", "By/s", nullptr}, {"_bytes_total", "By", nullptr}, {"_bytes", "By", nullptr},
};

constexpr absl::string_view kPower = "sideband_power_watts";
constexpr absl::string_view kTemperature = "sideband_temperature_celsius";
// It decreases towards the limit.
constexpr absl::string_view kMargin = "sideband_temperature_margin_celsius";

// Limits and thresholds: what is set, not what is measured.
constexpr absl::string_view kPowerLimit = "sideband_power_limit_watts";
constexpr absl::string_view kThreshold = "sideband_temperature_threshold_celsius";
constexpr absl::string_view kSettings[] = {kPowerLimit, kThreshold};

// A threshold of a Sensor. Software lowers the clocks first, then the hardware does, and at last the board ends.
struct ThresholdRow {
  absl::string_view family, sensor;  // of the Sensor; an empty `sensor` stands for all
  const char* property;
  absl::string_view limit, kind;  // of the setting; where it has a label `sensor`, it is the Sensor's
};
constexpr ThresholdRow kThresholds[] = {
    {kPower, "", "UpperCaution", kPowerLimit, "current"},
    {kTemperature, "gpu", "UpperCaution", kThreshold, "software_slowdown"},
    {kTemperature, "gpu", "UpperCritical", kThreshold, "hardware_slowdown"},
    {kTemperature, "gpu", "UpperFatal", kThreshold, "shutdown"},
    {kTemperature, "memory", "UpperCritical", kThreshold, "memory_slowdown"},
    {kMargin, "gpu", "LowerCaution", kThreshold, "software_slowdown_margin"},
    {kMargin, "gpu", "LowerCritical", kThreshold, "hardware_slowdown_margin"},
    {kMargin, "gpu", "LowerFatal", kThreshold, "shutdown_margin"},
};

struct PhysicalRow {
  const char* word;  // the value of a label
  const char* context;
};
constexpr PhysicalRow kPhysical[] = {
    {"gpu", "GPU"},       {"gpu1", "GPU"},          {"graphics", "GPU"},
    {"memory", "Memory"}, {"board", "SystemBoard"}, {"power_supply", "PowerSupply"},
};

const char* PhysicalContextOf(const Sensor& sensor) {
  for (const auto& label : sensor.labels()) {
    const auto found = std::ranges::find(kPhysical, label.value(), &PhysicalRow::word);
    if (found != std::end(kPhysical)) return found->context;
  }
  return nullptr;
}

// Of a clock, its range has readings beside the current one.
bool IsMeasured(const Sensor& sensor) {
  return std::ranges::all_of(sensor.labels(),
                             [](const auto& label) { return label.name() != "kind" || label.value() == "current"; });
}

bool IsLimitOf(const ThresholdRow& row, const Sensor& limit, absl::string_view sensor) {
  if (limit.name() != row.limit || LabelOf(limit, "kind") != row.kind) return false;
  const absl::string_view of = LabelOf(limit, "sensor");
  return of.empty() || of == sensor;
}

// Empty where the caller sees none.
nlohmann::json ThresholdsOf(const DeviceSensors& device, const Sensor& sensor) {
  const absl::string_view word = LabelOf(sensor, "sensor");
  nlohmann::json thresholds = nlohmann::json::object();
  for (const ThresholdRow& row : kThresholds) {
    if (row.family != sensor.name() || (!row.sensor.empty() && row.sensor != word)) continue;
    for (const Sensor& limit : device.sensors()) {
      if (IsLimitOf(row, limit, word)) thresholds[row.property] = {{"Reading", limit.value()}};
    }
  }
  return thresholds;
}

std::string IdOf(const Sensor& sensor) {
  std::string id = SensorMetricId(sensor.name());
  for (const auto& label : sensor.labels()) {
    if (label.name() != "kind") absl::StrAppend(&id, "_", RedfishId(label.value()));
  }
  return id;
}

std::string HelpOf(const Sensor& sensor) {
  const auto family = std::ranges::find(SensorFamilies(), sensor.name(), &SensorFamily::name);
  return family == SensorFamilies().end() ? "" : family->help;
}

}  // namespace

absl::string_view LabelOf(const Sensor& sensor, absl::string_view name) {
  const auto label = std::ranges::find_if(sensor.labels(), [&](const auto& one) { return one.name() == name; });
  return label == sensor.labels().end() ? absl::string_view() : label->value();
}

const SensorUnit* SensorUnitOf(absl::string_view family) {
  const auto found =
      std::ranges::find_if(kUnits, [&](const SensorUnit& unit) { return absl::EndsWith(family, unit.suffix); });
  return found == std::end(kUnits) ? nullptr : &*found;
}

std::string SensorMetricId(absl::string_view family) {
  const SensorUnit* unit = SensorUnitOf(family);
  absl::string_view id = absl::StripPrefix(family, "sideband_");
  if (unit != nullptr && unit->reading != nullptr) id = absl::StripSuffix(id, unit->suffix);
  return RedfishId(id);
}

double ValueInRedfish(const Sensor& sensor) {
  if (!absl::EndsWith(sensor.name(), kRatio)) return sensor.value();
  // 100 times 0.07 is 7, not 7.000000000000001.
  double percent = 0;
  return absl::SimpleAtod(absl::StrFormat("%.15g", 100 * sensor.value()), &percent) ? percent : sensor.value();
}

std::string ReadingTimeOf(const DeviceSensors& device, const Sensor& sensor) {
  const auto group =
      std::ranges::find_if(device.groups(), [&](const auto& one) { return one.name() == sensor.group(); });
  return group == device.groups().end() ? "" : RedfishTime(group->host_time());
}

std::optional<RedfishReading> RedfishReadingOf(const Sensor& sensor) {
  const SensorUnit* unit = SensorUnitOf(sensor.name());
  if (unit == nullptr || unit->reading == nullptr || !IsMeasured(sensor)) return std::nullopt;
  if (std::ranges::find(kSettings, sensor.name()) != std::end(kSettings)) return std::nullopt;
  return RedfishReading{IdOf(sensor), unit->reading, unit->ucum, sensor.name() == kMargin};
}

nlohmann::json SensorJson(const DeviceSensors& device, const Sensor& sensor, const RedfishReading& reading) {
  nlohmann::json resource = {{"@odata.id", SensorUri(device.device(), reading.id)},
                             {"@odata.type", "#Sensor.v1_7_0.Sensor"},
                             {"Id", reading.id},
                             {"Name", absl::StrReplaceAll(reading.id, {{"_", " "}})},
                             {"Description", HelpOf(sensor)},
                             {"ReadingType", reading.type},
                             {"ReadingUnits", reading.units},
                             {"ReadingBasis", reading.is_headroom ? "Headroom" : "Zero"},
                             {"Reading", ValueInRedfish(sensor)},
                             {"ReadingTime", ReadingTimeOf(device, sensor)},
                             {"Implementation", "Reported"},
                             {"Status", {{"State", "Enabled"}}}};
  if (const char* context = PhysicalContextOf(sensor)) resource["PhysicalContext"] = context;
  // Since when energy is counted.
  if (sensor.has_created()) resource["SensorResetTime"] = RedfishTime(sensor.created());
  if (nlohmann::json thresholds = ThresholdsOf(device, sensor); !thresholds.empty()) {
    resource["Thresholds"] = std::move(thresholds);
  }
  return resource;
}

}  // namespace sideband::daemon
