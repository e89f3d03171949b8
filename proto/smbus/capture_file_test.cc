// SPDX-License-Identifier: Apache-2.0
#include "proto/smbus/capture_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <vector>

#include "proto/base/file.h"

namespace sideband::smbus {
namespace {

BusRecord ARecord(uint64_t time_us) {
  return {.time_us = time_us,
          .transfer = {{Message::Write(0x4F, {0x5C}), Message::ReadBlock(0x4F, 1)}},
          .result = TransferResult{.read = {{4, 0, 0, 0, 0x1E, 0x90}}}};
}

class CaptureFileTest : public testing::Test {
 protected:
  ~CaptureFileTest() override { unlink(path_.c_str()); }

  void WriteText(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
  std::string Text() const { return *ReadFile(path_); }
  std::unique_ptr<CaptureWriter> Create(CaptureWriter::Options options = {}) {
    return *CaptureWriter::Create(path_, options);
  }
  // Returns all events, and the status at the end of the file.
  std::pair<std::vector<MonitorEvent>, absl::Status> ReadAll() const {
    std::vector<MonitorEvent> events;
    auto reader = CaptureReader::Open(path_);
    if (!reader.ok()) return {events, reader.status()};
    while (true) {
      auto event = (*reader)->Next();
      if (!event.ok()) return {events, event.status()};
      if (!event->has_value()) return {events, absl::OkStatus()};
      events.push_back(**event);
    }
  }

  const std::string path_ = testing::TempDir() + "/bus.sbt";
};

TEST_F(CaptureFileTest, RoundTrips) {
  const std::vector<MonitorEvent> events = {ARecord(1), BusLoss{5}, ARecord(2)};
  {
    const auto writer = Create({.host_time_us = 1'700'000'000'000'000});
    for (const MonitorEvent& event : events) EXPECT_EQ(writer->Append(event), absl::OkStatus());
  }
  const auto [read, status] = ReadAll();
  EXPECT_EQ(status, absl::OkStatus());
  EXPECT_EQ(read, events);
  EXPECT_EQ((*CaptureReader::Open(path_))->host_time_us(), 1'700'000'000'000'000u);
}

// The example of README.md.
TEST_F(CaptureFileTest, BytesAreThoseOfTheDocument) {
  Create({.host_time_us = 1'700'000'000'000'000});
  const std::string header("\x53\x42\x54\x52\x01\x00\x00\x00\x00\x40\x1E\x18\x24\x0A\x06\x00", 16);
  EXPECT_EQ(Text(), header);
}

TEST_F(CaptureFileTest, OnlyTheOwnerReads) {
  Create();
  struct stat file;
  ASSERT_EQ(stat(path_.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
}

TEST_F(CaptureFileTest, ACaptureIsReplaced) {
  EXPECT_TRUE(Create()->Append(ARecord(1)).ok());
  chmod(path_.c_str(), 0644);
  Create();
  EXPECT_EQ(Text().size(), kCaptureHeaderBytes);
  struct stat file;
  ASSERT_EQ(stat(path_.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
}

TEST_F(CaptureFileTest, AWriterThatIsGivenNothingReplacesNothing) {
  EXPECT_TRUE(Create()->Append(ARecord(1)).ok());
  const std::string before = Text();
  { const auto writer = Create({.replaces_at_first_event = true}); }
  EXPECT_EQ(Text(), before);
  EXPECT_FALSE(ReadFile(path_ + ".partial").ok());
  EXPECT_TRUE(Create({.replaces_at_first_event = true})->Append(ARecord(2)).ok());
  EXPECT_EQ(ReadAll().first, std::vector<MonitorEvent>{ARecord(2)});
  EXPECT_FALSE(ReadFile(path_ + ".partial").ok());
}

TEST_F(CaptureFileTest, NothingElseIsReplacedAtTheFirstEventEither) {
  const auto writer = Create({.replaces_at_first_event = true});
  WriteText("version: 1\n");
  EXPECT_EQ(writer->Append(ARecord(1)).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Text(), "version: 1\n");
}

TEST_F(CaptureFileTest, NothingElseIsReplaced) {
  WriteText("version: 1\n");
  EXPECT_EQ(CaptureWriter::Create(path_, {}).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Text(), "version: 1\n");
  unlink(path_.c_str());
  ASSERT_EQ(symlink("elsewhere", path_.c_str()), 0);
  EXPECT_EQ(CaptureWriter::Create(path_, {}).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(CaptureWriter::Create("/nonexistent/bus.sbt", {}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(CaptureWriter::Create("/dev/null", {}).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(CaptureFileTest, NoLargerThanItMayBe) {
  const size_t record = EncodeMonitorEvent(ARecord(1)).size();
  const auto writer = Create({.size_max = kCaptureHeaderBytes + 2 * record});
  EXPECT_TRUE(writer->Append(ARecord(1)).ok());
  EXPECT_TRUE(writer->Append(ARecord(2)).ok());
  EXPECT_EQ(writer->Append(ARecord(3)).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Text().size(), kCaptureHeaderBytes + 2 * record);
}

TEST_F(CaptureFileTest, ACutFileGivesWhatIsWhole) {
  const auto writer = Create();
  for (uint64_t i = 1; i <= 3; ++i) EXPECT_TRUE(writer->Append(ARecord(i)).ok());
  const std::string whole = Text();
  const size_t record = (whole.size() - kCaptureHeaderBytes) / 3;
  for (size_t size = kCaptureHeaderBytes; size < whole.size(); ++size) {
    WriteText(whole.substr(0, size));
    const size_t records = (size - kCaptureHeaderBytes) / record;
    const auto [events, status] = ReadAll();
    EXPECT_EQ(events.size(), records);
    if ((size - kCaptureHeaderBytes) % record == 0) {
      EXPECT_TRUE(status.ok()) << size;
    } else {
      EXPECT_EQ(status.message(), path_ + ": cut off after " + std::to_string(records) + " whole records");
      EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    }
  }
}

TEST_F(CaptureFileTest, APipeIsRead) {
  EXPECT_TRUE(Create()->Append(ARecord(1)).ok());
  const std::string text = Text();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  close(ends[1]);
  auto reader = CaptureReader::FromDescriptor(ends[0], "standard input");
  close(ends[0]);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(**(*reader)->Next(), MonitorEvent(ARecord(1)));
  EXPECT_FALSE((*reader)->Next()->has_value());
}

TEST_F(CaptureFileTest, WhatIsNoCaptureIsRefused) {
  for (const std::string& text : {std::string(), std::string("hello"), std::string(100, '\0')}) {
    WriteText(text);
    EXPECT_EQ(ReadAll().second.message(), path_ + ": is not a bus capture");
    EXPECT_EQ(ReadAll().second.code(), absl::StatusCode::kInvalidArgument);
  }
  unlink(path_.c_str());
  Create();
  std::string text = Text();
  text[4] = 9;
  WriteText(text);
  EXPECT_EQ(ReadAll().second.message(), path_ + ": captures of version 9 are not supported");
  EXPECT_EQ(CaptureReader::Open("/nonexistent.sbt").status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(CaptureReader::Open("/").ok());
}

TEST_F(CaptureFileTest, HostileRecordsAreNamed) {
  Create();
  const std::string header = Text();
  WriteText(header + std::string("\xFF\xFF\xFF\xFF", 4) + "x");
  EXPECT_EQ(ReadAll().second.message(), path_ + ": record 1: virtual bus frame: too long");
  WriteText(header + std::string("\x02\x00\x00\x00\x01\x7F", 6));
  EXPECT_EQ(ReadAll().second.message(), path_ + ": record 1: virtual bus frame: unknown kind");
}

// For any damage the reader returns events or an error.
TEST_F(CaptureFileTest, SurvivesRandomDamage) {
  {
    const auto writer = Create();
    for (uint64_t i = 0; i < 4; ++i) EXPECT_TRUE(writer->Append(ARecord(i)).ok());
  }
  const std::string whole = Text();
  std::mt19937_64 random(44);
  for (int round = 0; round < 500; ++round) {
    std::string damaged = whole;
    for (int flip = 0; flip < 3; ++flip) damaged[random() % damaged.size()] = static_cast<char>(random());
    WriteText(damaged);
    EXPECT_LE(ReadAll().first.size(), 4u);
  }
}

}  // namespace
}  // namespace sideband::smbus
