// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/signal_map.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace sideband::sim {
namespace {

std::string OneEvent(const std::string& event) { return "{\"clock\": \"clk\",\n\"events\": [\n" + event + "]}"; }

std::string MapError(const std::string& text) {
  return std::string(SignalMap::Parse(text, "S.json").status().message());
}

TEST(SignalMapTest, ReadsEventsWithTheirLines) {
  const auto map = SignalMap::Parse(R"({"clock": "TOP.clk", "events": [
    {"name": "a", "signal": "TOP.s", "op": "high", "bit": 3},
    {"name": "b", "signal": "TOP.mem[1]", "op": "equals", "value": 18446744073709551615, "ulc": "core"},
    {"name": "a", "signal": "TOP.s", "op": "popcount", "ulc": 7}]})",
                                    "S.json");
  ASSERT_TRUE(map.ok()) << map.status();
  EXPECT_EQ(map->clock(), "TOP.clk");
  EXPECT_EQ(map->clock_line(), 1u);
  ASSERT_EQ(map->events().size(), 3u);
  const EventSpec& high = map->events()[0];
  EXPECT_EQ(high.name, "a");
  EXPECT_EQ(high.signal, "TOP.s");
  EXPECT_EQ(high.op, EventOp::kHigh);
  EXPECT_EQ(high.bit, 3);
  EXPECT_EQ(high.ulc, "");
  EXPECT_EQ(high.line, 2u);
  const EventSpec& equals = map->events()[1];
  EXPECT_EQ(equals.value, UINT64_MAX);
  EXPECT_EQ(equals.ulc, "core");
  EXPECT_EQ(equals.bit, std::nullopt);
  EXPECT_EQ(map->events()[2].ulc, "7") << "a whole number is a name as well";
  EXPECT_EQ(map->events()[2].line, 4u);
}

TEST(SignalMapTest, ReadsWhereAndHowAnEventCounts) {
  const auto map = SignalMap::Parse(
      R"({"clock": "clk", "events": [
    {"name": "a", "signal": "s", "op": "high"},
    {"name": "b", "signal": "s", "op": "popcount", "clock": "TOP.mc.clk", "slice": 3, "count": "prescaled"},
    {"name": "c", "signal": "s", "op": "value", "scope": "device", "count": "prescaled"}]})",
      "S.json");
  ASSERT_TRUE(map.ok()) << map.status();
  const EventSpec& plain = map->events()[0];
  EXPECT_EQ(plain.clock, "");
  EXPECT_EQ(plain.slice, std::nullopt);
  EXPECT_FALSE(plain.device_scope);
  EXPECT_FALSE(plain.prescaled);
  EXPECT_EQ(map->events()[1].clock, "TOP.mc.clk");
  EXPECT_EQ(map->events()[1].slice, 3u);
  EXPECT_TRUE(map->events()[1].prescaled);
  EXPECT_TRUE(map->events()[2].device_scope);
  EXPECT_TRUE(map->events()[2].prescaled);
}

TEST(SignalMapTest, KnowsEveryOp) {
  const std::pair<const char*, EventOp> kRows[] = {
      {"high", EventOp::kHigh},         {"low", EventOp::kLow},     {"rise", EventOp::kRise},
      {"popcount", EventOp::kPopcount}, {"value", EventOp::kValue},
  };
  for (const auto& [name, op] : kRows) {
    const auto map =
        SignalMap::Parse(OneEvent(std::string(R"({"name": "a", "signal": "s", "op": ")") + name + "\"}"), "S.json");
    ASSERT_TRUE(map.ok()) << map.status();
    EXPECT_EQ(map->events()[0].op, op);
  }
}

