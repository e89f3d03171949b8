// SPDX-License-Identifier: Apache-2.0
#include "daemon/transport/transport.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/smbus/transfer.h"

namespace sideband::daemon {
namespace {

using smbus::Message;
using smbus::Outcome;
using smbus::Transfer;
using smbus::TransferResult;

// The reference frames of SMBPBI's GET_TEMP at 0x4F.
const Bytes kGetTempFrame = {0x5C, 0x04, 0x02, 0x00, 0x00, 0x80, 0x56};
const Bytes kDoneFrame = {0x04, 0x02, 0x00, 0x00, 0x1F, 0x6F};

TEST(SmbusShapeTest, ABlockWrite) {
  const Transfer transfer = {{Message::Write(0x4F, kGetTempFrame)}};
  const auto write = AsBlockWrite(transfer);
  ASSERT_TRUE(write.has_value());
  EXPECT_EQ(write->address, 0x4F);
  EXPECT_EQ(write->code, 0x5C);
  EXPECT_EQ(Bytes(write->block.begin(), write->block.end()), (Bytes{0x02, 0x00, 0x00, 0x80}));
}

TEST(SmbusShapeTest, WhatIsNoBlockWriteWithPec) {
  Bytes wrong_pec = kGetTempFrame, wrong_count = kGetTempFrame, without = kGetTempFrame;
  wrong_pec.back() ^= 1;
  wrong_count[1] = 3;
  without.pop_back();
  for (const Bytes& bytes :
       {wrong_pec, wrong_count, without, Bytes{}, Bytes{0x5C}, Bytes{0x5C, 0x00, 0x00}, Bytes(36)}) {
    EXPECT_FALSE(AsBlockWrite({{Message::Write(0x4F, bytes)}}).has_value());
  }
  EXPECT_FALSE(AsBlockWrite({{Message::Read(0x4F, 7)}}).has_value());
  EXPECT_FALSE(AsBlockWrite({{Message::Write(0x4F, kGetTempFrame), Message::Write(0x4F, kGetTempFrame)}}).has_value());
  EXPECT_FALSE(AsBlockWrite({}).has_value());
}

TEST(SmbusShapeTest, ABlockRead) {
  const auto known = AsBlockRead({{Message::Write(0x4F, {0x5C}), Message::Read(0x4F, 6)}});
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(known->code, 0x5C);
  EXPECT_EQ(known->wire_bytes, 6u);
  const auto counted = AsBlockRead({{Message::Write(0x4F, {0xD0}), Message::ReadBlock(0x4F, 1)}});
  ASSERT_TRUE(counted.has_value());
  EXPECT_EQ(counted->wire_bytes, 0u);
}

TEST(SmbusShapeTest, WhatIsNoBlockRead) {
  const Message code = Message::Write(0x4F, {0x5C});
  EXPECT_TRUE(AsBlockRead({{code, Message::Read(0x4F, 34)}}).has_value()) << "32 bytes";
  EXPECT_FALSE(AsBlockRead({{code, Message::Read(0x4F, 35)}}).has_value()) << "33 bytes";
  EXPECT_TRUE(AsBlockRead({{code, Message::Read(0x4F, 3)}}).has_value()) << "1 byte";
  EXPECT_FALSE(AsBlockRead({{code, Message::Read(0x4F, 2)}}).has_value()) << "none";
  EXPECT_FALSE(AsBlockRead({{code, Message::ReadBlock(0x4F, 0)}}).has_value()) << "no PEC";
  EXPECT_FALSE(AsBlockRead({{code, Message::Read(0x4E, 6)}}).has_value()) << "another address";
  EXPECT_FALSE(AsBlockRead({{Message::Write(0x4F, {1, 2}), Message::Read(0x4F, 6)}}).has_value());
  EXPECT_FALSE(AsBlockRead({{code, code}}).has_value());
  EXPECT_FALSE(AsBlockRead({{code}}).has_value());
}

TEST(SmbusShapeTest, WhatWouldHaveBeenClocked) {
  const Bytes block = {0x02, 0x00, 0x00, 0x1F};
  EXPECT_EQ(AsClocked({0x4F, 0x5C, 6}, block), kDoneFrame);
  EXPECT_EQ(AsClocked({0x4F, 0x5C, 0}, block), kDoneFrame);
  EXPECT_EQ(AsClocked({0x4F, 0x5C, 3}, block), (Bytes{0x04, 0x02, 0x00}));
  EXPECT_EQ(AsClocked({0x4F, 0x5C, 8}, block).back(), 0xFF);
}

// A board with a register of 32 bits, which refuses a write that has a PEC, and sends 0xFF after the block.
class BoardWithoutPec final : public Transport {
 public:
  absl::StatusOr<TransferResult> Execute(const Transfer& transfer) override {
    log.push_back(transfer);
    if (outcome != Outcome::kOk) return TransferResult{.outcome = outcome};
    const Message& last = transfer.messages.back();
    if (!last.read) {
      if (last.write_bytes.size() != 6) return TransferResult{.outcome = Outcome::kDataNack};
      content = Bytes(last.write_bytes.begin() + 1, last.write_bytes.end());
      return TransferResult();
    }
    Bytes read = content;
    read.resize(last.read_size, 0xFF);
    return TransferResult{.read = {read}};
  }
  size_t block_bytes_max() const override { return 77; }
  LockFile lock_file() const override { return {.path = "bus"}; }

