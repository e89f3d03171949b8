// SPDX-License-Identifier: Apache-2.0
#include "daemon/clocks/line_book.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/numeric/int128.h"

namespace sideband::daemon {
namespace {

constexpr uint64_t kBillion = 1'000'000'000;
constexpr double kMillion = 1e6;
constexpr size_t kPulsesKept = 8;
// 73 years: differences of such times are far from the limits of their type.
constexpr uint64_t kTimeMaxNs = uint64_t{1} << 61;

uint64_t TimeOfCycle(uint64_t cycle, uint64_t hertz) {
  return absl::Uint128Low64(std::min<absl::uint128>(absl::uint128(cycle) * kBillion / hertz, kTimeMaxNs + 1));
}

}  // namespace

LineBook::Delay LineBook::DelayOf(const ClockSettings& settings, uint64_t reference_hz) {
  const double rate = settings.host_ppm_max / kMillion;
  const double cycle_ns = static_cast<double>(kBillion) / static_cast<double>(reference_hz);
  const double least = absl::ToDoubleNanoseconds(settings.line.wire_min) * (1 - rate);
  const double most = absl::ToDoubleNanoseconds(settings.line.wire_max) * (1 + rate) + cycle_ns;
  return {static_cast<int64_t>(std::floor(least)), static_cast<int64_t>(std::ceil(most))};
}

void LineBook::AddPulse(const LatchedPulse& latch, double ppm_max, Device& device) {
  const HostInstant& latched = latch.latched;
  device.known_to = latched.raw - latched.error;
  if (!latch.pulse) return;
  const uint64_t number = latch.pulse->pulses;
  if (!device.pulses.empty() && device.pulses.back().number == number) return;
  const uint64_t time_ns = TimeOfCycle(latch.pulse->reference_cycle, latch.reference_hz);
  if (time_ns > std::min(latch.reference_time_ns, kTimeMaxNs)) return device.pulses.clear();
  // What was before is of no use where pulses in between are missing.
  if (!device.pulses.empty() && device.pulses.back().number + 1 != number) device.pulses.clear();
  const absl::Duration since = absl::Nanoseconds(static_cast<int64_t>(latch.reference_time_ns - time_ns));
  const absl::Duration error = latched.error + since * (ppm_max / kMillion) + absl::Nanoseconds(2);
  const absl::Duration middle = latched.raw - since;
  device.pulses.push_back({number, latch.pulse->is_own, time_ns, {middle - error, middle + error}});
  if (device.pulses.size() > kPulsesKept) device.pulses.pop_front();
}

const LineBook::Pulse* LineBook::SentAt(const Interval& at, const Device& device) {
  if (device.pulses.empty() || at.high >= device.known_to) return nullptr;
  // Another one may have been just before the first that is known, unless there was none.
  const Pulse& first = device.pulses.front();
  if (first.number != 1 && first.at.high >= at.low) return nullptr;
  const auto may_be = [&](const Pulse& pulse) { return pulse.at.Overlaps(at); };
  if (std::ranges::count_if(device.pulses, may_be) != 1) return nullptr;
  const Pulse& found = *std::ranges::find_if(device.pulses, may_be);
  return found.is_own ? &found : nullptr;
}

std::string LineBook::SenderOf(const Pulse& pulse, const std::string& line) const {
  std::string sender;
  for (const auto& [name, device] : devices_) {
    if (device.line != line || SentAt(pulse.at, device) == nullptr) continue;
    if (!sender.empty()) return "";
    sender = name;
  }
  return sender;
}

void LineBook::Join(const Pulse& pulse, const std::string& sender, const Delay& delay, Device& device) const {
  const Device& driver = devices_.at(sender);
  const Pulse& sent = *SentAt(pulse.at, driver);
  // Both times are rounded down.
  const auto apart = static_cast<int64_t>(pulse.time_ns) - static_cast<int64_t>(sent.time_ns);
  const Pair found{.driver = sender,
                   .driver_boot_id = driver.boot_id,
                   .number = pulse.number,
                   .time_ns = pulse.time_ns,
                   .driver_time_ns = sent.time_ns,
                   .offset_low_ns = apart - delay.max_ns - 1,
                   .offset_high_ns = apart - delay.min_ns + 1};
  const std::optional<Pair> before = std::exchange(device.pair, found);
  device.rate.reset();
  if (!before || before->driver != sender || before->driver_boot_id != driver.boot_id) return;
  if (sent.time_ns <= before->driver_time_ns) return;
  const auto time = static_cast<double>(sent.time_ns - before->driver_time_ns);
  device.rate = {
      .lower_ppm = static_cast<double>(found.offset_low_ns - before->offset_high_ns) / time * kMillion,
      .upper_ppm = static_cast<double>(found.offset_high_ns - before->offset_low_ns) / time * kMillion,
  };
}

void LineBook::ForgetBefore(absl::Duration raw) {
  std::erase_if(devices_, [&](const auto& entry) { return entry.second.known_to < raw; });
}

std::optional<LineOffset> LineBook::Note(const std::string& name, const ClockSettings& settings,
                                         const LatchedPulse& latch) {
  absl::MutexLock lock(&mu_);
  if (settings.line.name.empty() || latch.reference_hz == 0) {
    devices_.erase(name);
    return std::nullopt;
  }
  ForgetBefore(latch.latched.raw - kFreshFor);
  Device& device = devices_[name];
  if (device.line != settings.line.name || device.boot_id != latch.boot_id) {
    device = {.line = settings.line.name, .boot_id = latch.boot_id};
  }
  AddPulse(latch, settings.host_ppm_max, device);
  const Delay delay = DelayOf(settings, latch.reference_hz);
  for (const Pulse& pulse : device.pulses) {
    if (pulse.is_own || (device.pair && pulse.number <= device.pair->number)) continue;
    const std::string sender = SenderOf(pulse, device.line);
    if (!sender.empty()) Join(pulse, sender, delay, device);
  }
  if (!device.pair || device.pulses.empty() || device.pulses.back().is_own) return std::nullopt;
  const Pair& pair = *device.pair;
  const bool is_fresh =
      latch.reference_time_ns >= pair.time_ns &&
      latch.reference_time_ns - pair.time_ns <= static_cast<uint64_t>(absl::ToInt64Nanoseconds(kFreshFor));
  if (!is_fresh) return std::nullopt;
  return LineOffset{.driver = pair.driver,
                    .offset_ns = pair.offset_low_ns + (pair.offset_high_ns - pair.offset_low_ns) / 2,
                    .error_ns = static_cast<uint64_t>(pair.offset_high_ns - pair.offset_low_ns + 1) / 2,
                    .rate = device.rate};
}

}  // namespace sideband::daemon
