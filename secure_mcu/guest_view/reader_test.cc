// SPDX-License-Identifier: Apache-2.0
//
// A damaged view is an error and never a crash, with any content and with truncation at any time.
#include "secure_mcu/guest_view/reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

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

}  // namespace
}  // namespace sideband::mcu
