// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/line_book.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/numeric/int128.h"

namespace sideband::daemon {
namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;
constexpr double kWholeInPpm = 1e6;
constexpr size_t kPulsesKept = 8;
// 73 years: differences of such times are far from the limits of their type.
constexpr uint64_t kTimeMaxNs = uint64_t{1} << 61;

uint64_t TimeOfCycle(uint64_t cycle, uint64_t hertz) {
  return absl::Uint128Low64(std::min<absl::uint128>(absl::uint128(cycle) * kNsPerSecond / hertz, kTimeMaxNs + 1));
}

}  // namespace

LineBook::Delay LineBook::DelayOf(const ClockSettings& settings, uint64_t reference_hz) {
  const double rate = settings.host_ppm_max / kWholeInPpm;
  const double cycle_ns = static_cast<double>(kNsPerSecond) / static_cast<double>(reference_hz);
  const double least = absl::ToDoubleNanoseconds(settings.line.wire_min) * (1 - rate);
  const double most = absl::ToDoubleNanoseconds(settings.line.wire_max) * (1 + rate) + cycle_ns;
  return {static_cast<int64_t>(std::floor(least)), static_cast<int64_t>(std::ceil(most))};
}

void LineBook::AddPulse(const LatchedPulse& latch, double ppm_max, Device& device) {
  const HostInstant& latched = latch.latched;
  device.known_to = latched.raw - latched.error;
  const bool is_possible = latch.is_sound && latch.reference_time_ns <= kTimeMaxNs;
  if (!is_possible) device.pulses.clear();
  if (!is_possible || !latch.pulse) return;
  const uint64_t number = latch.pulse->pulses;
  if (!device.pulses.empty() && device.pulses.back().number == number) return;
  const uint64_t time_ns = TimeOfCycle(latch.pulse->reference_cycle, latch.reference_hz);
  if (time_ns > latch.reference_time_ns) return device.pulses.clear();
  // What was before is of no use where pulses in between are missing.
  if (!device.pulses.empty() && device.pulses.back().number + 1 != number) device.pulses.clear();
  const absl::Duration since = absl::Nanoseconds(static_cast<int64_t>(latch.reference_time_ns - time_ns));
  const absl::Duration error = latched.error + since * (ppm_max / kWholeInPpm) + absl::Nanoseconds(2);
  const absl::Duration middle = latched.raw - since;
  device.pulses.push_back({number, latch.pulse->is_own, time_ns, {middle - error, middle + error}});
  if (device.pulses.size() > kPulsesKept) device.pulses.pop_front();
}

LineBook::Interval LineBook::SentAt(const Pulse& seen, const Delay& delay) {
  // By the device's clock, so that its rate is to be added: twice the wire is far beyond.
  return {seen.at.low - absl::Nanoseconds(2 * delay.max_ns), seen.at.high};
}

bool LineBook::IsKnown(const Interval& at, const Device& device) {
  return at.high + absl::Nanoseconds(2 * device.delay.max_ns) < device.known_to;
}

const LineBook::Pulse* LineBook::OnlyPulseAt(const Interval& at, const Device& device) {
  if (device.pulses.empty() || !IsKnown(at, device)) return nullptr;
  // What the device has seen was sent a delay before.
  const Interval seen{at.low, at.high + absl::Nanoseconds(2 * device.delay.max_ns)};
  // Another one may have been just before the first that is known, unless there was none.
  const Pulse& first = device.pulses.front();
  if (first.number != 1 && first.at.high >= seen.low) return nullptr;
  const auto may_be = [&](const Pulse& pulse) { return pulse.at.Overlaps(pulse.is_own ? at : seen); };
  if (std::ranges::count_if(device.pulses, may_be) != 1) return nullptr;
  const Pulse& found = *std::ranges::find_if(device.pulses, may_be);
  return found.is_own ? &found : nullptr;
}

