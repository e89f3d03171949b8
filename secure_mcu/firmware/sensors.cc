// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/sensors.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::PowerSource;
using mailbox::TempSensor;
using mailbox::ThermParam;

// Saturates: the parameters of a chip file can produce values beyond the range of T.
template <typename T>
T Rounded(double value) {
  constexpr auto kLow = static_cast<double>(std::numeric_limits<T>::min());
  constexpr auto kHigh = static_cast<double>(std::numeric_limits<T>::max());
  if (value <= kLow) return std::numeric_limits<T>::min();
  if (value >= kHigh) return std::numeric_limits<T>::max();
  return static_cast<T>(std::round(value));
}

uint32_t Fixed(double degrees) { return static_cast<uint32_t>(Rounded<int32_t>(degrees * 256)); }

bool IsDefined(TempSensor sensor) {
  return std::ranges::find(mailbox::kTempSensors, sensor, &mailbox::TempRow::sensor) != std::end(mailbox::kTempSensors);
}

Reply Lacking(bool is_defined) { return Fail(is_defined ? MailboxStatus::kErrNotSupported : MailboxStatus::kErrArg1); }

double DegreesOf(const BoardRails& rails, TempSensor sensor, const BoardSpec& spec) {
  if (sensor == TempSensor::kMemory) return rails.memory->temperature_c();
  const double gpu_c = rails.total.temperature_c();
  return sensor == TempSensor::kTLimit ? spec.thermal->slowdown_c - gpu_c : gpu_c;
}

double ThresholdOf(const ThermalLimits& limits, ThermParam param) {
  switch (param) {
    case ThermParam::kTarget:
      return limits.target_c;
    case ThermParam::kSlowdown:
      return limits.slowdown_c;
    case ThermParam::kShutdown:
      return limits.shutdown_c;
    case ThermParam::kMemorySlowdown:
      return limits.memory_slowdown_c;
    case ThermParam::kSoftwareSlowdown:
      return limits.software_slowdown_c;
    case ThermParam::kTargetTLimit:
      return limits.slowdown_c - limits.target_c;
    case ThermParam::kSlowdownTLimit:
      return 0;
    case ThermParam::kShutdownTLimit:
      return limits.slowdown_c - limits.shutdown_c;
    case ThermParam::kMemorySlowdownTLimit:
      return limits.slowdown_c - limits.memory_slowdown_c;
    case ThermParam::kSoftwareSlowdownTLimit:
      return limits.slowdown_c - limits.software_slowdown_c;
  }
  return 0;
}

bool IsOfMemory(ThermParam param) {
  return param == ThermParam::kMemorySlowdown || param == ThermParam::kMemorySlowdownTLimit;
}

}  // namespace

bool Sensors::HasTemperature(TempSensor sensor) const {
  switch (sensor) {
    case TempSensor::kGpu0:
      return true;
    case TempSensor::kMemory:
      return board_.spec.memory.has_value();
    case TempSensor::kTLimit:
      return board_.spec.thermal.has_value();
    case TempSensor::kGpu1:
    case TempSensor::kBoard:
    case TempSensor::kPowerSupply:
      break;
  }
  return false;
}

Reply Sensors::GetTemperature(uint8_t number, bool with_fraction) {
  const auto sensor = static_cast<TempSensor>(number);
  if (!HasTemperature(sensor)) return Lacking(IsDefined(sensor));
  const BoardRails* const rails = board_.physics.Rails(complement_.temperature);
  if (rails == nullptr) return Fail(MailboxStatus::kErrNotAvailable);
  const uint32_t fixed = Fixed(DegreesOf(*rails, sensor, board_.spec));
  // GET_TEMP has the format of GET_EXT_TEMP, s24.8, without its fraction.
  return {.data = with_fraction ? fixed : fixed & ~uint32_t{0xFF}};
}

Reply Sensors::GetThermParam(uint8_t param) const {
  if (param >= std::size(mailbox::kThermParams)) return Fail(MailboxStatus::kErrArg1);
  const auto& limits = board_.spec.thermal;
  const bool has_sensor = !IsOfMemory(static_cast<ThermParam>(param)) || board_.spec.memory;
  if (!limits || !has_sensor) return Fail(MailboxStatus::kErrNotSupported);
  return {.data = Fixed(ThresholdOf(*limits, static_cast<ThermParam>(param)))};
}

bool Sensors::HasPower(PowerSource source) const {
  switch (source) {
    case PowerSource::kTotal:
      return true;
    case PowerSource::kMemory:
      return board_.spec.memory.has_value();
    case PowerSource::kModule:
      return board_.spec.module_overhead_mw.has_value();
    case PowerSource::kSmbpbi:
      break;  // its meaning is not public
  }
  return false;
}

Reply Sensors::GetPower(uint8_t number) {
  const auto source = static_cast<PowerSource>(number);
  if (!HasPower(source)) return Lacking(number < std::size(mailbox::kPowerSources));
  const BoardRails* const rails = board_.physics.Rails(complement_.power);
  if (rails == nullptr) return Fail(MailboxStatus::kErrNotAvailable);
  const PowerModel& rail = source == PowerSource::kMemory ? *rails->memory : rails->total;
  const double beyond_mw = source == PowerSource::kModule ? ModuleOverheadMw() : 0;
  return {.data = Rounded<uint32_t>(rail.power_mw() + beyond_mw)};
}

Reply Sensors::GetEnergy(uint8_t number) {
  const auto source = static_cast<PowerSource>(number);
  const bool is_module = source == PowerSource::kModule;
  if (source != PowerSource::kTotal && !is_module) return Fail(MailboxStatus::kErrArg1);
  if (!HasPower(source)) return Fail(MailboxStatus::kErrNotSupported);
  const auto energy_mj = ExactEnergyMj();
  if (!energy_mj) return Fail(MailboxStatus::kErrNotAvailable);
  const double seconds = static_cast<double>(device_.ReferenceTimeNs()) / 1e9;
  const auto rounded = Rounded<uint64_t>(*energy_mj + (is_module ? ModuleOverheadMw() * seconds : 0));
  return {.data = static_cast<uint32_t>(rounded), .extended_data = static_cast<uint32_t>(rounded >> 32)};
}

std::optional<double> Sensors::ExactEnergyMj() {
  const auto counts = board_.physics.Counts(complement_.energy);
  if (!counts) return std::nullopt;
  const BoardRails* const rails = board_.physics.Rails(complement_.energy);
  return rails->total.EnergyMj(*counts, device_.ReferenceTimeNs());
}

std::optional<uint64_t> Sensors::EnergyMj() {
  const auto energy_mj = ExactEnergyMj();
  if (!energy_mj) return std::nullopt;
  return Rounded<uint64_t>(*energy_mj);
}

}  // namespace sideband::mcu
