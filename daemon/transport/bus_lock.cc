// SPDX-License-Identifier: Apache-2.0
#include "daemon/transport/bus_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

constexpr mode_t kMode = 0660;

// A device that is locked is the bus itself.
absl::Status Failure(const LockFile& file, int error) {
  return absl::UnavailableError(
      absl::StrCat(file.is_made ? "bus lock " : "bus ", file.path, ": ", std::strerror(error)));
}

}  // namespace

absl::StatusOr<bool> BusLock::TryAcquire() {
  if (is_held_) return true;
  if (file_.path.empty()) return is_held_ = true;
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (file_.is_made ? O_CREAT | O_NOFOLLOW : 0);
  Descriptor file(::open(file_.path.c_str(), flags, kMode));
  if (!file.is_open()) return Failure(file_, errno);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK || errno == EINTR) return false;
    return Failure(file_, errno);
  }
  descriptor_ = std::move(file);
  return is_held_ = true;
}

void BusLock::Release() {
  // A descriptor that a child process has inherited would keep the lock beyond the close.
  if (descriptor_.is_open()) ::flock(descriptor_.get(), LOCK_UN);
  descriptor_ = Descriptor();
  is_held_ = false;
}

}  // namespace sideband::daemon
