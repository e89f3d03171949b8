// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/board_reading.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sideband::daemon {
namespace {

constexpr int kDwordBits = 32;

uint64_t MaskOf(int bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

// The most energy that a board can have used in a time, in mJ. A wall clock that was set back gives it no time.
uint64_t EnergyMax(double watts, absl::Duration time) {
  const double seconds = std::clamp(absl::ToDoubleSeconds(time), 0.0, 1e6);
  return static_cast<uint64_t>(watts * seconds * 1e3);
}

}  // namespace

const RunningCount& CountUnwrapper::Add(uint64_t raw, const WrapRule& rule, absl::Time now) {
  const uint64_t mask = MaskOf(rule.bits), content = raw & mask;
  const std::optional<uint64_t> last = std::exchange(last_, content);
  if (!last) return count_ = {content, now};
  const uint64_t gain = (content - *last) & mask;
  const bool has_fallen = content < *last;
  if (has_fallen && gain > rule.gain_max.value_or(mask / 2)) return count_ = {content, now};
  count_.value += gain;
  return count_;
}

const RunningCount& CountUnwrapper::AddGain(uint64_t gain, absl::Time now) {
  const bool is_known = last_ && *last_ <= std::numeric_limits<uint64_t>::max() - gain;
  last_ = is_known ? *last_ + gain : 0;
  if (!is_known) count_.created = now;
  count_.value = *last_;
  return count_;
}

RunningCount CountBook::Add(const CounterKey& key, uint64_t raw, int bits, absl::Time now) {
  Entry& entry = entries_[key];
  entry.time = now;
  return entry.unwrapper.Add(raw, {.bits = bits}, now);
}

RunningCount CountBook::AddGain(const CounterKey& key, uint64_t gain, absl::Time now) {
  Entry& entry = entries_[key];
  entry.time = now;
  return entry.unwrapper.AddGain(gain, now);
}

void CountBook::Restart(const CounterKey& key) {
  const auto found = entries_.find(key);
  if (found != entries_.end()) found->second.unwrapper.Restart();
}

RunningCount CountBook::AddEnergy(const CounterKey& key, uint64_t raw_mj, double watts_max, absl::Time now) {
  Entry& entry = entries_[key];
  const absl::Duration elapsed = now - std::exchange(entry.time, now);
  const bool is_narrow = ((raw_mj | entry.unwrapper.last().value_or(0)) >> kDwordBits) == 0;
  const WrapRule rule = is_narrow ? WrapRule{.bits = kDwordBits, .gain_max = EnergyMax(watts_max, elapsed)}
                                  : WrapRule{.bits = 64, .gain_max = 0};
  return entry.unwrapper.Add(raw_mj, rule, now);
}

void CountBook::RestartAll() {
  for (auto& [key, entry] : entries_) entry.unwrapper.Restart();
}

void DriverMessageReading::Take(const mailbox::DriverEvent& message, absl::Time now) {
  const bool has_room = counts.size() < kXidsMax || counts.contains(message.xid);
  RunningCount& count = has_room ? counts.try_emplace(message.xid, RunningCount{0, now}).first->second : other;
  if (count.value++ == 0) count.created = now;
  ++taken;
  messages.push_back(message);
  if (messages.size() > kMessagesMax) messages.pop_front();
}

std::optional<BoardTime> NewestSample(const BoardReading& reading) {
  std::optional<BoardTime> newest;
  for (const auto& [group, time] : reading.samples) {
    if (!newest || time.steady > newest->steady) newest = time;
  }
  return newest;
}

}  // namespace sideband::daemon