TEST(SignalMapTest, EveryErrorIsOneLineWithItsPlace) {
  const struct {
    std::string text;
    std::string error;
  } kRows[] = {
      // No clock, no events, an empty list, not a list.
      {R"({"events": []})", "S.json:1: key 'clock' is missing"},
      {"\n$date today $end\n", "S.json:1: this is a waveform, not a signal map"},
      {std::string(9, '\0'), "S.json:1: this is a waveform, not a signal map"},
      {"start_cycle,end_cycle,vm,context\n0,1,vm1,a\n",
       "S.json:1: this is not a signal map, which has the keys clock and events"},
      {R"({"clock": "c"})", "S.json:1: key 'events' is missing"},
      {OneEvent(""), "S.json:2: there is no event"},
      {R"({"clock": "c", "events": 3})", "S.json:1: expected a list"},
      // An empty clock, name and signal.
      {R"({"clock": "", "events": []})", "S.json:1: expected a text"},
      {OneEvent(R"({"name": "", "signal": "s", "op": "high"})"), "S.json:3: expected a text"},
      {OneEvent(R"({"name": "a", "signal": "", "op": "high"})"), "S.json:3: expected a text"},
      // An unknown key and an unknown op, each with a suggestion.
      {OneEvent(R"({"name": "a", "signal": "s", "op": "high", "bitt": 1})"),
       "S.json:3: unknown key 'bitt' (did you mean 'bit'?)"},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "hihg"})"), "S.json:3: unknown op 'hihg' (did you mean 'high'?)"},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "hi\ngh"})"),
       "S.json:3: unknown op 'hi\\ngh' (did you mean 'high'?)"},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "posedge"})"),
       "S.json:3: unknown op 'posedge', must be high, low, rise, equals, popcount or value"},
      // A missing value, an unexpected value, a value that is not a number.
      {OneEvent(R"({"name": "a", "signal": "s", "op": "equals"})"), "S.json:3: op equals needs a value"},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "high", "value": 1})"), "S.json:3: only op equals takes a value"},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "equals", "value": -1})"),
       "S.json:3: expected a whole number from 0 to 18446744073709551615"},
      // The limits of slices; unknown scopes and counts, each with a suggestion.
      {OneEvent(R"({"name": "a", "signal": "s", "op": "high", "slice": 63})"), ""},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "high", "slice": 64})"),
       "S.json:3: expected a whole number from 0 to 63"},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "high", "scope": "devise"})"),
       "S.json:3: unknown scope 'devise' (did you mean 'device'?)"},
      {OneEvent("{\"name\": \"a\", \"signal\": \"s\", \"op\": \"high\", \"slice\": 0,\n \"scope\": \"device\"}"),
       "S.json:4: an event of the whole device has no slice"},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "high", "slice": 0, "scope": "context"})"), ""},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "value", "count": "ful"})"),
       "S.json:3: unknown count 'ful' (did you mean 'full'?)"},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "high", "count": "full"})"), ""},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "high", "count": "prescaled"})"),
       "S.json:3: only ops popcount and value without a bit can be prescaled"},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "value", "bit": 1, "count": "prescaled"})"),
       "S.json:3: only ops popcount and value without a bit can be prescaled"},
      // Requesters: a slice at least, and neither a slice of the map's, nor the device, nor rises.
      {OneEvent(R"({"name": "a", "signal": "s", "op": "high", "requester": {"slice": "t"}})"), ""},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "low", "requester": {"slice": "t", "context": "c"}})"), ""},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "high", "requester": "t"})"),
       "S.json:3: expected a mapping (key: value)"},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "high", "requester": {"context": "c"}})"),
       "S.json:3: key 'slice' is missing"},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "rise", "requester": {"slice": "t"}})"),
       "S.json:3: op rise takes no requester: a request is counted in each of its cycles"},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "high", "slice": 0, "requester": {"slice": "t"}})"),
       "S.json:3: an event with a requester has no slice: each request names its own"},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "high", "scope": "device", "requester": {"slice": "t"}})"),
       "S.json:3: an event of the whole device has no requester"},
      // An empty clock.
      {OneEvent(R"({"name": "a", "signal": "s", "op": "high", "clock": ""})"), "S.json:3: expected a text"},
      // A bit beyond any signal.
      {OneEvent(R"({"name": "a", "signal": "s", "op": "high", "bit": 4294967296})"),
       "S.json:3: expected a whole number from -4294967295 to 4294967295"},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "high", "bit": -4294967295})"), ""},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "high", "bit": -4294967296})"),
       "S.json:3: expected a whole number from -4294967295 to 4294967295"},
      // Numbers as programs write them that hold floating-point numbers.
      {OneEvent(R"({"name": "a", "signal": "s", "op": "high", "slice": 63.0, "bit": 3e0})"), ""},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "high", "slice": 64.0})"),
       "S.json:3: expected a whole number from 0 to 63"},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "high", "bit": 0.5})"),
       "S.json:3: expected a whole number from -4294967295 to 4294967295"},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "equals", "value": 1.5e0})"),
       "S.json:3: expected a whole number from 0 to 18446744073709551615"},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "equals", "value": 1e19})"),
       "S.json:3: expected a whole number from 0 to 18446744073709551615"},
      {OneEvent(R"({"name": "a", "signal": "s", "op": "equals", "value": nan})"),
       "S.json:3: expected a whole number from 0 to 18446744073709551615"},
      // A line break in a name would split a listing.
      {OneEvent(R"({"name": "a\nb", "signal": "s", "op": "high"})"), "S.json:3: a name with a control character"},
  };
  for (const auto& row : kRows) EXPECT_EQ(MapError(row.text), row.error) << row.text;
}

TEST(SignalMapTest, WholeNumbersMayBeWrittenAsFloatingPoint) {
  for (const char* number : {"3", "3.0", "3e0", "30E-1", "0.3e+1", "0x3"}) {
    const auto map =
        SignalMap::Parse(OneEvent(absl::StrCat(R"({"name": "a", "signal": "s", "op": "equals", "slice": )", number,
                                               ", \"bit\": ", number, ", \"value\": ", number, "}")),
                         "S.json");
    ASSERT_TRUE(map.ok()) << map.status();
    const EventSpec& event = map->events()[0];
    EXPECT_EQ(event.slice, 3u) << number;
    EXPECT_EQ(event.bit, 3) << number;
    EXPECT_EQ(event.value, 3u) << number;
  }
}

TEST(SignalMapTest, NamesOfEventsAreBounded) {
  const auto with_name = [](size_t size) {
    return OneEvent("{\"name\": \"" + std::string(size, 'a') + R"(", "signal": "s", "op": "high"})");
  };
  EXPECT_TRUE(SignalMap::Parse(with_name(255), "S.json").ok());
  EXPECT_EQ(MapError(with_name(256)), "S.json:3: a name of more than 255 bytes");
}

TEST(SignalMapTest, MissingFileIsNamed) {
  EXPECT_EQ(SignalMap::Load("/nonexistent.json").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace sideband::sim
