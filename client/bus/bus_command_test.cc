// SPDX-License-Identifier: Apache-2.0
#include "client/bus/bus_command.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "proto/base/fake_unix_server.h"
#include "proto/base/wait_until.h"

namespace sideband::client {
namespace {

using smbus::BusLoss;
using smbus::BusRecord;
using smbus::Message;
using smbus::MonitorEvent;

const smbus::MonitorEvent kRecord = smbus::BusRecord{5, {{smbus::Message::Read(0x4F, 1)}}, smbus::TransferResult{}};

// A server of one connection, which it passes to its script after the request.
class Server : public FakeUnixServer {
 public:
  explicit Server(Script script)
      : FakeUnixServer("monitored.sock", {[script = std::move(script)](int fd) {
                         uint8_t request[64];
                         EXPECT_EQ(recv(fd, request, sizeof(request), 0),
                                   ssize_t(smbus::EncodeMonitorRequest().size()));
                         script(fd);
                       }}) {}
};

void Send(int fd, const Bytes& bytes) {
  EXPECT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), ssize_t(bytes.size()));
}

// Blocks until the peer closes the connection.
void AwaitEnd(int fd) {
  uint8_t byte;
  EXPECT_EQ(recv(fd, &byte, 1, 0), 0);
}

class BusMonitorTest : public testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<BusMonitor>> Connect(const std::string& path) {
    return BusMonitor::Connect(path, cancellation_, [] { return absl::FromUnixMicros(1'700'000'000'000'000); });
  }

  const TimeLimit limit_{"what the server sends"};
  Cancellation cancellation_;
};

TEST_F(BusMonitorTest, SeesWhatTheServerSends) {
  Server server([](int fd) {
    Send(fd, smbus::EncodeMonitorStart(1'000'000));
    Send(fd, smbus::EncodeMonitorEvent(kRecord));
    Send(fd, smbus::EncodeMonitorEvent(smbus::BusLoss{3}));
  });
  const auto monitor = *Connect(server.path);
  EXPECT_EQ(monitor->host_time_us(), 1'699'999'999'000'000u) << "the server started a second ago";
  EXPECT_EQ(**monitor->Next(), kRecord);
  EXPECT_EQ(**monitor->Next(), smbus::MonitorEvent(smbus::BusLoss{3}));
  EXPECT_EQ(monitor->Next().status(), absl::UnavailableError("bus monitored.sock: the server closed the connection"));
}

TEST_F(BusMonitorTest, ACancellationIsTheEnd) {
  Server server([](int fd) {
    Send(fd, smbus::EncodeMonitorStart(0));
    AwaitEnd(fd);
  });
  auto monitor = *Connect(server.path);
  std::thread canceller([this] { cancellation_.Cancel(); });
  EXPECT_EQ(*monitor->Next(), std::nullopt);
  canceller.join();
  EXPECT_EQ(*monitor->Next(), std::nullopt) << "for good";
  monitor.reset();
}

TEST_F(BusMonitorTest, AServerThatKnowsNoMonitorsIsSaidToBeOne) {
  Server server([](int) {});
  EXPECT_EQ(Connect(server.path).status(), absl::UnavailableError("bus monitored.sock: its server cannot be watched"));
}

TEST_F(BusMonitorTest, NobodyThere) {
  EXPECT_EQ(Connect("/nonexistent/bus.sock").status(),
            absl::UnavailableError("bus /nonexistent/bus.sock: No such file or directory"));
  EXPECT_EQ(Connect(std::string(200, 'x')).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(BusMonitorTest, RubbishIsRefused) {
  for (const Bytes& rubbish : {Bytes{0xFF, 0xFF, 0xFF, 0xFF}, Bytes{2, 0, 0, 0, 9, 9}}) {
    Server at_start([&](int fd) { Send(fd, rubbish); });
    EXPECT_FALSE(Connect(at_start.path).ok());
  }
  for (const Bytes& rubbish : {Bytes{0xFF, 0xFF, 0xFF, 0xFF}, Bytes{2, 0, 0, 0, 9, 9}}) {
    Server later([&](int fd) {
      Send(fd, smbus::EncodeMonitorStart(~uint64_t{0}));
      Send(fd, rubbish);
    });
    const auto monitor = *Connect(later.path);
    EXPECT_EQ(monitor->host_time_us(), 0u) << "no such time";
    EXPECT_EQ(monitor->Next().status().code(), absl::StatusCode::kUnavailable);
  }
}

TEST(BusSpeedTest, Parses) {
  EXPECT_EQ(*ParseBusSpeed("100k"), 100'000u);
  EXPECT_EQ(*ParseBusSpeed("1M"), 1'000'000u);
  EXPECT_EQ(*ParseBusSpeed("400000"), 400'000u);
  EXPECT_EQ(*ParseBusSpeed("1k"), kBusHzMin);
  EXPECT_EQ(*ParseBusSpeed("10M"), kBusHzMax);
}

TEST(BusSpeedTest, RefusesTheRest) {
  for (const char* text :
       {"", "k", "100K", "999", "11M", "10000001", "-100k", "1kM", "0x10k", "18446744073709551615M"}) {
    EXPECT_FALSE(ParseBusSpeed(text).ok()) << text;
  }
  EXPECT_EQ(ParseBusSpeed("fast").status().message(), "'fast' is not a bus speed from 1k to 10M, such as 100k");
}

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

// Mostly mailbox-like traffic, so that the decoder's deeper states are reached; the rest is noise.
class RandomBus {
 public:
  explicit RandomBus(uint64_t seed) : random_(seed) {}

  BusRecord Next() {
    BusRecord record{.time_us = random_()};
    const size_t messages = Below(8) == 0 ? Below(smbus::kMessagesMax + 1) : 1 + Below(2);
    smbus::TransferResult result{
        .outcome = static_cast<smbus::Outcome>(Below(4) == 0 ? Below(smbus::kOutcomeMax + 1) : 0),
        .stretch_us = static_cast<uint32_t>(Below(8) == 0 ? random_() : 0)};
    for (size_t i = 0; i < messages; ++i) record.transfer.messages.push_back(NextMessage());
    for (const Message& message : record.transfer.messages) {
      if (message.read && Below(16) != 0) result.read.push_back(Answer());
    }
    if (Below(16) == 0) result.read.push_back(Answer());  // an answer without a read
    if (Below(32) != 0) record.result = std::move(result);
    return record;
  }

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  uint8_t Byte() { return static_cast<uint8_t>(random_()); }
  uint8_t Address() { return Below(4) == 0 ? Byte() & 0x7F : 0x4F; }

  uint8_t Code() {
    switch (Below(4)) {
      case 0:
        return static_cast<uint8_t>(0x5C + Below(3));
      case 1:
        return static_cast<uint8_t>(0xD0 + Below(4));
      case 2:
        return static_cast<uint8_t>(0x5C + Below(8));
      default:
        return Byte();
    }
  }

  Message NextMessage() {
    if (Below(2) == 0) return Message::Read(Address(), static_cast<uint16_t>(Below(300)));
    Bytes bytes;
    if (Below(16) != 0) bytes.push_back(Code());
    if (Below(2) == 0) {
      bytes.push_back(Below(8) == 0 ? Byte() : 4);
      const uint8_t opcode = Below(2) == 0 ? static_cast<uint8_t>(0x60 + Below(6)) : static_cast<uint8_t>(Below(0x30));
      const Bytes word = {opcode, Byte(), Byte(), static_cast<uint8_t>(Byte() | 0x80)};
      bytes.insert(bytes.end(), word.begin(), word.end());
    }
    for (uint64_t more = Below(4) == 0 ? Below(300) : Below(2); more > 0; --more) bytes.push_back(Byte());
    return Message::Write(Address(), std::move(bytes));
  }

  Bytes Answer() {
    const size_t size = Below(4) == 0 ? Below(300) : 4 + Below(3);
    Bytes bytes;
    if (size > 0) bytes.push_back(Below(4) == 0 ? Byte() : Below(2) == 0 ? 4 : static_cast<uint8_t>(size - 1));
    while (bytes.size() < size) bytes.push_back(Byte());
    return bytes;
  }

  std::mt19937_64 random_;
};

void ExpectPrintable(const std::string& text) {
  ASSERT_FALSE(text.empty());
  ASSERT_EQ(text.back(), '\n');
  for (const char c : text) ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << text;
}

// Decoding any bus traffic terminates, in bounded memory, with printable text. The failure message contains the seed.
TEST(TracePropertyTest, AnyBusIsDecoded) {
  for (uint64_t seed = 1; seed <= 15; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomBus bus(seed);
    TraceDecoder decoder(100'000);
    for (uint64_t number = 1; number <= 1000; ++number) {
      const BusRecord record = bus.Next();
      const TraceEntry entry = decoder.Decode(record);
      ExpectPrintable(TraceText(number, entry, std::nullopt));
      ExpectPrintable(TraceText(number, entry, record.time_us));
      ExpectPrintable(TraceJson(number, record, entry, 0));
      if (number % 100 == 0) decoder.Lost();
    }
  }
}

// The line with the wires may be of any length; the lines below it are wrapped to kTraceColumns.
TEST(TracePropertyTest, MeaningKeepsToItsColumns) {
  RandomBus bus(44);
  TraceDecoder decoder(100'000);
  for (uint64_t number = 1; number <= 2000; ++number) {
    const BusRecord record = bus.Next();
    TraceEntry entry = decoder.Decode(record);
    entry.time_us = 0;
    entry.wire.clear();
    const std::string text = TraceText(number, entry, std::nullopt);
    for (const auto& line : absl::StrSplit(text, '\n')) ASSERT_LE(line.size(), kTraceColumns) << text;
  }
}

}  // namespace

}  // namespace sideband::client
