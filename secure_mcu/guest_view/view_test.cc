// SPDX-License-Identifier: Apache-2.0
//
// Writer and reader on real files: a reader gets the whole published snapshot, and a file has no data of other VMs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "absl/strings/escaping.h"
#include "proto/base/file.h"
#include "proto/base/wait_until.h"
#include "secure_mcu/guest_view/example_device.h"
#include "secure_mcu/guest_view/guest_views.h"
#include "secure_mcu/guest_view/reader.h"

namespace sideband::mcu {
namespace {

using absl::StatusCode;

constexpr uint64_t kBootId = 42;

std::unique_ptr<GuestViewWriter> MakeWriter(const std::string& dir, uint16_t vm = 1) {
  auto writer = GuestViewWriter::Create(dir, ExampleCatalog(), vm, kBootId);
  EXPECT_TRUE(writer.ok()) << writer.status();
  return *std::move(writer);
}

std::unique_ptr<GuestViewReader> MakeReader(const GuestViewWriter& writer) {
  auto reader = GuestViewReader::Open(writer.path());
  EXPECT_TRUE(reader.ok()) << reader.status();
  return *std::move(reader);
}

std::string FileOf(const GuestViewWriter& writer) { return *ReadFile(writer.path()); }

// The blocks of VM 1 in a snapshot of the example: its own, alpha-train and alpha-infer.
void ExpectVm1(const GuestViewSample& sample, uint32_t trigger) {
  const mailbox::Snapshot snapshot = ExampleSnapshot(ExampleCatalog(), trigger);
  EXPECT_EQ(sample.trigger_id, trigger);
  EXPECT_EQ(sample.reference_time_ns, snapshot.reference_time_ns);
  ASSERT_EQ(sample.blocks.size(), 3);
  for (size_t b = 0; b < 3; ++b) {
    EXPECT_EQ(sample.blocks[b], snapshot.blocks[1 + b]);
    EXPECT_TRUE(std::ranges::equal(sample.Counters(b), snapshot.Counters(1 + b)));
  }
}

TEST(GuestViewTest, WhatIsPublishedIsRead) {
  const auto writer = MakeWriter(FreshFolder("round_trip"));
  const auto reader = MakeReader(*writer);
  EXPECT_EQ(reader->directory().boot_id, kBootId);
  EXPECT_EQ(reader->directory().catalog, *CatalogOfVm(ExampleCatalog(), 1));
  EXPECT_EQ(reader->Read().status().code(), StatusCode::kUnavailable) << "nothing is published yet";
  for (uint32_t trigger = 1; trigger < 4; ++trigger) {
    ASSERT_TRUE(writer->Publish(ExampleSnapshot(ExampleCatalog(), trigger)).ok());
    const auto sample = reader->Read();
    ASSERT_TRUE(sample.ok()) << sample.status();
    ExpectVm1(*sample, trigger);
    EXPECT_EQ(sample->sequence, 2 * trigger);
  }
}

// The example of README.md.
TEST(GuestViewTest, BytesAreThoseOfTheDocument) {
  Uuid device, vm;
  device.bytes[15] = 1;
  vm.bytes[15] = 2;
  const auto writer = GuestViewWriter::Create(FreshFolder("document"),
                                              {.device = device,
                                               .reference_clock_hz = 1'000'000'000,
                                               .events = {{"cycles", "cycles"}},
                                               .vms = {{1, vm, "vm1", false, 0, 1}}},
                                              1, /*boot_id=*/7);
  ASSERT_TRUE(writer.ok()) << writer.status();
  const mailbox::BlockHeader block{.vm = 1,
                                   .generation = 1,
                                   .state = mailbox::BlockState::kActive,
                                   .trigger_id = 5,
                                   .reference_time_ns = 4096,
                                   .sequence = 1};
  ASSERT_TRUE((*writer)
                  ->Publish({.trigger_id = 5,
                             .reference_time_ns = 4096,
                             .counters_per_block = 1,
                             .blocks = {block},
                             .counters = {300}})
                  .ok());
  EXPECT_EQ(absl::BytesToHexString(FileOf(**writer)),
            // 000: the directory.
            "5342475649455731800000004d000000"
            "0700000000000000"
            "0000000000000000000000000000000100ca9a3b0000000000"
            "0100066379636c6573066379636c6573"
            "00000000"
            "01000100000000000000000000000000"
            "0000000203766d310000010000000000"
            "0000000000000000000000000000000000000000000000"
            "b197a0b0"
            // 080: the live part.
            "02000000000000000000000000000000"
            "05000000000000000010000000000000"
            "01000000000000000500000001000000"
            "00100000000000002c01000000000000"
            "0200000000000000");
}

TEST(GuestViewTest, BlocksMayChangeTheirOrder) {
  const auto writer = MakeWriter(FreshFolder("order"));
  const auto reader = MakeReader(*writer);
  ASSERT_TRUE(writer->Publish(ExampleSnapshot(ExampleCatalog(), 1)).ok());
  mailbox::Snapshot snapshot = ExampleSnapshot(ExampleCatalog(), 2);
  std::swap(snapshot.blocks[1], snapshot.blocks[5]);
  std::swap_ranges(snapshot.counters.begin() + 3, snapshot.counters.begin() + 6, snapshot.counters.begin() + 15);
  ASSERT_TRUE(writer->Publish(snapshot).ok());
  ExpectVm1(*reader->Read(), 2);
}

TEST(GuestViewTest, RefusesASnapshotThatDoesNotFitAndKeepsTheLast) {
  const auto writer = MakeWriter(FreshFolder("misfit"));
  const auto reader = MakeReader(*writer);
  ASSERT_TRUE(writer->Publish(ExampleSnapshot(ExampleCatalog(), 1)).ok());
  mailbox::Catalog other = ExampleCatalog();
  other.contexts.erase(other.contexts.begin());
  EXPECT_EQ(writer->Publish(ExampleSnapshot(other, 2)).code(), StatusCode::kInvalidArgument) << "a block is missing";
  other = ExampleCatalog();
  other.events.pop_back();
  EXPECT_EQ(writer->Publish(ExampleSnapshot(other, 2)).code(), StatusCode::kInvalidArgument) << "an event is missing";
  mailbox::Snapshot cut = ExampleSnapshot(ExampleCatalog(), 2);
  cut.counters.pop_back();
  EXPECT_EQ(writer->Publish(cut).code(), StatusCode::kInvalidArgument);
  ExpectVm1(*reader->Read(), 1);
}

TEST(GuestViewTest, ConfidentialAndUnknownVmsHaveNoView) {
  const std::string dir = FreshFolder("confidential");
  EXPECT_EQ(GuestViewWriter::Create(dir, ExampleCatalog(), 3, 1).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(GuestViewWriter::Create(dir, ExampleCatalog(), 0, 1).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(GuestViewWriter::Create(dir, ExampleCatalog(), 9, 1).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(GuestViewWriter::Create(dir + "/none", ExampleCatalog(), 1, 1).status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(std::filesystem::is_empty(dir));
}

std::string LittleEndian(uint64_t value) {
  ByteWriter out;
  out.U64(value);
  return std::string(out.written().begin(), out.written().end());
}

TEST(GuestViewTest, NothingOfOthersIsInTheFile) {
  const auto writer = MakeWriter(FreshFolder("isolation"));
  const mailbox::Snapshot snapshot = ExampleSnapshot(ExampleCatalog(), 5);
  ASSERT_TRUE(writer->Publish(snapshot).ok());
  const std::string file = FileOf(*writer);
  for (const char* name : {"beta", "gamma", "slice-sentinel"}) EXPECT_EQ(file.find(name), std::string::npos) << name;
  for (const char byte : {'\xB2', '\xC3'}) EXPECT_EQ(file.find(std::string(16, byte)), std::string::npos) << "a UUID";
  for (size_t block = 0; block < snapshot.blocks.size(); ++block) {
    for (size_t event = 0; event < 3; ++event) {
      const bool is_there = file.find(LittleEndian(ExampleCount(block, event, 5))) != std::string::npos;
      EXPECT_EQ(is_there, snapshot.blocks[block].vm == 1) << "block " << block;
    }
  }
}

TEST(GuestViewTest, EverybodyMayReadAndNobodyMayWrite) {
  const std::string dir = FreshFolder("mode");
  const mode_t old_mask = umask(0077);
  const auto writer = MakeWriter(dir);
  umask(old_mask);
  struct stat status {};
  ASSERT_EQ(stat(writer->path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0444);
  EXPECT_EQ(writer->path(), dir + "/alpha-vm.sbv");
  EXPECT_FALSE(std::filesystem::exists(writer->path() + ".new"));
}

TEST(GuestViewTest, WhatAKilledWriterLeftIsNotInTheWay) {
  const std::string dir = FreshFolder("leftover");
  ASSERT_EQ(symlink("/nonexistent/target", (dir + "/alpha-vm.sbv.new").c_str()), 0);
  close(open((dir + "/alpha-vm.sbv").c_str(), O_CREAT | O_WRONLY, 0444));
  const auto writer = MakeWriter(dir);
  ASSERT_TRUE(writer->Publish(ExampleSnapshot(ExampleCatalog(), 1)).ok());
  ExpectVm1(*MakeReader(*writer)->Read(), 1);
}

TEST(GuestViewTest, AReaderNoticesThatTheFileWasReplaced) {
  const auto writer = MakeWriter(FreshFolder("replace"));
  ASSERT_TRUE(writer->Publish(ExampleSnapshot(ExampleCatalog(), 1)).ok());
  const auto old_reader = MakeReader(*writer);
  mailbox::Catalog catalog = ExampleCatalog();
  catalog.contexts.push_back({1, 2, "alpha-new", 0, 1});
  ASSERT_TRUE(writer->Replace(catalog, ExampleSnapshot(catalog, 2)).ok());
  EXPECT_EQ(old_reader->Read().status().code(), StatusCode::kAborted);
  const auto sample = MakeReader(*writer)->Read();
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ(sample->trigger_id, 2);
  EXPECT_EQ(sample->blocks.size(), 4);
}

TEST(GuestViewTest, AChangeThatConcernsOthersReplacesNothing) {
  const auto writer = MakeWriter(FreshFolder("others"));
  const auto reader = MakeReader(*writer);
  mailbox::Catalog catalog = ExampleCatalog();
  catalog.contexts.push_back({2, 1, "beta-new", 0, 1});
  ASSERT_TRUE(writer->Replace(catalog, ExampleSnapshot(catalog, 2)).ok());
  ExpectVm1(*reader->Read(), 2);
}

TEST(GuestViewTest, AFailedReplacementKeepsTheOldFile) {
  const auto writer = MakeWriter(FreshFolder("failed"));
  ASSERT_TRUE(writer->Publish(ExampleSnapshot(ExampleCatalog(), 1)).ok());
  const auto reader = MakeReader(*writer);
  mailbox::Catalog catalog = ExampleCatalog();
  catalog.contexts.push_back({1, 2, "alpha-new", 0, 1});
  EXPECT_FALSE(writer->Replace(catalog, ExampleSnapshot(ExampleCatalog(), 2)).ok());
  ExpectVm1(*reader->Read(), 1);
  ExpectVm1(*MakeReader(*writer)->Read(), 1);
  EXPECT_FALSE(std::filesystem::exists(writer->path() + ".new"));
}

TEST(GuestViewTest, TheFileGoesWithItsWriter) {
  auto writer = MakeWriter(FreshFolder("gone"));
  const std::string path = writer->path();
  ASSERT_TRUE(writer->Publish(ExampleSnapshot(ExampleCatalog(), 1)).ok());
  const auto reader = MakeReader(*writer);
  writer.reset();
  EXPECT_EQ(reader->Read().status().code(), StatusCode::kAborted);
  EXPECT_EQ(GuestViewReader::Open(path).status().code(), StatusCode::kNotFound);
}

// The writer publishes at full speed; every number of a sample must belong to its trigger.
TEST(GuestViewTest, NoSampleIsTorn) {
  const auto writer = MakeWriter(FreshFolder("torn"));
  ASSERT_TRUE(writer->Publish(ExampleSnapshot(ExampleCatalog(), 1)).ok());
  std::atomic<bool> stop = false;
  const TimeLimit limit("20000 whole samples", absl::Minutes(4));
  std::thread publisher([&] {
    for (uint32_t trigger = 2; !stop; ++trigger) {
      EXPECT_TRUE(writer->Publish(ExampleSnapshot(ExampleCatalog(), trigger)).ok());
    }
  });
  const auto reader = MakeReader(*writer);
  uint32_t last = 0;
  for (int whole = 0; whole < 20'000;) {
    const auto sample = reader->Read();
    if (!sample.ok()) {
      EXPECT_EQ(sample.status().code(), StatusCode::kUnavailable);
      continue;
    }
    ASSERT_GE(sample->trigger_id, last);
    last = sample->trigger_id;
    ++whole;
    ASSERT_NO_FATAL_FAILURE(ExpectVm1(*sample, last));
  }
  stop = true;
  publisher.join();
}

}  // namespace
}  // namespace sideband::mcu
