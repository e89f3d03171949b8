// SPDX-License-Identifier: Apache-2.0
//
// Random designs with random traces, against an evaluator that keeps every signal as text and evaluates all signals in
// every cycle. The message of a failure has its seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
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
  size_t domain;
  bool prescaled = false;
  std::string op;
  std::optional<size_t> bit;
  uint64_t value = 0;
};

// The first signals are clocks, one per domain, the reference first. Texts have the most significant digit first.
class RandomTrace {
 public:
  explicit RandomTrace(uint64_t seed) : random_(seed), clock_count_(Below(2) == 0 ? 1 : 2 + Below(2)) {
    MakeSignals();
    MakeEvents();
    MakeBody(Below(4) == 0 ? 20000 : 400);
  }

  std::string text() const { return header_ + body_; }
  std::string map() const { return map_; }
  size_t event_count() const { return events_.size(); }
  // Per event, its addend in each cycle of its domain.
  const std::vector<std::vector<uint64_t>>& expected() const { return expected_; }
  size_t domain_of(size_t event) const { return events_[event].domain; }
  // The domains in which events count, numbered as in the reader.
  size_t domain_count() const { return domain_count_; }
  // Per domain, the number of its cycles before each reference cycle, and the number before the end of the last.
  const std::vector<std::vector<uint64_t>>& before() const { return before_; }
  uint64_t cycles() const { return cycles_[0]; }

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }

  void MakeSignals() {
    header_ = "$scope module t $end\n";
    for (size_t i = 0; i < clock_count_; ++i) {
      absl::StrAppend(&header_, "$var wire 1 c", i, " s", i, " $end\n");
      values_.push_back("x");
    }
    for (size_t i = clock_count_; i <= clock_count_ + Below(6); ++i) {
      const size_t width = Below(8) == 0 ? 1 + Below(200) : 1 + Below(32);
      values_.push_back(std::string(width, 'x'));
      splits_[i] = width > 1 && Below(4) == 0 ? 1 + Below(width - 1) : 0;
      if (splits_[i] == 0) {
        Declare(i, "", width, 0);
      } else {
        Declare(i, "h", width, splits_[i]);
        Declare(i, "l", splits_[i], 0);
      }
    }
    header_ += "$upscope $end\n$enddefinitions $end\n";
    pending_ = values_;
    clocks_.resize(clock_count_);
    cycles_.resize(clock_count_);
    before_.resize(clock_count_, {0});
  }

  // Bits [low, end) of a signal.
  void Declare(size_t signal, const char* part, size_t end, size_t low) {
    absl::StrAppend(&header_, "$var reg ", end - low, " c", signal, part, " s", signal, " [", end - 1, ":", low,
                    "] $end\n");
  }

  void MakeEvents() {
    map_ = "{\"clock\": \"t.s0\", \"events\": [";
    for (size_t i = 0; i < 12; ++i) {
      Event event{.signal = Below(values_.size()), .op = kOps[Below(6)], .bit = {}};
      // Domains are numbered in the order of appearance.
      event.domain = std::min(Below(clock_count_), domain_count_);
      domain_count_ = std::max(domain_count_, event.domain + 1);
      const size_t width = values_[event.signal].size();
      if (event.op == "value" && width > 32) event.op = "popcount";
      if (Below(3) == 0) event.bit = Below(width);
      event.prescaled = !event.bit && (event.op == "value" || event.op == "popcount") && Below(2) == 0;
      event.value = event.bit ? Below(2) : Below(uint64_t{1} << std::min<size_t>(width, 3));
      absl::StrAppend(&map_, i == 0 ? "" : ",", "\n{\"name\": \"e", i, "\", \"signal\": \"t.s", event.signal,
                      "\", \"op\": \"", event.op, "\"", event.bit ? absl::StrCat(", \"bit\": ", *event.bit) : "",
                      event.op == "equals" ? absl::StrCat(", \"value\": ", event.value) : "",
                      event.domain > 0 || Below(2) == 0 ? absl::StrCat(", \"clock\": \"t.s", event.domain, "\"") : "",
                      event.prescaled ? ", \"count\": \"prescaled\"" : "", "}");
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
        if (Below(3) == 0 || values_.size() == clock_count_) {
          ChangeClock(Below(clock_count_));
        } else {
          ChangeSignal(clock_count_ + Below(values_.size() - clock_count_));
        }
      }
      values_ = pending_;
      while (before_[0].size() <= cycles_[0]) before_[0].push_back(before_[0].size());
      for (size_t domain = 1; domain < clock_count_; ++domain) before_[domain].resize(cycles_[0] + 1, cycles_[domain]);
      time += 1 + Below(3);
    }
  }

  void ChangeClock(size_t domain) {
    const char digit = "01xz"[Below(8) < 7 ? Below(2) : Below(4)];
    const std::string text(1, digit);
    absl::StrAppend(&body_, Below(5) == 0 ? absl::StrCat("b", text, " c") : absl::StrCat(text, "c"), domain, "\n");
    if (digit == '1' && !clocks_[domain].empty() && clocks_[domain] != "1") SeeCycle(domain);
    clocks_[domain] = text;
    pending_[domain] = text;
  }

  void ChangeSignal(size_t signal) {
    // A vector in parts changes part by part: of its digits, the low ones are the last.
    const size_t split = splits_[signal];
    const bool is_high = split > 0 && Below(2) == 0;
    const size_t width = is_high ? values_[signal].size() - split : split > 0 ? split : values_[signal].size();
    std::string digits(1 + Below(width), '0');
    const bool sparse = Below(2) == 0;
    for (char& digit : digits) digit = sparse && Below(4) != 0 ? '0' : "0101011xzXZ"[Below(11)];
    absl::StrAppend(&body_, Below(2) == 0 ? "b" : "B", digits, " c", signal,
                    split == 0 ? ""
                    : is_high  ? "h"
                               : "l",
                    "\n");
    const char extension = digits[0] == '1' ? '0' : digits[0];
    pending_[signal].replace(split == 0 || is_high ? 0 : pending_[signal].size() - split, width,
                             std::string(width - digits.size(), extension) + digits);
  }

  void SeeCycle(size_t domain) {
    ++cycles_[domain];
    for (size_t i = 0; i < events_.size(); ++i) {
      const Event& event = events_[i];
      if (event.domain != domain) continue;
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
  const size_t clock_count_;
  size_t domain_count_ = 1;
  std::string header_;
  std::string body_;
  std::string map_;
  std::vector<std::string> clocks_;  // latest values, empty before the first
  std::vector<uint64_t> cycles_;     // per domain
  std::vector<std::vector<uint64_t>> before_;
  std::map<size_t, size_t> splits_;   // of signals that are declared in two parts: the width of the lower
  std::vector<std::string> values_;   // before the current time
  std::vector<std::string> pending_;  // after the current time
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
        ASSERT_EQ(reader->event_wires().domain(event), trace.domain_of(event)) << trace.map();
        const PackedWires& window = (*chunk)->domain(trace.domain_of(event));
        for (uint64_t cycle = window.range().begin; cycle < window.range().end; ++cycle) {
          actual[event].push_back(Sum(window, reader->wires(event), {cycle, cycle + 1}));
        }
      }
    }
    for (size_t event = 0; event < actual.size(); ++event) {
      ASSERT_EQ(actual[event], trace.expected()[event]) << "seed " << seed << " event " << event << trace.map();
    }
  }
}

