// SPDX-License-Identifier: Apache-2.0
#include "client/lib/register_page.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "proto/base/fake_unix_server.h"
#include "proto/registers/guest_port.h"

namespace sideband::client {
namespace {

class MemoryPageTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(path_) << "";
    std::filesystem::resize_file(path_, 2 * hpc::kPageBytes);
  }
  // The byte of the file.
  int At(size_t offset) {
    std::ifstream file(path_, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    return file.get();
  }

  const std::string path_ = testing::TempDir() + "resource";
};

TEST_F(MemoryPageTest, AccessesAreLittleEndianWordsAtTheirPlaces) {
  const auto page = *MemoryPage::Open(path_, hpc::kPageBytes);
  ASSERT_TRUE(page->Write64(hpc::kHpcmOffset, 0x0102030405060708).ok());
  EXPECT_EQ(At(hpc::kPageBytes + hpc::kHpcmOffset), 8);
  EXPECT_EQ(At(hpc::kPageBytes + hpc::kHpcmOffset + 7), 1);
  EXPECT_EQ(*page->Read64(hpc::kHpcmOffset), 0x0102030405060708u);
  EXPECT_EQ(*page->Read32(hpc::kHpcmOffset), 0x05060708u);
  EXPECT_EQ(*page->Read32(hpc::kHpcmOffset + 4), 0x01020304u);
  ASSERT_TRUE(page->Write32(hpc::kPageBytes - 4, 9).ok());
  EXPECT_EQ(At(2 * hpc::kPageBytes - 4), 9);
  EXPECT_EQ(At(hpc::kHpcmOffset), 0) << "of the page before";
}

TEST_F(MemoryPageTest, WhatCannotBeMapped) {
  const auto code = [](const std::string& path, uint64_t offset) {
    return MemoryPage::Open(path, offset).status().code();
  };
  EXPECT_EQ(code(path_, 8), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(path_, ~uint64_t{0} / hpc::kPageBytes * hpc::kPageBytes), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(path_, 2 * hpc::kPageBytes), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code(path_ + ".absent", 0), absl::StatusCode::kNotFound);
}

// A port of one connection. It answers each frame by its answers, where nullopt is not running, or is served otherwise.
class Port : public FakeUnixServer {
 public:
  using Answers = std::function<std::optional<uint64_t>(const hpc::PageAccess&)>;

  explicit Port(Answers answers) : Port([answers = std::move(answers)](int fd) { Answer(fd, answers); }) {}
  explicit Port(Script serve) : FakeUnixServer("guest.sock", {std::move(serve)}) {}

 private:
  static void Answer(int fd, const Answers& answers) {
    Bytes frame(hpc::kFrameBytes);
    while (recv(fd, frame.data(), frame.size(), MSG_WAITALL) == ssize_t{hpc::kFrameBytes}) {
      ByteWriter answer;
      hpc::AppendAnswer(answers(*hpc::DecodeFrame(frame)), answer);
      if (send(fd, answer.written().data(), answer.size(), MSG_NOSIGNAL) < 0) break;
    }
  }
};

TEST(SocketPageTest, PerformsABatchInOrder) {
  std::vector<hpc::PageAccess> seen;
  {
    Port port([&](const hpc::PageAccess& access) {
      seen.push_back(access);
      return seen.size();
    });
    const auto page = *SocketPage::Connect(port.path);
    std::vector<hpc::PageAccess> batch(1000, hpc::ReadOf(hpc::kHpccOffset, 8));
    batch[0] = hpc::WriteOf(hpc::kHpcmOffset, 4, 7);
    ASSERT_TRUE(page->Perform(batch).ok());
    EXPECT_EQ(batch[0].value, 7u);
    for (size_t i = 1; i < batch.size(); ++i) ASSERT_EQ(batch[i].value, i + 1);
  }
  EXPECT_EQ(seen.size(), 1000u);
  EXPECT_EQ(seen[0], hpc::WriteOf(hpc::kHpcmOffset, 4, 7));
}

TEST(SocketPageTest, RepeatsFromTheFirstThatWasNotPerformed) {
  std::vector<uint16_t> performed;
  int frames = 0;
  {
    Port port([&](const hpc::PageAccess& access) -> std::optional<uint64_t> {
      // The second and third frame, and the first two of the repetition, find the guest switched out.
      const int frame = frames++;
      if ((frame >= 1 && frame <= 2) || (frame >= 4 && frame <= 5)) return std::nullopt;
      performed.push_back(access.offset);
      return 0;
    });
    int waits = 0;
    const auto page = *SocketPage::Connect(port.path, {.wait = [&](absl::Duration) { return ++waits > 99; }});
    std::vector<hpc::PageAccess> batch;
    for (const uint16_t offset : {0, 8, 16, 24}) batch.push_back(hpc::ReadOf(offset, 8));
    ASSERT_TRUE(page->Perform(batch).ok());
    EXPECT_EQ(waits, 2);
  }
  EXPECT_EQ(performed, (std::vector<uint16_t>{0, 24, 24, 8, 16, 24}));
}

TEST(SocketPageTest, AWaitEnds) {
  Port port([](const hpc::PageAccess&) { return std::nullopt; });
  const auto page = *SocketPage::Connect(port.path, {.patience = absl::Milliseconds(5)});
  EXPECT_EQ(page->Read64(0).status(),
            absl::DeadlineExceededError("guest port guest.sock: its VM or context did not run within 5ms"));
  EXPECT_EQ(page->Read64(0).status().code(), absl::StatusCode::kUnavailable) << "used up";
}

TEST(SocketPageTest, AWaitMayBeCancelled) {
  Port port([](const hpc::PageAccess&) { return std::nullopt; });
  const auto page = *SocketPage::Connect(port.path, {.wait = [](absl::Duration) { return true; }});
  EXPECT_EQ(page->Read64(0).status().code(), absl::StatusCode::kCancelled);
}

// The port closes as for one connection too many, and after a frame: with and without a frame that was not read.
TEST(SocketPageTest, ThePortMayBeClosed) {
  for (const ssize_t read : {0, 1, 2}) {
    Port port([read](int fd) {
      Bytes frames(static_cast<size_t>(read) * hpc::kFrameBytes);
      EXPECT_EQ(recv(fd, frames.data(), frames.size(), MSG_WAITALL), static_cast<ssize_t>(frames.size()));
    });
    const auto page = *SocketPage::Connect(port.path);
    std::vector<hpc::PageAccess> batch(2, hpc::ReadOf(hpc::kHpccOffset, 8));
    EXPECT_EQ(page->Perform(batch), absl::UnavailableError("guest port guest.sock: the device has closed the port"));
  }
}

TEST(SocketPageTest, ADeviceMayBeGone) {
  EXPECT_EQ(SocketPage::Connect("absent.sock").status(),
            absl::UnavailableError("guest port absent.sock: No such file or directory"));
  EXPECT_EQ(SocketPage::Connect(std::string(300, 'x')).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sideband::client