  std::vector<Transfer> log;
  Bytes content = {4, 0, 0, 0, 0};  // with its count
  Outcome outcome = Outcome::kOk;
};

// A write as callers make it, with a PEC.
Transfer WriteOf(uint8_t code, const Bytes& block) {
  Bytes bytes = {code, static_cast<uint8_t>(block.size())};
  bytes.insert(bytes.end(), block.begin(), block.end());
  const uint8_t address = smbus::AddressByte(0x4F, /*read=*/false);
  bytes.push_back(smbus::Pec(bytes, smbus::Pec({&address, 1})));
  return {{Message::Write(0x4F, bytes)}};
}
const Transfer kBlockRead = {{Message::Write(0x4F, {0x5D}), Message::Read(0x4F, 6)}};

// 0: the PEC at the end of a read is right.
uint8_t RestOf(const Bytes& read) {
  const uint8_t before[] = {smbus::AddressByte(0x4F, /*read=*/false), 0x5D, smbus::AddressByte(0x4F, /*read=*/true)};
  return smbus::Pec(read, smbus::Pec(before));
}

class NoPecTransportTest : public testing::Test {
 protected:
  NoPecTransportTest() {
    auto board = std::make_unique<BoardWithoutPec>();
    board_ = board.get();
    transport_ = std::make_unique<NoPecTransport>(std::move(board));
  }

