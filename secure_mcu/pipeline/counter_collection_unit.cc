// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/counter_collection_unit.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "proto/mailbox/snapshot.h"

namespace sideband::mcu {
namespace {

// A mapped value gains at most one per cycle, so the counter with the most mapped values gains the most.
uint32_t MostMapped(const CounterCollectionUnit::Config& config) {
  std::vector<uint32_t> mapped(config.counters);
  for (const auto& ulc : config.mapping) {
    for (const uint16_t counter : ulc) {
      if (counter != CounterCollectionUnit::kMasked) ++mapped.at(counter);
    }
  }
  return mapped.empty() ? 0 : *std::max_element(mapped.begin(), mapped.end());
}

// The counter of the first value if the others follow in order, as with most units; else kMasked.
uint16_t FirstOfConsecutive(const std::vector<uint16_t>& mapping) {
  const auto gap =
      std::adjacent_find(mapping.begin(), mapping.end(), [](uint16_t a, uint16_t b) { return b != a + 1; });
  return mapping.empty() || gap != mapping.end() ? CounterCollectionUnit::kMasked : mapping.front();
}

std::vector<uint16_t> FirstsOfConsecutive(const CounterCollectionUnit::Config& config) {
  std::vector<uint16_t> firsts;
  for (const auto& mapping : config.mapping) firsts.push_back(FirstOfConsecutive(mapping));
  return firsts;
}

}  // namespace

CounterCollectionUnit::CounterCollectionUnit(Config config) : config_(std::move(config)) {
  for (Bank& bank : banks_) bank.counts.resize(config_.counters);
  Connect(std::exchange(config_.mapping, {}));
}

void CounterCollectionUnit::Connect(Mapping mapping) {
  config_.mapping = std::move(mapping);
  in_order_ = FirstsOfConsecutive(config_);
  gain_per_cycle_max_ = MostMapped(config_);
  for (const auto& of_ulc : config_.mapping) values_.resize(std::max(values_.size(), of_ulc.size()));
}

void CounterCollectionUnit::AddTo(uint16_t counter, uint64_t value) {
  Bank& bank = banks_[active_];
  const uint64_t sum = bank.counts[counter] + value;
  // A wrapped count would look like a correct one; a saturated count has the flag.
  if (sum > kCcuCounterMax) bank.flags |= mailbox::kFlagOverflow;
  bank.counts[counter] = std::min<uint64_t>(sum, kCcuCounterMax);
}

std::span<uint64_t> CounterCollectionUnit::Input(size_t ulc) {
  const size_t size = config_.mapping[ulc].size();
  if (!IsInOrder(ulc)) return std::span(values_).first(size);
  return std::span(banks_[active_].counts).subspan(in_order_[ulc], size);
}

void CounterCollectionUnit::Accept(size_t ulc) {
  if (IsInOrder(ulc)) return Saturate(ulc);
  const std::vector<uint16_t>& mapping = config_.mapping[ulc];
  for (size_t i = 0; i < mapping.size(); ++i) {
    const uint64_t value = std::exchange(values_[i], 0);
    if (mapping[i] != kMasked) AddTo(mapping[i], value);
  }
}

void CounterCollectionUnit::Saturate(size_t ulc) {
  // Without a branch per counter, so that the compiler looks at several at once.
  uint64_t all_bits = 0;
  for (const uint64_t count : Input(ulc)) all_bits |= count;
  if (all_bits <= kCcuCounterMax) return;
  for (const uint16_t counter : config_.mapping[ulc]) AddTo(counter, 0);
}

void CounterCollectionUnit::AddCounts(std::span<uint64_t> sums) const {
  for (const Bank& bank : banks_) {
    for (size_t i = 0; i < bank.counts.size(); ++i) sums[i] += bank.counts[i];
  }
}

bool CounterCollectionUnit::ThresholdReached() const { return !held_ && ThresholdHeadroom() == 0; }

uint64_t CounterCollectionUnit::ThresholdHeadroom() const {
  if (config_.threshold == 0 || config_.counters == 0) return std::numeric_limits<uint64_t>::max();
  const std::vector<uint64_t>& counts = banks_[active_].counts;
  const uint64_t highest = *std::max_element(counts.begin(), counts.end());
  return highest >= config_.threshold ? 0 : config_.threshold - highest;
}

void CounterCollectionUnit::Trigger(TriggerInfo trigger) {
  if (!leaving_) return Swap(trigger);
  // A flush is meant to wait for the idle bank. Any other trigger that waits makes its counts late.
  if (!trigger.flush) {
    ++trigger_overruns_;
    banks_[active_].flags |= mailbox::kFlagTriggerOverrun;
  }
  held_ = trigger;  // merges with a trigger already held: both request the same swap
}

size_t CounterCollectionUnit::RecordsUntilHeldTrigger() const {
  return held_ ? (config_.counters - next_counter_ + kRecordCounters - 1) / kRecordCounters : 0;
}

void CounterCollectionUnit::Swap(TriggerInfo trigger) {
  active_ = 1 - active_;
  leaving_ = config_.counters > 0;  // a unit without counters has no records to send
  next_counter_ = 0;
  leaving_trigger_ = trigger.id;
}

Record CounterCollectionUnit::PopCounters() {
  Bank& idle = banks_[1 - active_];
  Record record{.ccu = config_.id,
                .channel = config_.channel,
                .select = select_,
                .trigger_id = leaving_trigger_,
                .flags = idle.flags};
  record.first = next_counter_;
  record.size = static_cast<uint16_t>(std::min<uint32_t>(kRecordCounters, config_.counters - next_counter_));
  for (uint16_t i = 0; i < record.size; ++i) {
    record.counts[i] = static_cast<uint32_t>(std::exchange(idle.counts[next_counter_++], 0));
  }
  return record;
}

Record CounterCollectionUnit::PopRecord() {
  // The acknowledgement follows the records of all triggers so far, those of a held trigger included.
  if (!leaving_) {
    flush_requested_ = false;
    return {.ccu = config_.id,
            .channel = config_.channel,
            .flush_ack = true,
            .select = select_,
            .trigger_id = leaving_trigger_};
  }
  const Record record = PopCounters();
  if (next_counter_ == config_.counters) {
    banks_[1 - active_].flags = 0;
    leaving_ = false;
    // Last, because the swap makes this bank active again: its counts and flags must be clear.
    if (const auto held = std::exchange(held_, std::nullopt)) Swap(*held);
  }
  return record;
}

}  // namespace sideband::mcu
