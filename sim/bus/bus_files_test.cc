// SPDX-License-Identifier: Apache-2.0
//
// Descriptors against a bus of the test. The library in real programs is tested in tests/e2e.
#include "sim/bus/bus_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/i2c-dev.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "proto/base/wait_until.h"
#include "proto/smbus/bus_frame.h"

namespace sideband::i2cdev {
namespace {

// A bus that serves its connections in sequence and answers each read with 0xA5. Each connection ends after a given
// number of transactions.
class FarEnd {
 public:
  explicit FarEnd(std::vector<int> transactions) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, "bus.sock", sizeof(address.sun_path) - 1);
    unlink("bus.sock");
    listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(listener_, 4), 0);
    thread_ = std::thread([this, transactions = std::move(transactions)] {
      for (const int count : transactions) Serve(count);
      close(listener_);  // no server from here on
    });
  }
  ~FarEnd() { Join(); }
  void Join() {
    const TimeLimit limit("the end of the far end's connections");
    if (thread_.joinable()) thread_.join();
  }

 private:
  void Serve(int count) {
    const int fd = accept(listener_, nullptr, nullptr);
    uint8_t buffer[256];
    for (; count > 0 && recv(fd, buffer, sizeof(buffer), 0) > 0; --count) {
      const Bytes answer = smbus::EncodeResult({.read = {{0xA5}}});
      EXPECT_EQ(send(fd, answer.data(), answer.size(), MSG_NOSIGNAL), ssize_t(answer.size()));
    }
    if (count == 0) recv(fd, buffer, sizeof(buffer), 0);  // a transaction without an answer
    close(fd);
  }

  int listener_;
  std::thread thread_;
};

class BusFilesTest : public testing::Test {
 protected:
  BusFilesTest() { std::filesystem::current_path(testing::TempDir()); }
  // The byte read, or a negative errno.
  int ReadByte(int fd) {
    uint8_t byte = 0;
    const auto result = files_.Read(fd, &byte, 1);
    EXPECT_TRUE(result.has_value());
    return result == 1 ? byte : static_cast<int>(result.value_or(0));
  }
  BusFiles files_{"3=unix:bus.sock,4=unix:absent.sock", ""};
};

TEST_F(BusFilesTest, OnlyItsOwnPaths) {
  for (const char* path : {"/dev/i2c-5", "/dev/i2c-03", "/dev/i2c-", "/dev/i2c-3x", "/dev/i2c/3", "/dev/null", ""}) {
    EXPECT_EQ(files_.Open(path, O_RDWR), std::nullopt) << path;
  }
  EXPECT_EQ(files_.Open(nullptr, O_RDWR), std::nullopt);
  EXPECT_EQ(files_.Open("/dev/i2c-4", O_RDWR), -ENOENT);
  EXPECT_EQ(files_.Open("/dev/i2c-4", O_RDWR | O_CREAT | O_EXCL), -EEXIST);
  EXPECT_TRUE(BusFiles::IsI2cDev("/dev/i2c-5"));
  EXPECT_FALSE(BusFiles::IsI2cDev("/dev/i2cX"));
}