  BoardWithoutPec* board_;
  std::unique_ptr<NoPecTransport> transport_;
};

TEST_F(NoPecTransportTest, AWriteHasNoPecOnTheBus) {
  ASSERT_EQ(transport_->Execute(WriteOf(0x5D, {0x78, 0x56, 0x34, 0x12}))->outcome, Outcome::kOk);
  EXPECT_EQ(board_->log[0], (Transfer{{Message::Write(0x4F, {0x5D, 4, 0x78, 0x56, 0x34, 0x12})}}));
  EXPECT_EQ(transport_->block_bytes_max(), 77u);
  EXPECT_EQ(transport_->lock_file().path, "bus");
}

TEST_F(NoPecTransportTest, AReadGetsOne) {
  board_->content = {4, 1, 2, 3, 0x80};
  const auto result = transport_->Execute(kBlockRead);
  EXPECT_EQ(board_->log[0], (Transfer{{Message::Write(0x4F, {0x5D}), Message::Read(0x4F, 5)}}));
  const Bytes& read = result->read.at(0);
  EXPECT_EQ(Bytes(read.begin(), read.begin() + 5), board_->content);
  EXPECT_EQ(read.size(), 6u);
  EXPECT_EQ(RestOf(read), 0);
}

TEST_F(NoPecTransportTest, AFailureOnTheWireStaysOne) {
  board_->outcome = Outcome::kAddressNack;
  EXPECT_EQ(*transport_->Execute(kBlockRead), (TransferResult{.outcome = Outcome::kAddressNack}));
}

TEST_F(NoPecTransportTest, OtherTransactionsAreLeftAsTheyAre) {
  const Transfer probe = {{Message::Write(0x4F, {})}}, byte = {{Message::Write(0x4F, {0x62}), Message::Read(0x4F, 1)}};
  for (const Transfer& transfer : {probe, byte}) {
    (void)transport_->Execute(transfer);
    EXPECT_EQ(board_->log.back(), transfer);
  }
}

class BusLockTest : public testing::Test {
 protected:
  BusLockTest() : folder_(absl::StrCat(testing::TempDir(), "/bus_lock_", getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~BusLockTest() override { std::filesystem::remove_all(folder_); }
  std::string Path(const std::string& name) const { return absl::StrCat(folder_, "/", name); }
  LockFile Made(const std::string& name) const { return {.path = Path(name), .is_made = true}; }

  const std::string folder_;
};

TEST_F(BusLockTest, OneHoldsItAtATime) {
  BusLock one(Made("bus")), other(Made("bus"));
  EXPECT_EQ(one.TryAcquire(), absl::StatusOr<bool>(true));
  EXPECT_EQ(other.TryAcquire(), absl::StatusOr<bool>(false));
  EXPECT_FALSE(other.is_held());
  EXPECT_EQ(one.TryAcquire(), absl::StatusOr<bool>(true)) << "it has it";
  one.Release();
  EXPECT_EQ(other.TryAcquire(), absl::StatusOr<bool>(true));
  EXPECT_FALSE(one.is_held());
}

TEST_F(BusLockTest, ItEndsWithItsHolder) {
  BusLock other(Made("bus"));
  {
    BusLock one(Made("bus"));
    ASSERT_EQ(one.TryAcquire(), absl::StatusOr<bool>(true));
    EXPECT_EQ(other.TryAcquire(), absl::StatusOr<bool>(false));
  }
  EXPECT_EQ(other.TryAcquire(), absl::StatusOr<bool>(true));
}

TEST_F(BusLockTest, OtherBusesHaveOtherLocks) {
  BusLock one(Made("bus")), other(Made("bus1"));
  EXPECT_EQ(one.TryAcquire(), absl::StatusOr<bool>(true));
  EXPECT_EQ(other.TryAcquire(), absl::StatusOr<bool>(true));
}

TEST_F(BusLockTest, AFileThatIsMadeStaysAndIsNotForEverybody) {
  BusLock lock(Made("bus"));
  ASSERT_TRUE(lock.TryAcquire().ok());
  lock.Release();
  struct stat status = {};
  ASSERT_EQ(stat(Path("bus").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0117, 0u);
}

TEST_F(BusLockTest, ADeviceIsNotMade) {
  BusLock lock({.path = Path("device")});
  EXPECT_EQ(lock.TryAcquire().status(),
            absl::UnavailableError(absl::StrCat("bus ", Path("device"), ": No such file or directory")));
  EXPECT_FALSE(std::filesystem::exists(Path("device")));
}

TEST_F(BusLockTest, ADeviceMayBeNamedByALink) {
  std::ofstream(Path("device")).flush();
  std::filesystem::create_symlink("device", Path("name"));
  BusLock by_name({.path = Path("name")}), device({.path = Path("device")});
  EXPECT_EQ(by_name.TryAcquire(), absl::StatusOr<bool>(true));
  EXPECT_EQ(device.TryAcquire(), absl::StatusOr<bool>(false));
}

TEST_F(BusLockTest, AFileThatALinkNamesIsNotMade) {
  std::filesystem::create_symlink("elsewhere", Path("name"));
  BusLock lock(Made("name"));
  EXPECT_EQ(lock.TryAcquire().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(std::filesystem::exists(Path("elsewhere")));
}

TEST_F(BusLockTest, WithoutAFileThereIsNobodyToWaitFor) {
  BusLock one({}), other({});
  EXPECT_EQ(one.TryAcquire(), absl::StatusOr<bool>(true));
  EXPECT_EQ(other.TryAcquire(), absl::StatusOr<bool>(true));
}

const smbus::Transfer kCapturedRead = {{smbus::Message::Read(0x4F, 2)}};
const smbus::TransferResult kCapturedResult = {.read = {{1, 2}}};

// Takes 5 ms per transaction. Every second call fails with UNAVAILABLE.
class SlowTransport final : public Transport {
 public:
  explicit SlowTransport(FakeClock& clock) : clock_(clock) {}
  absl::StatusOr<smbus::TransferResult> Execute(const smbus::Transfer&) override {
    clock_.Advance(absl::Milliseconds(5));
    if (++calls_ % 2 == 0) return absl::UnavailableError("no bus");
    return kCapturedResult;
  }
  size_t block_bytes_max() const override { return 32; }

 private:
  FakeClock& clock_;
  int calls_ = 0;
};

class CapturingTransportTest : public testing::Test {
 protected:
  ~CapturingTransportTest() override { unlink(path_.c_str()); }

  std::unique_ptr<CapturingTransport> Create(uint64_t size_max = CapturingTransport::kFileBytesMax) {
    return *CapturingTransport::Create(
        std::make_unique<SlowTransport>(clock_), path_, clock_,
        [this](const absl::Status& status) { ends_.push_back(std::string(status.message())); }, size_max);
  }

  const std::string path_ = testing::TempDir() + "/daemon.sbt";
  FakeClock clock_{absl::FromUnixMicros(1'700'000'000'000'000)};
  std::vector<std::string> ends_;
};

TEST_F(CapturingTransportTest, CapturesEveryTransactionWithItsTime) {
  const auto transport = Create();
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_EQ(*transport->Execute(kCapturedRead), kCapturedResult);
  EXPECT_EQ(transport->Execute(kCapturedRead).status().message(), "no bus");
  const auto reader = *smbus::CaptureReader::Open(path_);
  EXPECT_EQ(reader->host_time_us(), 1'700'000'000'000'000u);
  EXPECT_EQ(**reader->Next(), smbus::MonitorEvent(smbus::BusRecord{1000, kCapturedRead, kCapturedResult}));
  EXPECT_EQ(**reader->Next(), smbus::MonitorEvent(smbus::BusRecord{6000, kCapturedRead, std::nullopt}));
  EXPECT_FALSE(reader->Next()->has_value());
  EXPECT_TRUE(ends_.empty());
  EXPECT_EQ(transport->block_bytes_max(), 32u) << "the bus's";
}

TEST_F(CapturingTransportTest, AFullFileEndsTheCaptureAndIsSaidOnce) {
  const auto transport = Create(100);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(transport->Execute(kCapturedRead).ok(), i % 2 == 0) << "the bus goes on";
  EXPECT_EQ(ends_, (std::vector<std::string>{path_ + ": has reached its limit of 100 bytes"}));
  struct stat file;
  ASSERT_EQ(stat(path_.c_str(), &file), 0);
  EXPECT_LE(file.st_size, 100);
}

TEST_F(CapturingTransportTest, AFileThatCannotBeMadeIsAnError) {
  EXPECT_EQ(CapturingTransport::Create(nullptr, "/nonexistent/x.sbt", clock_, {}).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace sideband::daemon
