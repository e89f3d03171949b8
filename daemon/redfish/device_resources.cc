// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/device_resources.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "daemon/board/sensor_families.h"
#include "daemon/redfish/document.h"

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

// A clock has readings of its range beside the current one.
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

using sideband::v1::Device;

constexpr double kMega = 1e6, kMib = 1 << 20, kJoulesPerKwh = 3.6e6;

// Sensors by the names of their families and the values of their labels, in the order in which they have them.
using LabelValues = std::vector<absl::string_view>;

const Sensor* Find(const DeviceSensors& sensors, absl::string_view family, const LabelValues& words) {
  const auto matches = [&](const Sensor& sensor) {
    return sensor.name() == family &&
           std::ranges::equal(sensor.labels(), words, {},
                              [](const auto& label) -> absl::string_view { return label.value(); });
  };
  const auto found = std::ranges::find_if(sensors.sensors(), matches);
  return found == sensors.sensors().end() ? nullptr : &*found;
}

std::optional<double> ValueOf(const DeviceSensors& sensors, absl::string_view family, const LabelValues& words) {
  const Sensor* sensor = Find(sensors, family, words);
  if (sensor == nullptr || !std::isfinite(sensor->value())) return std::nullopt;
  return ValueInRedfish(*sensor);
}

// A whole number of units of `unit`.
void AddWhole(nlohmann::json& resource, const char* property, std::optional<double> value, double unit) {
  if (value) resource[property] = std::llround(*value / unit);
}

// No health: the daemon judges none.
const char* StateOf(const Device& device) {
  return device.state() == Device::STATE_FRESH ? "Enabled" : "UnavailableOffline";
}

struct IdentityRow {
  absl::string_view label;  // of sideband_board_info
  const char* property;
};
constexpr IdentityRow kChassisIdentity[] = {
    {"name", "Model"}, {"part_number", "PartNumber"}, {"serial", "SerialNumber"}};
constexpr IdentityRow kProcessorIdentity[] = {
    {"name", "Model"}, {"gpu_part_number", "PartNumber"}, {"firmware", "FirmwareVersion"}};

void AddIdentity(const DeviceSensors& sensors, std::span<const IdentityRow> rows, nlohmann::json& resource) {
  for (const Sensor& sensor : sensors.sensors()) {
    if (sensor.name() != "sideband_board_info") continue;
    for (const auto& [label, property] : rows) {
      const absl::string_view value = LabelOf(sensor, label);
      if (!value.empty()) resource[property] = std::string(value);
    }
  }
}

struct CauseRow {
  absl::string_view reason;  // of sideband_throttle_active
  const char* cause;
};
// A slowdown by the hardware may be for its temperature or for its power.
constexpr CauseRow kCauses[] = {
    {"software_power_cap", "PowerLimit"},   {"hardware_slowdown", "Unknown"}, {"hardware_thermal", "ThermalLimit"},
    {"hardware_power_brake", "PowerLimit"}, {"sync_boost", "ClockLimit"},     {"software_thermal", "ThermalLimit"},
};

void AddThrottle(const DeviceSensors& sensors, nlohmann::json& processor) {
  bool is_known = false;
  nlohmann::json causes = nlohmann::json::array();
  for (const auto& [reason, cause] : kCauses) {
    const auto is_active = ValueOf(sensors, "sideband_throttle_active", {reason});
    is_known |= is_active.has_value();
    if (is_active.value_or(0) != 0 && std::ranges::find(causes, cause) == causes.end()) causes.push_back(cause);
  }
  if (!is_known) return;
  processor["Throttled"] = !causes.empty();
  processor["ThrottleCauses"] = std::move(causes);
}

void AddMemory(const DeviceSensors& sensors, nlohmann::json& processor) {
  nlohmann::json memory = nlohmann::json::object();
  AddWhole(memory, "TotalMemorySizeMiB", ValueOf(sensors, "sideband_memory_bytes", {"total"}), kMib);
  if (const auto ecc = ValueOf(sensors, "sideband_ecc_enabled", {})) memory["ECCModeEnabled"] = *ecc != 0;
  if (!memory.empty()) processor["MemorySummary"] = std::move(memory);
}