std::string LineBook::SenderOf(const Interval& at, const std::string& receiver, const TriggerLineSettings& line) const {
  std::string sender;
  for (const auto& [name, device] : devices_) {
    const bool may_send = line.driver.empty() || name == line.driver;
    if (device.line != line.name || name == receiver || !may_send) continue;
    // A pulse that it has sent there may not be reported yet.
    if (!IsKnown(at, device)) return "";
    if (OnlyPulseAt(at, device) == nullptr) continue;
    if (!sender.empty()) return "";
    sender = name;
  }
  return sender;
}

void LineBook::Join(const Pulse& pulse, const std::string& sender, Device& device) const {
  const Device& driver = devices_.at(sender);
  const Pulse& sent = *OnlyPulseAt(SentAt(pulse, device.delay), driver);
  // Both times are rounded down.
  const auto apart = static_cast<int64_t>(pulse.time_ns) - static_cast<int64_t>(sent.time_ns);
  const Pair found{.driver = sender,
                   .driver_boot_id = driver.boot_id,
                   .number = pulse.number,
                   .seen = pulse.at.high,
                   .driver_time_ns = sent.time_ns,
                   .offset_low_ns = apart - device.delay.max_ns - 1,
                   .offset_high_ns = apart - device.delay.min_ns + 1};
  const std::optional<Pair> before = std::exchange(device.pair, found);
  device.rate.reset();
  if (!before || before->driver != sender || before->driver_boot_id != driver.boot_id) return;
  if (sent.time_ns <= before->driver_time_ns) return;
  const auto time = static_cast<double>(sent.time_ns - before->driver_time_ns);
  device.rate = {
      .lower_ppm = static_cast<double>(found.offset_low_ns - before->offset_high_ns) / time * kWholeInPpm,
      .upper_ppm = static_cast<double>(found.offset_high_ns - before->offset_low_ns) / time * kWholeInPpm,
  };
}

void LineBook::Forget(const LatchedPulse& latch) {
  const bool is_suspended = absl::AbsDuration(latch.suspended - suspended_) > kSuspendMin;
  suspended_ = latch.suspended;
  if (is_suspended) devices_.clear();
  std::erase_if(devices_, [&](const auto& entry) { return entry.second.known_to < latch.latched.raw - kFreshFor; });
}

std::optional<LineOffset> LineBook::OffsetOf(const Device& device, absl::Duration raw) const {
  if (!device.pair || device.pulses.empty() || device.pulses.back().is_own) return std::nullopt;
  const Pair& pair = *device.pair;
  const auto driver = devices_.find(pair.driver);
  // The clock that it is about may be another one by now.
  if (driver == devices_.end() || driver->second.boot_id != pair.driver_boot_id) return std::nullopt;
  if (raw - pair.seen > kFreshFor) return std::nullopt;
  return LineOffset{.driver = pair.driver,
                    .offset_ns = pair.offset_low_ns + (pair.offset_high_ns - pair.offset_low_ns) / 2,
                    .error_ns = static_cast<uint64_t>(pair.offset_high_ns - pair.offset_low_ns + 1) / 2,
                    .rate = device.rate};
}

std::optional<LineOffset> LineBook::Note(const std::string& name, const ClockSettings& settings,
                                         const LatchedPulse& latch) {
  absl::MutexLock lock(&mu_);
  Forget(latch);
  const TriggerLineSettings& line = settings.line;
  if (line.name.empty() || latch.reference_hz == 0) {
    devices_.erase(name);
    return std::nullopt;
  }
  Device& device = devices_[name];
  const Delay delay = DelayOf(settings, latch.reference_hz);
  if (device.line != line.name || device.boot_id != latch.boot_id || device.delay != delay) {
    device = {.line = line.name, .boot_id = latch.boot_id, .delay = delay};
  }
  AddPulse(latch, settings.host_ppm_max, device);
  for (const Pulse& pulse : device.pulses) {
    if (pulse.is_own || (device.pair && pulse.number <= device.pair->number)) continue;
    const std::string sender = SenderOf(SentAt(pulse, delay), name, line);
    if (!sender.empty()) Join(pulse, sender, device);
  }
  return OffsetOf(device, latch.latched.raw);
}

}  // namespace sideband::daemon
