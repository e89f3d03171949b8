// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/counter_collection_unit.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "proto/mailbox/snapshot.h"

namespace sideband::mcu {
namespace {

// The counter to which most values are mapped gains most.
uint32_t MostMapped(const CounterCollectionUnit::Config& config) {
  std::vector<uint32_t> mapped(config.counters);
  for (const auto& ulc : config.mapping) {
    for (const uint16_t counter : ulc) {
      if (counter != CounterCollectionUnit::kMasked) ++mapped.at(counter);
    }
  }
  return mapped.empty() ? 0 : *std::max_element(mapped.begin(), mapped.end());
}

}  // namespace

CounterCollectionUnit::CounterCollectionUnit(Config config)
    : config_(std::move(config)), gain_per_cycle_max_(MostMapped(config_)) {
  for (Bank& bank : banks_) bank.counts.resize(config_.counters);
}

void CounterCollectionUnit::AddTo(uint16_t counter, uint64_t value) {
  Bank& bank = banks_[active_];
  const uint64_t sum = bank.counts[counter] + value;
  if (sum > kCcuCounterMax) bank.flags |= mailbox::kFlagOverflow;
  bank.counts[counter] = static_cast<uint32_t>(std::min<uint64_t>(sum, kCcuCounterMax));
}

void CounterCollectionUnit::Add(size_t ulc, std::span<uint64_t> values) {
  const std::vector<uint16_t>& mapping = config_.mapping[ulc];
  for (size_t i = 0; i < mapping.size(); ++i) {
    const uint64_t value = std::exchange(values[i], 0);
    if (mapping[i] != kMasked) AddTo(mapping[i], value);
  }
}

bool CounterCollectionUnit::ThresholdReached() const { return ThresholdHeadroom() == 0; }

uint64_t CounterCollectionUnit::ThresholdHeadroom() const {
  if (config_.threshold == 0 || config_.counters == 0) return std::numeric_limits<uint64_t>::max();
  const std::vector<uint32_t>& counts = banks_[active_].counts;
  const uint32_t highest = *std::max_element(counts.begin(), counts.end());
  return highest >= config_.threshold ? 0 : config_.threshold - highest;
}

void CounterCollectionUnit::Trigger(TriggerInfo trigger) {
  if (!leaving_) return Swap(trigger);
  if (!trigger.flush) {
    ++trigger_overruns_;
    banks_[active_].flags |= mailbox::kFlagTriggerOverrun;
  }
  held_ = trigger;  // joins the one that is held already: both ask for the same swap
}

void CounterCollectionUnit::Swap(TriggerInfo trigger) {
  active_ = 1 - active_;
  leaving_ = config_.counters > 0;
  next_counter_ = 0;
  leaving_trigger_ = trigger.id;
}

Record CounterCollectionUnit::PopCounters() {
  Bank& idle = banks_[1 - active_];
  Record record{.ccu = config_.id, .channel = config_.channel, .trigger_id = leaving_trigger_, .flags = idle.flags};
  record.first = next_counter_;
  record.size = static_cast<uint16_t>(std::min<uint32_t>(kRecordCounters, config_.counters - next_counter_));
  for (uint16_t i = 0; i < record.size; ++i) record.counts[i] = std::exchange(idle.counts[next_counter_++], 0);
  return record;
}

Record CounterCollectionUnit::PopRecord() {
  if (!leaving_) {
    flush_requested_ = false;
    return {.ccu = config_.id, .channel = config_.channel, .flush_ack = true, .trigger_id = leaving_trigger_};
  }
  const Record record = PopCounters();
  if (next_counter_ == config_.counters) {
    banks_[1 - active_].flags = 0;
    leaving_ = false;
    if (const auto held = std::exchange(held_, std::nullopt)) Swap(*held);
  }
  return record;
}

}  // namespace sideband::mcu
