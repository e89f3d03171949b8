// SPDX-License-Identifier: Apache-2.0
//
// A damaged view is an error and never a crash, with any content and with truncation at any time. A view is printed as
// it is.
#include "secure_mcu/guest_view/reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "proto/base/file.h"
#include "secure_mcu/guest_view/example_device.h"
#include "secure_mcu/guest_view/guest_views.h"

namespace sideband::mcu {
namespace {

using absl::StatusCode;

// The bytes of a valid view of VM 1.
std::string SoundView() {
  const auto writer = GuestViewWriter::Create(FreshFolder("sound"), ExampleCatalog(), 1, 42);
  EXPECT_TRUE((*writer)->Publish(ExampleSnapshot(ExampleCatalog(), 3)).ok());
  return *ReadFile((*writer)->path());
}

size_t LiveOffset() { return EncodeGuestDirectory({42, *CatalogOfVm(ExampleCatalog(), 1)}).size(); }

std::string WriteView(const std::string& bytes) {
  const std::string path = FreshFolder("damaged") + "/view.sbv";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

absl::Status OpenAndRead(const std::string& bytes) {
  const auto reader = GuestViewReader::Open(WriteView(bytes));
  return reader.ok() ? (*reader)->Read().status() : reader.status();
}

TEST(GuestViewReaderTest, ACopyOfASoundViewIsOne) { EXPECT_TRUE(OpenAndRead(SoundView()).ok()); }

TEST(GuestViewReaderTest, EveryTruncationAndExtraByteIsRefusedOnOpening) {
  const std::string sound = SoundView();
  for (size_t size = 0; size < sound.size(); ++size) {
    const auto reader = GuestViewReader::Open(WriteView(sound.substr(0, size)));
    EXPECT_FALSE(reader.ok()) << size;
  }
  EXPECT_EQ(OpenAndRead(sound + "x").code(), StatusCode::kDataLoss);
}

// An access to a mapping would raise a signal here.
TEST(GuestViewReaderTest, EveryTruncationOfAnOpenFileIsAnError) {
  const std::string sound = SoundView();
  const std::string path = WriteView(sound);
  const auto reader = GuestViewReader::Open(path);
  for (size_t size = sound.size(); size-- > 0;) {
    ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(size)), 0);
    if (size >= LiveOffset()) {
      EXPECT_EQ((*reader)->Read().status().code(), StatusCode::kDataLoss) << size;
    } else {
      EXPECT_FALSE((*reader)->Read().ok()) << size;
    }
  }
}

TEST(GuestViewReaderTest, EveryFlippedByteOfTheDirectoryIsRefused) {
  std::string bytes = SoundView();
  for (size_t i = 0; i < LiveOffset(); ++i) {
    bytes[i] ^= 0x41;
    EXPECT_FALSE(OpenAndRead(bytes).ok()) << i;
    bytes[i] ^= 0x41;
  }
}

// A changed count, id or time cannot be detected; every other change must be.
TEST(GuestViewReaderTest, EveryFlippedByteOfTheLivePartIsAnErrorOrANumber) {
  const std::string sound = SoundView();
  for (size_t i = LiveOffset(); i < sound.size(); ++i) {
    std::string bytes = sound;
    bytes[i] ^= 0x41;
    const absl::Status status = OpenAndRead(bytes);
    const size_t word = (i - LiveOffset()) / 8;
    const bool is_head_or_tail = word == 0 || word == sound.size() / 8 - LiveOffset() / 8 - 1;
    if (is_head_or_tail) {
      EXPECT_EQ(status.code(), StatusCode::kUnavailable) << i;
    } else if (word == GuestLiveLayout::kSupersededWord) {
      EXPECT_EQ(status.code(), StatusCode::kAborted) << i;
    } else {
      EXPECT_TRUE(status.ok() || status.code() == StatusCode::kDataLoss) << i << ": " << status;
    }
  }
}

TEST(GuestViewReaderTest, AWriterThatDiedAtWorkIsUnavailable) {
  std::string bytes = SoundView();
  bytes[LiveOffset()] = 3;
  bytes[bytes.size() - 8] = 3;
  EXPECT_EQ(OpenAndRead(bytes).code(), StatusCode::kUnavailable);
}

TEST(GuestViewReaderTest, SizesThatNoFileHasAllocateNothing) {
  std::string bytes = SoundView();
  bytes[11] = bytes[15] = '\x7F';
  EXPECT_EQ(OpenAndRead(bytes).code(), StatusCode::kInvalidArgument);
}

TEST(GuestViewReaderTest, MessagesBeginWithThePath) {
  const std::string path = WriteView("no view");
  EXPECT_EQ(GuestViewReader::Open(path).status().message().substr(0, path.size()), path);
}

TEST(GuestViewReaderTest, RefusesWhatIsNoRegularFile) {
  const std::string dir = FreshFolder("irregular");
  EXPECT_EQ(GuestViewReader::Open(dir).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(GuestViewReader::Open(dir + "/none").status().code(), StatusCode::kNotFound);
  ASSERT_EQ(mkfifo((dir + "/fifo").c_str(), 0600), 0);
  EXPECT_EQ(GuestViewReader::Open(dir + "/fifo").status().code(), StatusCode::kInvalidArgument) << "and does not wait";
}

TEST(GuestViewReaderTest, RefusesAFileThatIsTooLarge) {
  const std::string path = WriteView(SoundView());
  ASSERT_EQ(truncate(path.c_str(), kGuestViewBytesMax + 8), 0);
  EXPECT_EQ(GuestViewReader::Open(path).status().code(), StatusCode::kOutOfRange);
}

class PeekTest : public testing::Test {
 protected:
  PeekTest() : writer_(*GuestViewWriter::Create(FreshFolder("peek"), catalog_, 2, 42)) {
    options_.file = writer_->path();
    options_.print = [this](absl::string_view text) {
      printed_.emplace_back(text);
      return absl::OkStatus();
    };
  }
  // Round numbers, for readable tables.
  mailbox::Snapshot Snapshot(uint32_t trigger) const {
    mailbox::Snapshot snapshot = ExampleSnapshot(catalog_, trigger);
    for (size_t i = 0; i < snapshot.counters.size(); ++i) snapshot.counters[i] = i * 100;
    return snapshot;
  }

  mailbox::Catalog catalog_ = ExampleCatalog();
  std::unique_ptr<GuestViewWriter> writer_;
  PeekOptions options_;
  std::vector<std::string> printed_;
};

TEST_F(PeekTest, PrintsATable) {
  ASSERT_TRUE(writer_->Publish(Snapshot(5)).ok());
  ASSERT_TRUE(RunPeek(options_).ok());
  ASSERT_EQ(printed_.size(), 1);
  EXPECT_EQ(printed_[0],
            "trigger 5 at 5000 ns\n"
            "\n"
            "event         beta-vm  beta-vm/beta-train\n"
            "(state)        active              active\n"
            "cycles           1200                1500\n"
            "instructions     1300                1600\n"
            "pcie_bytes       1400                1700\n"
            "beta-vm is flagged: overflow\n"
            "beta-vm/beta-train is flagged: overflow\n");
}

TEST_F(PeekTest, PrintsOneLineOfJson) {
  ASSERT_TRUE(writer_->Publish(Snapshot(6)).ok());
  options_.json = true;
  ASSERT_TRUE(RunPeek(options_).ok());
  EXPECT_EQ(printed_[0].find('\n'), printed_[0].size() - 1);
  const auto json = nlohmann::json::parse(printed_[0]);
  EXPECT_EQ(json["vm"], "beta-vm");
  EXPECT_EQ(json["vm_uuid"], ExampleUuid(0xB2).ToString());
  EXPECT_EQ(json["boot_id"], "000000000000002a");
  EXPECT_EQ(json["trigger_id"], 6);
  ASSERT_EQ(json["blocks"].size(), 2);
  EXPECT_EQ(json["blocks"][0]["context"], nullptr);
  EXPECT_EQ(json["blocks"][1], nlohmann::json::parse(R"({
      "vm": "beta-vm", "context": "beta-train", "generation": 1, "state": "active", "trigger_id": 6,
      "reference_time_ns": 6000, "flags": ["trigger_overrun"],
      "counters": {"cycles": 1500, "instructions": 1600, "pcie_bytes": 1700}})"));
}

TEST_F(PeekTest, WatchesThroughAReplacementUntilItIsToldToStop) {
  ASSERT_TRUE(writer_->Publish(Snapshot(1)).ok());
  int waits = 0;
  options_.watch = absl::Seconds(2);
  options_.wait = [&](absl::Duration interval) {
    EXPECT_EQ(interval, absl::Seconds(2));
    if (++waits == 1) {
      catalog_.contexts.push_back({2, 1, "beta-new", 0, 1});
      EXPECT_TRUE(writer_->Replace(catalog_, Snapshot(2)).ok());
    }
    return waits < 2;
  };
  ASSERT_TRUE(RunPeek(options_).ok());
  ASSERT_EQ(printed_.size(), 2);
  EXPECT_EQ(printed_[0].find("beta-new"), std::string::npos);
  EXPECT_NE(printed_[1].find("beta-new"), std::string::npos);
}

TEST_F(PeekTest, ReportsAViewThatIsGone) {
  ASSERT_TRUE(writer_->Publish(Snapshot(1)).ok());
  options_.watch = absl::Seconds(1);
  options_.wait = [&](absl::Duration) {
    writer_.reset();
    return true;
  };
  EXPECT_EQ(RunPeek(options_).code(), absl::StatusCode::kNotFound);
}

TEST_F(PeekTest, ReportsThatNothingIsPublished) { EXPECT_EQ(RunPeek(options_).code(), absl::StatusCode::kUnavailable); }

TEST_F(PeekTest, ReportsThatItCannotPrint) {
  ASSERT_TRUE(writer_->Publish(Snapshot(1)).ok());
  options_.print = [](absl::string_view) { return absl::DataLossError("pipe"); };
  EXPECT_EQ(RunPeek(options_).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace sideband::mcu
