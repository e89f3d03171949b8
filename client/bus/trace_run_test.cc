// SPDX-License-Identifier: Apache-2.0
#include "client/bus/trace_run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace sideband::client {
namespace {

using smbus::BusLoss;
using smbus::BusRecord;
using smbus::Message;
using smbus::MonitorEvent;

MonitorEvent Probe(uint8_t address) { return BusRecord{0, {{Message::Write(address, {})}}, smbus::TransferResult{}}; }

// Returns the events, then `end`.
class ScriptedSource final : public TraceSource {
 public:
  ScriptedSource(std::vector<MonitorEvent> events, absl::Status end, uint64_t host_time_us = 0)
      : events_(std::move(events)), end_(std::move(end)), host_time_us_(host_time_us) {}
  absl::StatusOr<std::optional<MonitorEvent>> Next() override {
    if (next_ < events_.size()) return events_[next_++];
    if (!end_.ok()) return end_;
    return std::nullopt;
  }
  uint64_t host_time_us() const override { return host_time_us_; }

 private:
  const std::vector<MonitorEvent> events_;
  const absl::Status end_;
  const uint64_t host_time_us_;
  size_t next_ = 0;
};

size_t Lines(const std::string& text) { return static_cast<size_t>(std::count(text.begin(), text.end(), '\n')); }

class TraceRunTest : public testing::Test {
 protected:
  absl::Status Run(TraceOptions options, absl::Status end = absl::OkStatus(), smbus::CaptureWriter* writer = nullptr) {
    ScriptedSource source({Probe(0x4F), Probe(0x50), BusLoss{3}, Probe(0x4F)}, end);
    out_ = StringOutput();
    return RunTrace(source, options, writer, out_);
  }

  StringOutput out_;
};

TEST_F(TraceRunTest, ShowsEverythingToTheEnd) {
  EXPECT_EQ(Run({}), absl::OkStatus());
  EXPECT_EQ(Lines(out_.text()), 1u + 2 + 2 + 1 + 2);
  EXPECT_NE(out_.text().find("3 transactions are missing"), std::string::npos);
}

TEST_F(TraceRunTest, WhatIsWholeIsShownBeforeAnError) {
  EXPECT_EQ(Run({}, absl::DataLossError("cut off")), absl::DataLossError("cut off"));
  EXPECT_EQ(Lines(out_.text()), 8u);
}

TEST_F(TraceRunTest, CountsWhatIsShown) {
  EXPECT_EQ(Run({.address = 0x4F, .count_max = 2, .json = true}, absl::DataLossError("not reached")), absl::OkStatus());
  EXPECT_EQ(Lines(out_.text()), 3u) << out_.text();
  EXPECT_EQ(out_.text().find("80"), std::string::npos) << "0x50";
}

TEST_F(TraceRunTest, WritesWhatItShows) {
  const std::string path = testing::TempDir() + "/trace_run.sbt";
  const auto writer = *smbus::CaptureWriter::Create(path, {});
  EXPECT_EQ(Run({.address = 0x4F}, absl::OkStatus(), writer.get()), absl::OkStatus());
  CaptureSource source(*smbus::CaptureReader::Open(path));
  const std::string live = out_.text();
  out_ = StringOutput();
  EXPECT_EQ(RunTrace(source, {}, nullptr, out_), absl::OkStatus());
  EXPECT_EQ(out_.text(), live);
  unlink(path.c_str());
}

TEST_F(TraceRunTest, HostTimeMustBeKnown) {
  EXPECT_EQ(Run({.host_time = true}).code(), absl::StatusCode::kFailedPrecondition);
  ScriptedSource source({Probe(0x4F)}, absl::OkStatus(), 1'700'000'000'000'000);
  EXPECT_EQ(RunTrace(source, {.host_time = true}, nullptr, out_), absl::OkStatus());
  EXPECT_NE(out_.text().find("2023-11-14T22:13:20.000000Z"), std::string::npos);
}

}  // namespace

}  // namespace sideband::client
