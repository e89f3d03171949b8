// SPDX-License-Identifier: Apache-2.0
//
// Random collection units under random additions, triggers, flushes and record removals, compared with a model of the
// two banks as specified: the model writes out all records of a bank when the bank is swapped.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <deque>
#include <ostream>
#include <vector>

#include "proto/mailbox/snapshot.h"
#include "secure_mcu/pipeline/counter_collection_unit.h"

namespace sideband::mcu {
namespace {

namespace gen = rc::gen;

struct Act {
  enum Kind : uint32_t { kAdd, kTrigger, kFlushTrigger, kRequestFlush, kPop };
  uint32_t kind = kAdd;
  uint32_t ulc = 0;
  uint64_t value = 0;  // of the first input; each following input has one less
};

struct DrawnUnit {
  uint32_t counters = 0;
  std::vector<std::vector<uint32_t>> mapping;  // `counters` or more: masked
  uint32_t threshold = 0;
  std::vector<Act> acts;
};

std::ostream& operator<<(std::ostream& out, const DrawnUnit& unit) {
  out << unit.counters << " counters, threshold " << unit.threshold << "\n";
  for (const auto& ulc : unit.mapping) {
    out << "  mapping:";
    for (const uint32_t counter : ulc) out << " " << counter;
    out << "\n";
  }
  static constexpr const char* kNames[] = {"add to", "trigger", "trigger of a flush", "request flush", "pop"};
  for (const Act& act : unit.acts) out << "  " << kNames[act.kind] << " " << act.ulc << ", " << act.value << "\n";
  return out;
}

constexpr uint64_t kMax = (1u << 28) - 1;
constexpr size_t kPerRecord = 8;

struct NaiveRecord {
  bool acknowledges = false;
  uint32_t trigger = 0;
  uint16_t flags = 0;
  size_t first = 0;
  std::vector<uint64_t> counts;
};

class NaiveUnit {
 public:
  explicit NaiveUnit(const DrawnUnit& unit) : unit_(unit), active_(unit.counters) {}

  void Add(size_t ulc, uint64_t value) {
    for (const uint32_t counter : unit_.mapping[ulc]) {
      if (counter < unit_.counters) AddTo(active_[counter], value);
      if (value > 0) --value;
    }
  }
  void Trigger(uint32_t id, bool flush) {
    if (leaving_.empty()) return Swap(id);
    if (!flush) {
      ++overruns_;
      flags_ |= mailbox::kFlagTriggerOverrun;
    }
    is_held_ = true;
    held_ = id;
  }
  void RequestFlush() { flush_ = true; }

  bool HasRecord() const { return !leaving_.empty() || flush_; }
  NaiveRecord Pop() {
    if (leaving_.empty()) {
      flush_ = false;
      return {.acknowledges = true, .counts = {}};
    }
    NaiveRecord record = leaving_.front();
    leaving_.pop_front();
    if (leaving_.empty() && is_held_) {
      is_held_ = false;
      Swap(held_);
    }
    return record;
  }

  uint64_t overruns() const { return overruns_; }
  bool is_held() const { return is_held_; }
  uint64_t Highest() const {
    uint64_t highest = 0;
    for (const uint64_t count : active_) highest = std::max(highest, count);
    return highest;
  }

 private:
  void AddTo(uint64_t& count, uint64_t value) {
    count += value;
    if (count <= kMax) return;
    count = kMax;
    flags_ |= mailbox::kFlagOverflow;
  }
  void Swap(uint32_t id) {
    for (size_t first = 0; first < active_.size(); first += kPerRecord) {
      NaiveRecord record{.trigger = id, .flags = flags_, .first = first, .counts = {}};
      for (size_t i = first; i < active_.size() && i < first + kPerRecord; ++i) record.counts.push_back(active_[i]);
      leaving_.push_back(record);
    }
    active_.assign(active_.size(), 0);
    flags_ = 0;
  }

  const DrawnUnit& unit_;
  std::vector<uint64_t> active_;
  uint16_t flags_ = 0;
  std::deque<NaiveRecord> leaving_;
  bool is_held_ = false;
  uint32_t held_ = 0;
  bool flush_ = false;
  uint64_t overruns_ = 0;
};

CounterCollectionUnit::Config ConfigOf(const DrawnUnit& unit) {
  CounterCollectionUnit::Config config{
      .id = 5, .channel = 2, .counters = static_cast<uint16_t>(unit.counters), .threshold = unit.threshold};
  for (const auto& ulc : unit.mapping) {
    auto& counters = config.mapping.emplace_back();
    for (const uint32_t counter : ulc) {
      counters.push_back(counter < unit.counters ? static_cast<uint16_t>(counter) : CounterCollectionUnit::kMasked);
    }
  }
  return config;
}

void CheckRecord(const Record& record, const NaiveRecord& expected) {
  RC_ASSERT(record.ccu == 5);
  RC_ASSERT(record.channel == 2);
  RC_ASSERT(record.flush_ack == expected.acknowledges);
  RC_ASSERT(record.size == expected.counts.size());
  if (record.flush_ack) return;
  RC_ASSERT(record.trigger_id == expected.trigger);
  RC_ASSERT(record.flags == expected.flags);
  RC_ASSERT(record.first == expected.first);
  RC_ASSERT(std::vector<uint64_t>(record.counts.begin(), record.counts.begin() + record.size) == expected.counts);
}

// The unit and its naive model, which must agree after each action.
class Pair {
 public:
  explicit Pair(const DrawnUnit& unit) : drawn_(unit), unit_(ConfigOf(unit)), naive_(unit) {}

