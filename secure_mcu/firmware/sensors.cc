// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/sensors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;

// Bit n is set if SMBPBI defines source n. Temperatures: GPU0, GPU1, board, memory, power supply, margin to the limit.
// Powers: total, SMBPBI's own, memory, module. Energies: GPU, module.
constexpr uint32_t kTemperatures = 0b11110011;
constexpr uint32_t kPowers = 0b1111;
constexpr uint32_t kEnergies = 0b1001;
constexpr uint8_t kGpu = 0;

MailboxStatus CheckSource(uint8_t source, uint32_t known) {
  if (source == kGpu) return MailboxStatus::kSuccess;
  const bool is_known = source < 32 && (known >> source & 1) != 0;
  return is_known ? MailboxStatus::kErrNotSupported : MailboxStatus::kErrArg1;
}

// Saturates: the parameters of a chip file can produce values beyond the range of T.
template <typename T>
T Rounded(double value) {
  constexpr auto kLow = static_cast<double>(std::numeric_limits<T>::min());
  constexpr auto kHigh = static_cast<double>(std::numeric_limits<T>::max());
  if (value <= kLow) return std::numeric_limits<T>::min();
  if (value >= kHigh) return std::numeric_limits<T>::max();
  return static_cast<T>(std::round(value));
}

}  // namespace

Sensors::Sensors(Device& device, PowerModel power) : device_(device), power_(std::move(power)) {}

std::optional<std::vector<uint64_t>> Sensors::Counts() {
  const auto counters = device_.DeviceCounters();
  std::vector<uint64_t> counts(counters.begin(), counters.end());
  const auto block = device_.BlockCounters(mailbox::kHypervisorVm, mailbox::kNoContext);
  if (!block) return counts;
  for (const RotatedCount& rotated : block->rotated) {
    if (rotated.is_unknown() && power_.Uses(rotated.event)) return std::nullopt;
    counts[rotated.event] = std::max(counts[rotated.event], rotated.estimate);
  }
  return counts;
}

bool Sensors::Update() {
  const auto counts = Counts();
  if (counts) power_.Update(*counts, device_.ReferenceTimeNs());
  return counts.has_value();
}

Reply Sensors::GetTemperature(uint8_t sensor, bool with_fraction) {
  const MailboxStatus status = CheckSource(sensor, kTemperatures);
  if (status != MailboxStatus::kSuccess) return Fail(status);
  if (!Update()) return Fail(MailboxStatus::kErrNotAvailable);
  const auto fixed = Rounded<int32_t>(power_.temperature_c() * 256);
  // GET_TEMP has the format of GET_EXT_TEMP, s24.8, without its fraction.
  return {.data = static_cast<uint32_t>(with_fraction ? fixed : fixed & ~0xFF)};
}

Reply Sensors::GetPower(uint8_t source) {
  const MailboxStatus status = CheckSource(source, kPowers);
  if (status != MailboxStatus::kSuccess) return Fail(status);
  if (!Update()) return Fail(MailboxStatus::kErrNotAvailable);
  return {.data = Rounded<uint32_t>(power_.power_mw())};
}

Reply Sensors::GetEnergy(uint8_t source) {
  const MailboxStatus status = CheckSource(source, kEnergies);
  if (status != MailboxStatus::kSuccess) return Fail(status);
  const auto energy_mj = EnergyMj();
  if (!energy_mj) return Fail(MailboxStatus::kErrNotAvailable);
  return {.data = static_cast<uint32_t>(*energy_mj), .extended_data = static_cast<uint32_t>(*energy_mj >> 32)};
}

std::optional<uint64_t> Sensors::EnergyMj() {
  const auto counts = Counts();
  if (!counts) return std::nullopt;
  return Rounded<uint64_t>(power_.EnergyMj(*counts, device_.ReferenceTimeNs()));
}

}  // namespace sideband::mcu
