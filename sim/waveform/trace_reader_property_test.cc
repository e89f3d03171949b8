// SPDX-License-Identifier: Apache-2.0
//
// Random designs with random traces, against an evaluator that keeps every signal as text and looks at all of them in
// every cycle. A failing seed is in the message.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/waveform/looped_trace.h"
#include "sim/waveform/signal_map.h"
#include "sim/waveform/test_files.h"
#include "sim/waveform/trace_reader.h"

namespace sideband::sim {
namespace {

constexpr const char* kOps[] = {"high", "low", "rise", "equals", "popcount", "value"};

struct Event {
  size_t signal;
  std::string op;
  std::optional<size_t> bit;
  uint64_t value = 0;
};

// Signal 0 is the clock. Texts have the most significant digit first.
class RandomTrace {
 public:
  explicit RandomTrace(uint64_t seed) : random_(seed) {
    MakeSignals();
    MakeEvents();
    MakeBody(Below(4) == 0 ? 20000 : 400);
  }

  std::string text() const { return header_ + body_; }
  std::string map() const { return map_; }
  size_t event_count() const { return events_.size(); }
  // Per event, what it adds in each cycle.
  const std::vector<std::vector<uint64_t>>& expected() const { return expected_; }

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }

  void MakeSignals() {
    header_ = "$scope module t $end\n$var wire 1 c0 clk $end\n";
    values_ = {""};
    for (size_t i = 1; i <= 1 + Below(6); ++i) {
      const size_t width = Below(8) == 0 ? 1 + Below(200) : 1 + Below(32);
      values_.push_back(std::string(width, 'x'));
      absl::StrAppend(&header_, "$var reg ", width, " c", i, " s", i, " [", width - 1, ":0] $end\n");
    }
    header_ += "$upscope $end\n$enddefinitions $end\n";
    pending_ = values_;
  }

  void MakeEvents() {
    map_ = "{\"clock\": \"t.clk\", \"events\": [";
    for (size_t i = 0; i < 12; ++i) {
      Event event{.signal = 1 + Below(values_.size() - 1), .op = kOps[Below(6)], .bit = {}};
      const size_t width = values_[event.signal].size();
      if (event.op == "value" && width > 32) event.op = "popcount";
      if (Below(3) == 0) event.bit = Below(width);
      event.value = event.bit ? Below(2) : Below(uint64_t{1} << std::min<size_t>(width, 3));
      absl::StrAppend(&map_, i == 0 ? "" : ",", "\n{\"name\": \"e", i, "\", \"signal\": \"t.s", event.signal,
                      "\", \"op\": \"", event.op, "\"", event.bit ? absl::StrCat(", \"bit\": ", *event.bit) : "",
                      event.op == "equals" ? absl::StrCat(", \"value\": ", event.value) : "", "}");
      events_.push_back(event);
    }
    map_ += "]}";
    expected_.resize(events_.size());
    was_high_.resize(events_.size());
  }

  void MakeBody(size_t times) {
    uint64_t time = Below(3);
    for (size_t i = 0; i < times; ++i) {
      absl::StrAppend(&body_, "#", time, "\n");
      for (uint64_t changes = Below(4); changes > 0; --changes) {
        if (Below(3) == 0) {
          ChangeClock();
        } else {
          ChangeSignal(1 + Below(values_.size() - 1));
        }
      }
      values_ = pending_;
      time += 1 + Below(3);
    }
  }

  void ChangeClock() {
    const char digit = "01xz"[Below(8) < 7 ? Below(2) : Below(4)];
    body_ +=
        Below(5) == 0 ? absl::StrCat("b", std::string(1, digit), " c0\n") : absl::StrCat(std::string(1, digit), "c0\n");
    if (digit == '1' && !clock_.empty() && clock_ != "1") SeeCycle();
    clock_ = digit;
  }

  void ChangeSignal(size_t signal) {
    const size_t width = values_[signal].size();
    std::string digits(1 + Below(width), '0');
    const bool sparse = Below(2) == 0;
    for (char& digit : digits) digit = sparse && Below(4) != 0 ? '0' : "0101011xzXZ"[Below(11)];
    absl::StrAppend(&body_, Below(2) == 0 ? "b" : "B", digits, " c", signal, "\n");
    const char extension = digits[0] == '1' ? '0' : digits[0];
    pending_[signal] = std::string(width - digits.size(), extension) + digits;
  }

