// SPDX-License-Identifier: Apache-2.0
//
// Writer and reader on real files: a reader gets the whole published snapshot, and a file has no data of other VMs.
#include "secure_mcu/guest_view/guest_views.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <set>
#include <thread>
#include <vector>

#include "absl/strings/escaping.h"
#include "proto/base/file.h"
#include "proto/base/wait_until.h"
#include "proto/envelope/record.h"
#include "secure_mcu/guest_view/example_device.h"
#include "secure_mcu/guest_view/reader.h"

namespace sideband::mcu {
namespace {

std::set<std::string> FilesIn(const std::string& dir) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) names.insert(entry.path().filename());
  return names;
}

TEST(GuestViewsTest, EachVmThatIsNotConfidentialHasItsOwn) {
  const std::string dir = FreshFolder("each");
  const auto views = GuestViews::Create(dir, 42);
  ASSERT_TRUE(views.ok()) << views.status();
  ASSERT_TRUE((*views)->Publish(ExampleCatalog(), ExampleSnapshot(ExampleCatalog(), 7)).ok());
  EXPECT_EQ(FilesIn(dir), (std::set<std::string>{"alpha-vm.sbv", "beta-vm.sbv"}));
  const auto sample = (*GuestViewReader::Open(dir + "/beta-vm.sbv"))->Read();
  ASSERT_TRUE(sample.ok()) << sample.status();
  ASSERT_EQ(sample->blocks.size(), 2);
  EXPECT_EQ(sample->Counters(1)[2], ExampleCount(5, 2, 7)) << "beta-train is the sixth block";
}

TEST(GuestViewsTest, AConfidentialVmHasItsNewestRecords) {
  const std::string dir = FreshFolder("sealed");
  const auto views = GuestViews::Create(dir, 42);
  mailbox::Catalog catalog = ExampleCatalog();
  catalog.vms[0].confidential = true;
  const auto records = [&] {
    const std::string file = *ReadFile(dir + "/alpha-vm.sbs");
    const auto views_of_file = envelope::DecodeSealedView(AsBytes(file));
    std::vector<Bytes> found;
    for (const ByteSpan record : *views_of_file) found.emplace_back(record.begin(), record.end());
    return found;
  };
  mailbox::Snapshot snapshot = ExampleSnapshot(catalog, 7);
  ASSERT_TRUE((*views)->Publish(catalog, snapshot).ok());
  EXPECT_EQ(FilesIn(dir), std::set<std::string>{"beta-vm.sbv"}) << "its guest has exchanged no keys";
  snapshot.sealed = {{.vm = 1, .record = {1, 2, 3}}, {.vm = 1, .record = {4}}};
  ASSERT_TRUE((*views)->Publish(catalog, snapshot).ok());
  EXPECT_EQ(records(), (std::vector<Bytes>{{1, 2, 3}, {4}}));
  snapshot.sealed = {{.vm = 1, .record = {5}}};
  ASSERT_TRUE((*views)->Publish(catalog, snapshot).ok());
  EXPECT_EQ(records(), (std::vector<Bytes>{{5}}));
  snapshot.sealed.clear();
  ASSERT_TRUE((*views)->Publish(catalog, snapshot).ok());
  EXPECT_EQ(FilesIn(dir), std::set<std::string>{"beta-vm.sbv"}) << "the keys have ended";
}

TEST(GuestViewsTest, EventsOfTheDeviceAreInNoView) {
  const std::string dir = FreshFolder("device_scope");
  const auto views = GuestViews::Create(dir, 42);
  mailbox::Catalog catalog = ExampleCatalog();
  catalog.events[1].scope = mailbox::EventScope::kDevice;
  ASSERT_TRUE((*views)->Publish(catalog, ExampleSnapshot(catalog, 7)).ok());
  const auto reader = GuestViewReader::Open(dir + "/beta-vm.sbv");
  ASSERT_EQ((*reader)->directory().catalog.events.size(), 2u);
  EXPECT_EQ((*reader)->directory().catalog.events[1].name, "pcie_bytes");
  const auto sample = (*reader)->Read();
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ(sample->Counters(1)[0], ExampleCount(5, 0, 7));
  EXPECT_EQ(sample->Counters(1)[1], ExampleCount(5, 2, 7));
}