void AddPcie(const DeviceSensors& sensors, nlohmann::json& processor) {
  constexpr int kGenerationMax = 6;  // of PCIeType
  nlohmann::json pcie = nlohmann::json::object();
  const auto generation = ValueOf(sensors, "sideband_pcie_link_generation", {});
  if (generation && *generation >= 1 && *generation <= kGenerationMax) {
    pcie["PCIeType"] = absl::StrCat("Gen", std::llround(*generation));
  }
  AddWhole(pcie, "LanesInUse", ValueOf(sensors, "sideband_pcie_link_width", {}), 1);
  if (!pcie.empty()) processor["SystemInterface"] = {{"InterfaceType", "PCIe"}, {"PCIe", std::move(pcie)}};
}

std::optional<double> GraphicsClock(const DeviceSensors& sensors, absl::string_view kind) {
  return ValueOf(sensors, "sideband_clock_hertz", {"graphics", kind});
}

// An excerpt of a Sensor, in Redfish's words.
std::optional<nlohmann::json> Excerpt(const DeviceSensors& sensors, absl::string_view family, absl::string_view word) {
  const Sensor* sensor = Find(sensors, family, {word});
  const auto reading = sensor == nullptr ? std::nullopt : RedfishReadingOf(*sensor);
  if (!reading || !std::isfinite(sensor->value())) return std::nullopt;
  return nlohmann::json{{"DataSourceUri", SensorUri(sensors.device(), reading->id)}, {"Reading", sensor->value()}};
}

void AddEnergy(const DeviceSensors& sensors, nlohmann::json& metrics) {
  constexpr char kEnergy[] = "sideband_energy_joules_total";
  const auto joules = Excerpt(sensors, kEnergy, "total");
  if (!joules) return;
  metrics["EnergyJoules"] = *joules;
  // Without a source: the Sensor is in joules.
  nlohmann::json& kwh = metrics["EnergykWh"];
  kwh["Reading"] = (*joules)["Reading"].get<double>() / kJoulesPerKwh;
  const Sensor& sensor = *Find(sensors, kEnergy, {"total"});
  if (sensor.has_created()) kwh["SensorResetTime"] = RedfishTime(sensor.created());
}

struct LimitRow {
  absl::string_view kind;
  const char* property;
};
constexpr LimitRow kLimits[] = {{"current", "SetPoint"}, {"minimum", "AllowableMin"}, {"maximum", "AllowableMax"}};

void AddPowerLimit(const DeviceSensors& sensors, nlohmann::json& metrics) {
  for (const auto& [kind, property] : kLimits) {
    const auto watts = ValueOf(sensors, "sideband_power_limit_watts", {kind, "total"});
    if (watts) metrics["PowerLimitWatts"][property] = *watts;
  }
}

struct PcieErrorRow {
  absl::string_view kind;  // of sideband_pcie_link_errors_total
  const char* property;
};
constexpr PcieErrorRow kPcieErrors[] = {
    {"correctable", "CorrectableErrorCount"},
    {"non_fatal", "NonFatalErrorCount"},
    {"fatal", "FatalErrorCount"},
    {"unsupported_request", "UnsupportedRequestCount"},
    {"recovery", "L0ToRecoveryCount"},
    {"nak_received", "NAKReceivedCount"},
    {"replay_rollover", "ReplayRolloverCount"},
    {"nak_sent", "NAKSentCount"},
};

void AddCount(const DeviceSensors& sensors, absl::string_view family, const LabelValues& words, const char* property,
              nlohmann::json& metrics) {
  const Sensor* sensor = Find(sensors, family, words);
  if (sensor != nullptr && sensor->has_count()) metrics["PCIeErrors"][property] = sensor->count();
}

