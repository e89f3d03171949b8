// SPDX-License-Identifier: Apache-2.0
#include "proto/base/file.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"

namespace sideband {
namespace {

class FileTest : public testing::Test {
 protected:
  FileTest() {
    char name[] = "/tmp/sb-XXXXXX";  // sockets need a short path
    folder_ = mkdtemp(name);
  }
  ~FileTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, mode_t mode = 0600) const {
    const std::string path = absl::StrCat(folder_, "/", name);
    std::ofstream(path, std::ios::binary) << std::string("a\0b\n", 4);
    chmod(path.c_str(), mode);
    return path;
  }
  // The error message of ReadFile, without the folder.
  std::string Error(const std::string& path, FileTrust trust = FileTrust::kAny) const {
    const std::string message(ReadFile(path, kFileSizeMax, trust).status().message());
    return message.rfind(folder_, 0) == 0 ? message.substr(folder_.size() + 1) : message;
  }

  std::string folder_;
};

TEST_F(FileTest, ReadsTheWholeFile) { EXPECT_EQ(*ReadFile(Write("contents")), std::string("a\0b\n", 4)); }

TEST_F(FileTest, MissingFileIsNotFoundAndNamed) {
  EXPECT_EQ(ReadFile(folder_ + "/absent").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Error(folder_ + "/absent"), "absent: No such file or directory");
}

TEST_F(FileTest, SizeLimitIsKept) {
  const std::string path = Write("four");
  EXPECT_TRUE(ReadFile(path, 4).ok());
  EXPECT_EQ(ReadFile(path, 3).status().code(), absl::StatusCode::kOutOfRange);
}

TEST_F(FileTest, OnlyRegularFilesAreRead) {
  EXPECT_EQ(ReadFile(folder_).status().message(), folder_ + ": is a directory");
  EXPECT_EQ(ReadFile("/dev/null").status().message(), "/dev/null: is not a regular file");
  const std::string path = folder_ + "/socket";
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(Error(path), "socket: is not a regular file");
}

TEST_F(FileTest, AFifoIsRefusedWithoutWaitingForAWriter) {
  const std::string path = folder_ + "/fifo";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(Error(path), "fifo: is not a regular file");
  EXPECT_EQ(ReadFile(path).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(FileTest, ModesAreAskedFor) {
  using enum FileTrust;
  const std::string writable = "f: everybody may write it (chmod o-w it)";
  const std::string readable = "f: a private key that other users may access: run chmod o= on it";
  const struct {
    mode_t mode;
    FileTrust trust;
    std::string error;
  } kCases[] = {{0666, kAny, ""},
                {0664, kNotWritable, ""},
                {0666, kNotWritable, writable},
                {0602, kNotWritable, writable},
                {0660, kPrivate, ""},
                {0600, kPrivate, ""},
                {0604, kPrivate, readable},
                {0602, kPrivate, readable},
                {0601, kPrivate, readable},
                {0640, kSecret, ""},
                {0604, kSecret, "f: a password or token that other users may access: run chmod o= on it"},
                {0602, kSecret, "f: a password or token that other users may access: run chmod o= on it"}};
  for (const auto& [mode, trust, error] : kCases) EXPECT_EQ(Error(Write("f", mode), trust), error) << std::oct << mode;
  EXPECT_EQ(ReadFile(Write("f", 0666), 10, kNotWritable).status().code(), absl::StatusCode::kPermissionDenied);
}

TEST_F(FileTest, AFolderThatEverybodyMayWriteIsRefused) {
  const std::string inner = folder_ + "/inner";
  mkdir(inner.c_str(), 0700);
  const std::string path = Write("inner/f");
  ASSERT_EQ(symlink(path.c_str(), (folder_ + "/link").c_str()), 0);
  for (const mode_t mode : {0700, 0770, 01777}) {
    chmod(inner.c_str(), mode);
    EXPECT_EQ(Error(path, FileTrust::kNotWritable), "") << std::oct << mode;
  }
  chmod(inner.c_str(), 0777);
  EXPECT_EQ(Error(path), "") << "only where trust is asked for";
  EXPECT_EQ(Error(path, FileTrust::kPrivate),
            absl::StrCat("inner/f: everybody may replace it, since everybody may write ", inner, " (chmod o-w it)"));
  EXPECT_EQ(Error(folder_ + "/link", FileTrust::kNotWritable),
            absl::StrCat("link: everybody may replace it, since everybody may write ", inner, " (chmod o-w it)"));
}

TEST_F(FileTest, ADescriptorOfAnyKindCanBeRead) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Descriptor reader(ends[0]);
  {
    const Descriptor writer(ends[1]);
    ASSERT_EQ(write(writer.get(), "abc", 3), 3);
  }
  EXPECT_EQ(ReadDescriptor(reader.get(), "standard input", 2).status().message(),
            "standard input: larger than 2 bytes");
  EXPECT_EQ(*ReadDescriptor(reader.get(), "standard input", 2), "") << "at its end";
}

}  // namespace
}  // namespace sideband
