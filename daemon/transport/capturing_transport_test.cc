// SPDX-License-Identifier: Apache-2.0
#include "daemon/transport/capturing_transport.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

namespace sideband::daemon {
namespace {

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