  void SeeCycle() {
    for (size_t i = 0; i < events_.size(); ++i) {
      const Event& event = events_[i];
      std::string bits = values_[event.signal];
      if (event.bit) bits = bits.substr(bits.size() - 1 - *event.bit, 1);
      const bool high = bits.find('1') != std::string::npos;
      expected_[i].push_back(Contribution(event, bits, high, was_high_[i]));
      was_high_[i] = high;
    }
  }

  static uint64_t Contribution(const Event& event, const std::string& bits, bool high, bool was_high) {
    if (event.op == "high") return high ? 1 : 0;
    if (event.op == "low") return high ? 0 : 1;
    if (event.op == "rise") return high && !was_high ? 1 : 0;
    if (event.op == "popcount") return static_cast<uint64_t>(std::count(bits.begin(), bits.end(), '1'));
    uint64_t value = 0;
    bool large = false;
    for (const char bit : bits) {
      large = large || value >> 63 != 0;
      value = value * 2 + (bit == '1' ? 1 : 0);
    }
    if (event.op == "value") return value;
    return value == event.value && !large ? 1 : 0;
  }

  std::mt19937_64 random_;
  std::string header_;
  std::string body_;
  std::string map_;
  std::string clock_;
  std::vector<std::string> values_;   // as of before this time
  std::vector<std::string> pending_;  // and after it
  std::vector<Event> events_;
  std::vector<bool> was_high_;
  std::vector<std::vector<uint64_t>> expected_;
};

uint64_t Sum(const WireSource& source, std::span<const EventWire> wires, CycleRange range) {
  uint64_t total = 0;
  for (const EventWire& wire : wires) {
    uint64_t sum = 0;
    source.AddCounts(range, std::span(&wire.wire, 1), std::span(&sum, 1));
    total += sum << wire.shift;
  }
  return total;
}

std::unique_ptr<TraceReader> Open(const RandomTrace& trace, uint64_t seed) {
  const auto map = SignalMap::Parse(trace.map(), "S.json");
  EXPECT_TRUE(map.ok()) << map.status();
  auto reader = TraceReader::Open(WriteTestFile(seed % 2 == 0 ? trace.text() : Gzipped(trace.text())), *map);
  EXPECT_TRUE(reader.ok()) << reader.status();
  return *std::move(reader);
}

constexpr uint64_t kSeeds = 120;

TEST(TraceReaderPropertyTest, EqualsTheNaiveEvaluatorInEveryCycle) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const RandomTrace trace(seed);
    const auto reader = Open(trace, seed);
    std::vector<std::vector<uint64_t>> actual(trace.event_count());
    for (;;) {
      const auto chunk = reader->Next();
      ASSERT_TRUE(chunk.ok()) << chunk.status() << " seed " << seed;
      if (*chunk == nullptr) break;
      for (size_t event = 0; event < actual.size(); ++event) {
        for (uint64_t cycle = (*chunk)->range().begin; cycle < (*chunk)->range().end; ++cycle) {
          actual[event].push_back(Sum(**chunk, reader->wires(event), {cycle, cycle + 1}));
        }
      }
    }
    for (size_t event = 0; event < actual.size(); ++event) {
      ASSERT_EQ(actual[event], trace.expected()[event]) << "seed " << seed << " event " << event << trace.map();
    }
  }
}

TEST(TraceReaderPropertyTest, LoopedTraceSumsTheSame) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const RandomTrace trace(seed);
    const auto reader = Open(trace, seed);
    const uint64_t length = trace.expected()[0].size();
    const auto looped = LoopedTrace::Load(*reader);
    ASSERT_TRUE(looped.ok()) << looped.status() << " seed " << seed;
    std::mt19937_64 random(seed);
    for (int i = 0; i < 20; ++i) {
      const uint64_t begin = random() % (2 * length);
      const uint64_t end = begin + random() % (2 * length);
      const size_t event = random() % trace.event_count();
      uint64_t naive = 0;
      for (uint64_t cycle = begin; cycle < end; ++cycle) naive += trace.expected()[event][cycle % length];
      ASSERT_EQ(Sum(**looped, (*looped)->wires(event), {begin, end}), naive) << "seed " << seed << " event " << event;
    }
  }
}

}  // namespace
}  // namespace sideband::sim
