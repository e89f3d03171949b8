// SPDX-License-Identifier: Apache-2.0
//
// A file of given bytes for readers that require a path, without a file system.
//   const MemoryFile file({data, size});
//   const auto reader = CaptureReader::Open(file.path());
#ifndef SIDEBAND_TESTS_FUZZ_MEMORY_FILE_H_
#define SIDEBAND_TESTS_FUZZ_MEMORY_FILE_H_

#include <sys/mman.h>
#include <unistd.h>

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

}  // namespace sideband::fuzz

#endif  // SIDEBAND_TESTS_FUZZ_MEMORY_FILE_H_