TEST(GuestViewsTest, VmsComeAndGo) {
  const std::string dir = FreshFolder("come_and_go");
  const auto views = GuestViews::Create(dir, 42);
  mailbox::Catalog catalog = ExampleCatalog();
  ASSERT_TRUE((*views)->Publish(catalog, ExampleSnapshot(catalog, 1)).ok());
  catalog.vms.erase(catalog.vms.begin());
  std::erase_if(catalog.contexts, [](const auto& context) { return context.vm == 1; });
  catalog.vms.push_back({4, ExampleUuid(4), "delta-vm", false, 0, 1});
  ASSERT_TRUE((*views)->Publish(catalog, ExampleSnapshot(catalog, 2)).ok());
  EXPECT_EQ(FilesIn(dir), (std::set<std::string>{"beta-vm.sbv", "delta-vm.sbv"}));
}

TEST(GuestViewsTest, AVmThatBecomesConfidentialLosesItsView) {
  const std::string dir = FreshFolder("becomes");
  const auto views = GuestViews::Create(dir, 42);
  mailbox::Catalog catalog = ExampleCatalog();
  ASSERT_TRUE((*views)->Publish(catalog, ExampleSnapshot(catalog, 1)).ok());
  catalog.vms[0].confidential = true;
  ASSERT_TRUE((*views)->Publish(catalog, ExampleSnapshot(catalog, 2)).ok());
  EXPECT_EQ(FilesIn(dir), std::set<std::string>{"beta-vm.sbv"});
}

TEST(GuestViewsTest, AnotherVmOfTheSameNameIsAnother) {
  const std::string dir = FreshFolder("another");
  const auto views = GuestViews::Create(dir, 42);
  mailbox::Catalog catalog = ExampleCatalog();
  ASSERT_TRUE((*views)->Publish(catalog, ExampleSnapshot(catalog, 1)).ok());
  const auto old_reader = GuestViewReader::Open(dir + "/alpha-vm.sbv");
  catalog.vms[0].id = 8;
  for (auto& context : catalog.contexts) context.vm = context.vm == 1 ? 8 : context.vm;
  ASSERT_TRUE((*views)->Publish(catalog, ExampleSnapshot(catalog, 2)).ok());
  EXPECT_EQ((*old_reader)->Read().status().code(), absl::StatusCode::kAborted);
  const auto sample = (*GuestViewReader::Open(dir + "/alpha-vm.sbv"))->Read();
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ(sample->blocks[0].vm, 8);
}

TEST(GuestViewsTest, OneVmThatCannotBeShownKeepsNoOtherFromIt) {
  const std::string dir = FreshFolder("one_fails");
  std::filesystem::create_directories(dir + "/alpha-vm.sbv/full");  // blocks the file's name with a folder
  const auto views = GuestViews::Create(dir, 42);
  EXPECT_FALSE((*views)->Publish(ExampleCatalog(), ExampleSnapshot(ExampleCatalog(), 1)).ok());
  EXPECT_TRUE((*GuestViewReader::Open(dir + "/beta-vm.sbv"))->Read().ok());
  std::filesystem::remove_all(dir + "/alpha-vm.sbv");
  EXPECT_TRUE((*views)->Publish(ExampleCatalog(), ExampleSnapshot(ExampleCatalog(), 2)).ok()) << "it tries again";
  EXPECT_TRUE((*GuestViewReader::Open(dir + "/alpha-vm.sbv"))->Read().ok());
}

TEST(GuestViewsTest, FilesGoWithIt) {
  const std::string dir = FreshFolder("go");
  { ASSERT_TRUE((*GuestViews::Create(dir, 1))->Publish(ExampleCatalog(), ExampleSnapshot(ExampleCatalog(), 1)).ok()); }
  EXPECT_TRUE(FilesIn(dir).empty());
}

TEST(GuestViewsTest, TheFolderMustExist) {
  const std::string dir = FreshFolder("exists");
  EXPECT_EQ(GuestViews::Create(dir + "/none", 1).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(GuestViews::Create("/proc/self/status", 1).status().code(), absl::StatusCode::kInvalidArgument);
}

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