// The resource with the properties that identify it.
nlohmann::json Named(const std::string& uri, const char* id, const char* type, const std::string& device,
                     nlohmann::json resource) {
  resource["@odata.id"] = uri;
  resource["@odata.type"] = type;
  resource["Id"] = id;
  resource["Name"] = absl::StrCat(id, " of ", device);
  return resource;
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

nlohmann::json ChassisJson(const Device& device, const std::optional<DeviceSensors>& sensors) {
  nlohmann::json chassis = {{"@odata.id", MemberUri(kChassisUri, device.name())},
                            {"@odata.type", "#Chassis.v1_15_0.Chassis"},
                            {"Id", RedfishId(device.name())},
                            {"Name", device.name()},
                            {"ChassisType", "Card"},
                            {"Status", {{"State", StateOf(device)}}}};
  chassis["Links"]["Processors"].push_back(LinkTo(MemberUri(kProcessorsUri, device.name())));
  if (!device.uuid().empty()) chassis["UUID"] = device.uuid();
  if (!sensors) return chassis;
  AddIdentity(*sensors, kChassisIdentity, chassis);
  chassis["Sensors"] = LinkTo(SensorsUri(device.name()));
  if (EnvironmentMetricsJson(*sensors)) chassis["EnvironmentMetrics"] = LinkTo(EnvironmentMetricsUri(device.name()));
  return chassis;
}

nlohmann::json ProcessorJson(const Device& device, const DeviceSensors& sensors) {
  nlohmann::json processor = {{"@odata.id", MemberUri(kProcessorsUri, device.name())},
                              {"@odata.type", "#Processor.v1_16_0.Processor"},
                              {"Id", RedfishId(device.name())},
                              {"Name", device.name()},
                              {"ProcessorType", "GPU"},
                              {"Status", {{"State", StateOf(device)}}}};
  processor["Links"]["Chassis"] = LinkTo(MemberUri(kChassisUri, device.name()));
  if (!device.uuid().empty()) processor["UUID"] = device.uuid();
  AddIdentity(sensors, kProcessorIdentity, processor);
  AddWhole(processor, "OperatingSpeedMHz", GraphicsClock(sensors, "current"), kMega);
  AddWhole(processor, "MinSpeedMHz", GraphicsClock(sensors, "minimum"), kMega);
  AddWhole(processor, "MaxSpeedMHz", GraphicsClock(sensors, "maximum"), kMega);
  AddThrottle(sensors, processor);
  AddMemory(sensors, processor);
  AddPcie(sensors, processor);
  if (EnvironmentMetricsJson(sensors)) processor["EnvironmentMetrics"] = LinkTo(EnvironmentMetricsUri(device.name()));
  if (ProcessorMetricsJson(sensors)) processor["Metrics"] = LinkTo(ProcessorMetricsUri(device.name()));
  return processor;
}

std::optional<nlohmann::json> EnvironmentMetricsJson(const DeviceSensors& sensors) {
  nlohmann::json metrics = nlohmann::json::object();
  if (auto celsius = Excerpt(sensors, "sideband_temperature_celsius", "gpu")) metrics["TemperatureCelsius"] = *celsius;
  if (auto watts = Excerpt(sensors, "sideband_power_watts", "total")) metrics["PowerWatts"] = *watts;
  AddEnergy(sensors, metrics);
  AddPowerLimit(sensors, metrics);
  if (metrics.empty()) return std::nullopt;
  return Named(EnvironmentMetricsUri(sensors.device()), "EnvironmentMetrics",
               "#EnvironmentMetrics.v1_3_0.EnvironmentMetrics", sensors.device(), std::move(metrics));
}

std::optional<nlohmann::json> ProcessorMetricsJson(const DeviceSensors& sensors) {
  nlohmann::json metrics = nlohmann::json::object();
  if (auto percent = ValueOf(sensors, "sideband_board_engine_active_ratio", {})) metrics["BandwidthPercent"] = *percent;
  if (auto margin = ValueOf(sensors, "sideband_temperature_margin_celsius", {"gpu"})) {
    metrics["ThrottlingCelsius"] = *margin;
  }
  AddWhole(metrics, "OperatingSpeedMHz", GraphicsClock(sensors, "current"), kMega);
  for (const auto& [kind, property] : kPcieErrors) {
    AddCount(sensors, "sideband_pcie_link_errors_total", {kind}, property, metrics);
  }
  AddCount(sensors, "sideband_pcie_link_replays_total", {}, "ReplayCount", metrics);
  if (metrics.empty()) return std::nullopt;
  return Named(ProcessorMetricsUri(sensors.device()), "ProcessorMetrics", "#ProcessorMetrics.v1_4_0.ProcessorMetrics",
               sensors.device(), std::move(metrics));
}

}  // namespace sideband::daemon
