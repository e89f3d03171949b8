// SPDX-License-Identifier: Apache-2.0
#include "proto/base/file.h"

#include <cerrno>
#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"

namespace sideband {

absl::Status ErrnoStatus(int errno_value, const std::string& path) { return absl::ErrnoToStatus(errno_value, path); }

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t size_max) {
  const auto closer = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(closer)> file(std::fopen(path.c_str(), "rb"), closer);
  if (file == nullptr) return ErrnoStatus(errno, path);
  std::string contents;
  char buffer[1 << 16];
  size_t size;
  while ((size = std::fread(buffer, 1, sizeof(buffer), file.get())) > 0) {
    contents.append(buffer, size);
    if (contents.size() > size_max)
      return absl::OutOfRangeError(absl::StrCat(path, ": larger than ", size_max, " bytes"));
  }
  if (std::ferror(file.get()) != 0) {
    return errno == EISDIR ? absl::InvalidArgumentError(absl::StrCat(path, ": is a directory"))
                           : ErrnoStatus(errno, path);
  }
  return contents;
}

}  // namespace sideband