TEST_F(BusFilesTest, ReadsOverTheBus) {
  FarEnd far_end({2});
  const int fd = *files_.Open("/dev/i2c-3", O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(files_.Ioctl(fd, I2C_SLAVE, 0x4F), 0);
  EXPECT_EQ(files_.Ioctl(fd, 0x5401, 0), std::nullopt) << "for the system";
  EXPECT_EQ(ReadByte(fd), 0xA5);
  EXPECT_EQ(ReadByte(fd), 0xA5);
  close(fd);
  EXPECT_EQ(files_.Read(fd, nullptr, 1), std::nullopt) << "closed";
}

TEST_F(BusFilesTest, AccessModes) {
  FarEnd far_end({0, 0});
  uint8_t byte = 0;
  const int reads = *files_.Open("/dev/i2c-3", O_RDONLY), writes = *files_.Open("/dev/i2c-3", O_WRONLY);
  EXPECT_EQ(files_.Write(reads, &byte, 1), -EBADF);
  EXPECT_EQ(files_.Read(writes, &byte, 1), -EBADF);
  EXPECT_EQ(fcntl(reads, F_GETFD), 0);
  close(reads);
  close(writes);
}

TEST_F(BusFilesTest, ADescriptorThatIsUsedForSomethingElseIsNotOurs) {
  FarEnd far_end({0});
  const int fd = *files_.Open("/dev/i2c-3", O_RDWR);
  const int other = open("/dev/null", O_RDWR);
  ASSERT_EQ(dup2(other, fd), fd);  // without a call of BusFiles
  EXPECT_EQ(files_.Ioctl(fd, I2C_SLAVE, 0x4F), std::nullopt);
  close(fd);
  close(other);
}

TEST_F(BusFilesTest, DuplicatesShareWhatIsSet) {
  FarEnd far_end({2});
  const int fd = *files_.Open("/dev/i2c-3", O_RDWR);
  const int duplicate = dup(fd);
  EXPECT_EQ(files_.Ioctl(duplicate, I2C_SLAVE, 0x4F), std::nullopt) << "nobody has told";
  files_.Duplicated(fd, duplicate);
  EXPECT_EQ(files_.Ioctl(duplicate, I2C_SLAVE, 0x4F), 0);
  close(fd);
  EXPECT_EQ(ReadByte(duplicate), 0xA5);
  close(duplicate);
}

TEST_F(BusFilesTest, ABusThatGoesAndComesBack) {
  FarEnd far_end({1, 1});
  const int fd = *files_.Open("/dev/i2c-3", O_RDWR);
  EXPECT_EQ(ReadByte(fd), 0xA5);
  EXPECT_EQ(ReadByte(fd), -ENODEV) << "hung up on";
  EXPECT_EQ(ReadByte(fd), 0xA5) << "connected anew, under the same number";
  EXPECT_EQ(ReadByte(fd), -ENODEV);
  far_end.Join();
  EXPECT_EQ(ReadByte(fd), -ENODEV) << "nobody serves";
  EXPECT_EQ(ReadByte(fd), -ENODEV);
  close(fd);
  EXPECT_EQ(files_.Open("/dev/i2c-3", O_RDWR), -ENXIO);
}

TEST_F(BusFilesTest, MistakesInTheEnvironmentAreSaidOnce) {
  BusFiles wrong_bus("3=gpu0.sock", ""), wrong_functionality("3=unix:bus.sock", "some");
  testing::internal::CaptureStderr();
  EXPECT_EQ(wrong_bus.Open("/dev/i2c-3", O_RDWR), -EINVAL);
  EXPECT_EQ(wrong_bus.Open("/dev/i2c-3", O_RDWR), -EINVAL);
  EXPECT_EQ(wrong_functionality.Open("/dev/i2c-3", O_RDWR), -EINVAL);
  EXPECT_EQ(wrong_bus.Open("/dev/null", O_RDWR), std::nullopt);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "sideband-i2cdev: SIDEBAND_I2CDEV: bus '3=gpu0.sock': must be NUMBER=unix:PATH\n"
            "sideband-i2cdev: SIDEBAND_I2CDEV_FUNCS: must be all or smbus, not 'some'\n");
}

