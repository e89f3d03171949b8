// SPDX-License-Identifier: Apache-2.0
#include "daemon/sensors/sensor_families.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

// Calls write(item, word) for each row that has a word.
template <typename Row, size_t kRows, typename Write>
void ForEachWord(const Row (&rows)[kRows], const Write& write) {
  for (const auto& [item, name, word, capability] : rows) {
    if (word != nullptr) write(item, word);
  }
}

void WriteTemperature(BoardSeries& out) {
  ForEachWord(mailbox::kTempSensors, [&](auto sensor, const char* word) {
    out.Gauge({{"sensor", word}}, Find(out.reading().temperature.celsius, sensor));
  });
}

void WriteMargin(BoardSeries& out) { out.Gauge({{"sensor", "gpu"}}, out.reading().margin.celsius); }

void WriteThreshold(BoardSeries& out) {
  ForEachWord(mailbox::kThermParams, [&](auto param, const char* word) {
    out.Gauge({{"kind", word}}, Find(out.reading().thresholds.celsius, param));
  });
}

void WritePower(BoardSeries& out) {
  ForEachWord(mailbox::kPowerSources, [&](auto source, const char* word) {
    out.Gauge({{"sensor", word}}, Find(out.reading().power.watts, source));
  });
}

void WriteEnergy(BoardSeries& out) {
  ForEachWord(mailbox::kPowerSources, [&](auto source, const char* word) {
    out.MilliCount({{"sensor", word}}, Find(out.reading().energy.millijoules, source));
  });
}

void WritePowerLimit(BoardSeries& out) {
  ForEachWord(mailbox::kPowerSources, [&](auto source, const char* word) {
    const auto limits = Find(out.reading().power_limits.limits, source);
    if (!limits) return;
    out.Gauge({{"kind", "current"}, {"sensor", word}}, limits->current);
    out.Gauge({{"kind", "minimum"}, {"sensor", word}}, limits->minimum);
    out.Gauge({{"kind", "maximum"}, {"sensor", word}}, limits->maximum);
    out.Gauge({{"kind", "default"}, {"sensor", word}}, limits->standard);
  });
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
