// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/replace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

absl::Status WriteAll(int file, absl::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t size = write(file, text.data(), text.size());
    if (size < 0 && errno != EINTR) return ErrnoStatus(errno, path);
    if (size > 0) text.remove_prefix(static_cast<size_t>(size));
  }
  return absl::OkStatus();
}

absl::Status WritePartial(const std::string& path, absl::string_view text, FileSync sync) {
  // O_EXCL on a new file: a symbolic link at this path is removed, never followed.
  unlink(path.c_str());
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open()) return ErrnoStatus(errno, path);
  SIDEBAND_RETURN_IF_ERROR(WriteAll(file.get(), text, path));
  const bool is_synced = sync == FileSync::kNone || fsync(file.get()) == 0;
  return is_synced ? absl::OkStatus() : ErrnoStatus(errno, path);
}

absl::Status SyncFolderOf(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::string folder = parent.empty() ? "." : parent;
  const Descriptor descriptor(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const bool is_synced = descriptor.is_open() && fsync(descriptor.get()) == 0;
  return is_synced ? absl::OkStatus() : ErrnoStatus(errno, folder);
}

}  // namespace

absl::Status ReplaceFile(const std::string& path, absl::string_view text, FileSync sync) {
  const std::string partial = path + ".partial";
  absl::Status status = WritePartial(partial, text, sync);
  if (status.ok() && std::rename(partial.c_str(), path.c_str()) != 0) status = ErrnoStatus(errno, path);
  if (status.ok()) return sync == FileSync::kNone ? status : SyncFolderOf(path);
  // On a full disk, a part of the text would keep its blocks.
  unlink(partial.c_str());
  return status;
}

}  // namespace sideband::daemon
