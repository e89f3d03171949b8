// SPDX-License-Identifier: Apache-2.0
#include "daemon/transport/bus_lock.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

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

}  // namespace
}  // namespace sideband::daemon