  void Do(const Act& act) {
    switch (act.kind) {
      case Act::kAdd:
        Add(act.ulc % drawn_.mapping.size(), act.value);
        break;
      case Act::kTrigger:
      case Act::kFlushTrigger:
        unit_.Trigger({.id = ++triggers_, .flush = act.kind == Act::kFlushTrigger});
        naive_.Trigger(triggers_, act.kind == Act::kFlushTrigger);
        break;
      case Act::kRequestFlush:
        unit_.RequestFlush();
        naive_.RequestFlush();
        break;
      case Act::kPop:
        if (unit_.HasRecord()) CheckRecord(unit_.PopRecord(), naive_.Pop());
    }
    Agree();
  }
  void Drain() {
    while (naive_.HasRecord()) Do({.kind = Act::kPop});
  }
  uint64_t overruns() const { return naive_.overruns(); }

 private:
  void Add(size_t ulc, uint64_t value) {
    const std::span<uint64_t> input = unit_.Input(ulc);
    RC_ASSERT(input.size() == drawn_.mapping[ulc].size());
    for (size_t i = 0; i < input.size(); ++i) input[i] += value - std::min<uint64_t>(value, i);
    unit_.Accept(ulc);
    naive_.Add(ulc, value);
  }
  void Agree() const {
    RC_ASSERT(unit_.HasRecord() == naive_.HasRecord());
    RC_ASSERT(unit_.trigger_overruns() == naive_.overruns());
    if (drawn_.threshold == 0 || drawn_.counters == 0) {
      RC_ASSERT(!unit_.ThresholdReached());
      return;
    }
    RC_ASSERT(unit_.ThresholdReached() == (!naive_.is_held() && naive_.Highest() >= drawn_.threshold));
    RC_ASSERT(unit_.ThresholdHeadroom() == drawn_.threshold - std::min<uint64_t>(drawn_.threshold, naive_.Highest()));
  }

  const DrawnUnit& drawn_;
  CounterCollectionUnit unit_;
  NaiveUnit naive_;
  uint32_t triggers_ = 0;
};

rc::Gen<uint64_t> Value() {
  return gen::resize(rc::kNominalSize, gen::weightedOneOf<uint64_t>({{4, gen::inRange<uint64_t>(0, 512)},
                                                                     {1, gen::inRange<uint64_t>(kMax - 3, kMax + 4)},
                                                                     {1, gen::inRange<uint64_t>(0, 1 << 27)}}));
}

rc::Gen<DrawnUnit> AnyUnit() {
  const auto act = gen::build<Act>(
      gen::set(
          &Act::kind,
          gen::weightedElement<uint32_t>(
              {{4, Act::kAdd}, {2, Act::kTrigger}, {1, Act::kFlushTrigger}, {1, Act::kRequestFlush}, {6, Act::kPop}})),
      gen::set(&Act::ulc, gen::inRange<uint32_t>(0, 48)), gen::set(&Act::value, Value()));
  const auto ulc = gen::container<std::vector<uint32_t>>(gen::resize(rc::kNominalSize, gen::inRange<uint32_t>(0, 40)));
  return gen::build<DrawnUnit>(
      gen::set(&DrawnUnit::counters, gen::inRange<uint32_t>(0, 36)),
      gen::set(&DrawnUnit::mapping, gen::nonEmpty(gen::scale(0.1, gen::container<std::vector<std::vector<uint32_t>>>(
                                                                      gen::resize(rc::kNominalSize / 4, ulc))))),
      gen::set(&DrawnUnit::threshold,
               gen::weightedOneOf<uint32_t>(
                   {{1, gen::just(0u)}, {1, gen::just(kCcuThresholdDefault)}, {1, gen::inRange<uint32_t>(1, 3000)}})),
      gen::set(&DrawnUnit::acts, gen::container<std::vector<Act>>(act)));
}

TEST(CounterCollectionUnitPropertyTest, DoesWhatTwoNaiveBanksDo) {
  EXPECT_TRUE(rc::check("the unit is two banks", [] {
    const DrawnUnit unit = *AnyUnit();
    Pair pair(unit);
    for (const Act& act : unit.acts) pair.Do(act);
    pair.Drain();
    RC_CLASSIFY(pair.overruns() > 0, "overruns");
  }));
}

}  // namespace
}  // namespace sideband::mcu
