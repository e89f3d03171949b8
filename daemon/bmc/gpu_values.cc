// SPDX-License-Identifier: Apache-2.0
#include "daemon/bmc/gpu_values.h"

#include <algorithm>

namespace sideband::daemon {
namespace {

// Answers take differently long.
constexpr absl::Duration kJitter = absl::Seconds(2);

}  // namespace

void AnswerAges::Take(std::optional<absl::Time> newest, absl::Duration arrived) {
  // A time that has moved, in either direction, says that the BMC has measured.
  if (!newest || newest != newest_) seen_ = arrived;
  newest_ = newest;
}

absl::Duration AnswerAges::TimeOf(std::optional<absl::Time> stamp) const {
  return stamp && newest_ ? seen_ - (*newest_ - *stamp) : seen_;
}

void GpuValues::Take(const BmcQuantity& row, std::optional<uint8_t> index, const BmcParsed& parsed,
                     const SampleTime& time, const BoardTime& now) {
  Entry& entry = entries_[{&row, index ? *index : -1}];
  if (entry.time.stamp && entry.time.stamp == time.stamp) return;
  // By both clocks: an answer may have a property twice.
  const bool is_older = entry.time.stamp && time.stamp && *time.stamp < *entry.time.stamp &&
                        time.measured < entry.measured.steady - kJitter;
  if (is_older) return;
  // Answers take differently long, so that one instant seems earlier or later.
  const absl::Duration measured = std::min(std::max(entry.measured.steady, time.measured), now.steady);
  entry = {.sample = parsed.sample,
           .time = time,
           .measured = {.steady = measured, .wall = now.wall - (now.steady - measured)}};
  entry.sample.index = index.value_or(0);
  if (!IsCount(row.kind)) return;
  const CounterKey key{
      .group = row.group, .item = static_cast<uint16_t>(&row - BmcQuantities().data()), .unit = index.value_or(0)};
  entry.sample.count = counts_.Add(key, parsed.counter, /*bits=*/64, now.wall);
}

void GpuValues::DropList(const BmcQuantity& row) {
  std::erase_if(entries_, [&](const auto& entry) { return entry.first.first == &row && entry.first.second >= 0; });
}

void GpuValues::TakeMessages(const std::vector<mailbox::DriverEvent>& messages, const BoardTime& now) {
  for (const mailbox::DriverEvent& message : messages) messages_.Take(message, now.wall);
  messages_read_ = now;
}

void GpuValues::Restart() {
  entries_.clear();
  messages_ = {};
  messages_read_.reset();
  counts_.RestartAll();
}

std::shared_ptr<const BoardReading> GpuValues::Reading(const BoardTime& now) {
  std::erase_if(entries_,
                [&](const auto& entry) { return now.steady - entry.second.measured.steady > entry.second.time.keep; });
  auto reading = std::make_shared<BoardReading>();
  for (const auto& [key, entry] : entries_) {
    const BmcQuantity& row = *key.first;
    row.set(entry.sample, *reading);
    const auto [sample, is_first] = reading->samples.emplace(row.group, entry.measured);
    if (!is_first && entry.measured.steady < sample->second.steady) sample->second = entry.measured;
  }
  // The counts stay, with their age, while the log is not read.
  if (messages_read_) {
    reading->driver_messages = messages_;
    reading->samples[BoardGroup::kDriverMessages] = *messages_read_;
  }
  return reading;
}

}  // namespace sideband::daemon
