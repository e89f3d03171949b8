// SPDX-License-Identifier: Apache-2.0
//
// Files for targets whose code requires a path: one of given bytes without a file system, and a folder of its own for a
// target whose code reads files by name.
//   const MemoryFile file({data, size});
//   const auto reader = CaptureReader::Open(file.path());
//   static const ScratchFolder folder;
//   const std::string path = folder.path() + "/c.yaml";
#ifndef SIDEBAND_TESTS_FUZZ_GIVEN_FILES_H_
#define SIDEBAND_TESTS_FUZZ_GIVEN_FILES_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "proto/base/bytes.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {

// A regular file that exists as long as this object.
class MemoryFile {
 public:
  explicit MemoryFile(ByteSpan bytes) : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    FUZZ_CHECK(fd_ >= 0);
    FUZZ_CHECK(::pwrite(fd_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  const int fd_;
};

// Exists as long as this object.
class ScratchFolder {
 public:
  ScratchFolder() : path_(std::filesystem::temp_directory_path() / "sb-fuzz-XXXXXX") {
    FUZZ_CHECK(mkdtemp(path_.data()) != nullptr);
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace sideband::fuzz

#endif  // SIDEBAND_TESTS_FUZZ_GIVEN_FILES_H_
