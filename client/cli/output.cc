// SPDX-License-Identifier: Apache-2.0
#include "client/cli/output.h"

#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"

namespace sideband::client {

absl::Status FdOutput::Write(absl::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::write(fd_, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      closed_ = errno == EPIPE;
      return closed_ ? absl::CancelledError(absl::StrCat(name_, " was closed")) : absl::ErrnoToStatus(errno, name_);
    }
    text.remove_prefix(static_cast<size_t>(size));
  }
  return absl::OkStatus();
}

absl::Status StringOutput::Write(absl::string_view text) {
  text_.append(text.data(), text.size());
  return absl::OkStatus();
}

}  // namespace sideband::client
