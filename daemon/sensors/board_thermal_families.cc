// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "daemon/sensors/sensor_families.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

using mailbox::PowerSource;
using mailbox::TempSensor;
using mailbox::ThermParam;

// Without T.Limit, which is a margin.
constexpr BoardWord<TempSensor> kTempWords[] = {
    {TempSensor::kGpu0, "gpu"},
    {TempSensor::kGpu1, "gpu1"},
    {TempSensor::kBoard, "board"},
    {TempSensor::kMemory, "memory"},
    {TempSensor::kPowerSupply, "power_supply"},
};
static_assert(std::size(kTempWords) + 1 == std::size(mailbox::kTempSensors));

constexpr BoardWord<ThermParam> kThresholdWords[] = {
    {ThermParam::kTarget, "target"},
    {ThermParam::kSlowdown, "hardware_slowdown"},
    {ThermParam::kShutdown, "shutdown"},
    {ThermParam::kMemorySlowdown, "memory_slowdown"},
    {ThermParam::kSoftwareSlowdown, "software_slowdown"},
    {ThermParam::kTargetTLimit, "target_margin"},
    {ThermParam::kSlowdownTLimit, "hardware_slowdown_margin"},
    {ThermParam::kShutdownTLimit, "shutdown_margin"},
    {ThermParam::kMemorySlowdownTLimit, "memory_slowdown_margin"},
    {ThermParam::kSoftwareSlowdownTLimit, "software_slowdown_margin"},
};
static_assert(std::size(kThresholdWords) == std::size(mailbox::kThermParams));

// Without the source whose meaning is not public.
constexpr BoardWord<PowerSource> kPowerWords[] = {
    {PowerSource::kTotal, "total"},
    {PowerSource::kMemory, "memory"},
    {PowerSource::kModule, "module"},
};
static_assert(std::size(kPowerWords) + 1 == std::size(mailbox::kPowerSources));

void WriteTemperature(BoardSeries& out) {
  for (const auto& [sensor, word] : kTempWords) {
    out.Gauge({{"sensor", word}}, Find(out.reading().temperature.celsius, sensor));
  }
}

void WriteMargin(BoardSeries& out) { out.Gauge({{"sensor", "gpu"}}, out.reading().margin.celsius); }

void WriteThreshold(BoardSeries& out) {
  for (const auto& [param, word] : kThresholdWords) {
    out.Gauge({{"kind", word}}, Find(out.reading().thresholds.celsius, param));
  }
}

void WritePower(BoardSeries& out) {
  for (const auto& [source, word] : kPowerWords) {
    out.Gauge({{"sensor", word}}, Find(out.reading().power.watts, source));
  }
}

void WriteEnergy(BoardSeries& out) {
  for (const auto& [source, word] : kPowerWords) {
    out.MilliCount({{"sensor", word}}, Find(out.reading().energy.millijoules, source));
  }
}

void WritePowerLimit(BoardSeries& out) {
  for (const auto& [source, word] : kPowerWords) {
    const auto limits = Find(out.reading().power_limits.limits, source);
    if (!limits) continue;
    out.Gauge({{"kind", "current"}, {"sensor", word}}, limits->current);
    out.Gauge({{"kind", "minimum"}, {"sensor", word}}, limits->minimum);
    out.Gauge({{"kind", "maximum"}, {"sensor", word}}, limits->maximum);
    out.Gauge({{"kind", "default"}, {"sensor", word}}, limits->standard);
  }
}

constexpr BoardFamilyRow kThermalFamilies[] = {
    {"sideband_energy_joules_total", MetricType::kCounter, BoardGroup::kEnergy, "Energy that the board has used.",
     WriteEnergy},
    {"sideband_power_limit_watts", MetricType::kGauge, BoardGroup::kPowerLimits,
     "Limit of the board's power in force, and the range and the default of such a limit.", WritePowerLimit},
    {"sideband_power_watts", MetricType::kGauge, BoardGroup::kPower, "Power that the board uses.", WritePower},
    {"sideband_temperature_celsius", MetricType::kGauge, BoardGroup::kTemperature,
     "Temperature at a sensor of the board.", WriteTemperature},
    {"sideband_temperature_margin_celsius", MetricType::kGauge, BoardGroup::kMargin,
     "How far the temperature is below the limit at which the board slows down.", WriteMargin},
    {"sideband_temperature_threshold_celsius", MetricType::kGauge, BoardGroup::kThresholds,
     "Temperature at which the board acts, or, of a kind with _margin, the margin at which it does.", WriteThreshold},
};

}  // namespace

std::span<const BoardFamilyRow> BoardThermalFamilies() { return kThermalFamilies; }

}  // namespace sideband::daemon
