// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/ports_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"

namespace sideband::daemon {
namespace {

bool Fill(int fd, const std::string& text) {
  constexpr mode_t kMode = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH;
  // mkostemp() lets only the owner read, but the file is for other programs.
  const ssize_t written = ::write(fd, text.data(), text.size());
  return written == static_cast<ssize_t>(text.size()) && fchmod(fd, kMode) == 0;
}

}  // namespace

absl::Status WritePortsFile(const std::string& path, uint16_t grpc_port, uint16_t http_port) {
  if (path.empty()) return absl::OkStatus();
  std::string partial = path + ".XXXXXX";
  const Descriptor file(mkostemp(partial.data(), O_CLOEXEC));  // sets O_EXCL
  const std::string text = absl::StrCat("grpc: ", grpc_port, "\nhttp: ", http_port, "\n");
  // Renamed when it is complete: a program that waits for the file never reads a part of it.
  if (file.is_open() && Fill(file.get(), text) && std::rename(partial.c_str(), path.c_str()) == 0) {
    return absl::OkStatus();
  }
  const absl::Status error = absl::ErrnoToStatus(errno, path);
  if (file.is_open()) unlink(partial.c_str());
  return absl::UnavailableError(error.message());
}

}  // namespace sideband::daemon