TEST_F(BusFilesTest, TheLockOfABusIsAFileBesideItsSocket) {
  FarEnd far_end({1, 1});
  const int one = *files_.Open("/dev/i2c-3", O_RDWR), other = *files_.Open("/dev/i2c-3", O_RDWR);
  EXPECT_EQ(files_.Lock(one, LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(files_.Lock(other, LOCK_EX | LOCK_NB), -EWOULDBLOCK);
  const int file = open("bus.sock.lock", O_RDONLY | O_CLOEXEC);
  EXPECT_NE(flock(file, LOCK_EX | LOCK_NB), 0) << "of a program that knows the socket";
  EXPECT_EQ(files_.Lock(one, LOCK_UN), 0);
  EXPECT_EQ(files_.Lock(other, LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(files_.Lock(file, LOCK_EX | LOCK_NB), std::nullopt) << "not a bus";
  for (const int fd : {one, other, file}) close(fd);
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FolderListingTest : public testing::Test {
 protected:
  FolderListingTest() {
    std::filesystem::create_directories(folder_ + "/below");
    std::ofstream(folder_ + "/i2c-3") << "its own";
  }
  ~FolderListingTest() override { std::filesystem::remove_all(folder_); }

  DIR* Open(const std::string& path) {
    DIR* const dir = opendir(path.c_str());
    listing_.Opened(dir);
    return dir;
  }
  void Close(DIR* dir) {
    listing_.Closed(dir);
    closedir(dir);
  }
  std::vector<std::string> Rest(DIR* dir) {
    std::vector<std::string> names;
    while (const dirent* const entry = listing_.Next(dir)) {
      EXPECT_EQ(entry->d_type, DT_CHR);
      EXPECT_NE(entry->d_ino, 0u);
      names.emplace_back(entry->d_name);
    }
    return names;
  }

  const std::string folder_ = testing::TempDir() + "folder_listing_test";
  FolderListing listing_{folder_, {"i2c-2", "i2c-3", "i2c-10"}};
};

TEST_F(FolderListingTest, ShowsItsNamesOnce) {
  DIR* const dir = Open(folder_);
  EXPECT_THAT(Rest(dir), ElementsAre("i2c-2", "i2c-3", "i2c-10"));
  EXPECT_THAT(Rest(dir), IsEmpty());
  Close(dir);
}

TEST_F(FolderListingTest, TheFolderIsKnownUnderAnyPath) {
  DIR* const dir = Open(folder_ + "/below/..");
  EXPECT_THAT(Rest(dir), ElementsAre("i2c-2", "i2c-3", "i2c-10"));
  Close(dir);
}

TEST_F(FolderListingTest, ANameThatTheFolderHasIsNotShownAgain) {
  DIR* const dir = Open(folder_);
  while (const dirent* const entry = readdir(dir)) listing_.Saw(dir, entry->d_name);
  EXPECT_THAT(Rest(dir), ElementsAre("i2c-2", "i2c-10"));
  Close(dir);
}

TEST_F(FolderListingTest, ARewoundListingBeginsAnew) {
  DIR* const dir = Open(folder_);
  Rest(dir);
  listing_.Rewound(dir);
  EXPECT_THAT(Rest(dir), ElementsAre("i2c-2", "i2c-3", "i2c-10"));
  Close(dir);
}

TEST_F(FolderListingTest, TwoListingsAreIndependent) {
  DIR* const first = Open(folder_);
  DIR* const second = Open(folder_);
  EXPECT_STREQ(listing_.Next(first)->d_name, "i2c-2");
  EXPECT_THAT(Rest(second), ElementsAre("i2c-2", "i2c-3", "i2c-10"));
  EXPECT_THAT(Rest(first), ElementsAre("i2c-3", "i2c-10"));
  Close(first);
  Close(second);
}

TEST_F(FolderListingTest, OtherFoldersHaveNothingMore) {
  DIR* const dir = Open(folder_ + "/below");
  EXPECT_THAT(Rest(dir), IsEmpty());
  Close(dir);
  listing_.Opened(nullptr);
}

TEST_F(FolderListingTest, AClosedOneIsForgotten) {
  DIR* const dir = Open(folder_);
  listing_.Closed(dir);
  EXPECT_THAT(Rest(dir), IsEmpty());
  closedir(dir);
}

}  // namespace
}  // namespace sideband::i2cdev