TEST(TraceReaderPropertyTest, PlacesTheCyclesOfEachDomain) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const RandomTrace trace(seed);
    const auto reader = Open(trace, seed);
    uint64_t end = 0;
    for (;;) {
      const auto chunk = reader->Next();
      ASSERT_TRUE(chunk.ok()) << chunk.status() << " seed " << seed;
      if (*chunk == nullptr) break;
      ASSERT_EQ((*chunk)->range().begin, end);
      end = (*chunk)->range().end;
      ASSERT_EQ((*chunk)->domain_count(), trace.domain_count());
      for (size_t domain = 0; domain < trace.domain_count(); ++domain) {
        for (uint64_t cycle = (*chunk)->range().begin; cycle <= end; ++cycle) {
          ASSERT_EQ((*chunk)->CyclesBefore(domain, cycle), trace.before()[domain][cycle]) << "seed " << seed;
        }
        ASSERT_GE((*chunk)->CyclesHeld(domain, end), (*chunk)->CyclesBefore(domain, end));
      }
    }
    ASSERT_EQ(end, trace.cycles()) << "seed " << seed;
  }
}

TEST(TraceReaderPropertyTest, LoopedTraceSumsTheSame) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const RandomTrace trace(seed);
    const auto reader = Open(trace, seed);
    const auto looped = LoopedTrace::Load(*reader);
    ASSERT_TRUE(looped.ok()) << looped.status() << " seed " << seed;
    ASSERT_EQ((*looped)->length(), trace.cycles());
    std::mt19937_64 random(seed);
    for (int i = 0; i < 20; ++i) {
      const size_t event = random() % trace.event_count();
      const size_t domain = trace.domain_of(event);
      const uint64_t length = trace.before()[domain].back();
      if (length == 0) continue;
      const uint64_t begin = random() % (2 * length);
      const uint64_t end = begin + random() % (2 * length);
      uint64_t naive = 0;
      for (uint64_t cycle = begin; cycle < end; ++cycle) naive += trace.expected()[event][cycle % length];
      const WireSource& source = (*looped)->domain(domain);
      ASSERT_EQ(Sum(source, (*looped)->wires(event), {begin, end}), naive) << "seed " << seed << " event " << event;
      const uint64_t cycle = random() % (3 * trace.cycles());
      const uint64_t before = cycle / trace.cycles() * length + trace.before()[domain][cycle % trace.cycles()];
      ASSERT_EQ((*looped)->CyclesBefore(domain, cycle), before) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace sideband::sim
