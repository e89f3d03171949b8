// SPDX-License-Identifier: Apache-2.0
#include "proto/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband {
namespace {

absl::Status CheckKind(const struct stat& file, const std::string& path) {
  if (S_ISDIR(file.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, ": is a directory"));
  if (!S_ISREG(file.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, ": is not a regular file"));
  return absl::OkStatus();
}

absl::Status CheckMode(const struct stat& file, const std::string& path, FileTrust trust) {
  const bool is_secret = trust == FileTrust::kSecret;
  if ((is_secret || trust == FileTrust::kPrivate) && (file.st_mode & S_IRWXO) != 0) {
    return absl::PermissionDeniedError(absl::StrCat(path, ": ", is_secret ? "a password or token" : "a private key",
                                                    " that other users may access: run chmod o= on it"));
  }
  if ((file.st_mode & S_IWOTH) == 0) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(path, ": everybody may write it (chmod o-w it)"));
}

bool IsReadOnlyMount(const std::string& folder) {
  struct statvfs mount;
  return statvfs(folder.c_str(), &mount) == 0 && (mount.f_flag & ST_RDONLY) != 0;
}

absl::Status CheckFolder(const std::filesystem::path& file, const std::string& path) {
  const std::string folder = file.has_parent_path() ? file.parent_path().string() : ".";
  struct stat info;
  if (stat(folder.c_str(), &info) != 0) return ErrnoStatus(errno, folder);
  // In a sticky folder only a file's owner may replace it. Kubernetes mounts a ConfigMap read-only with mode 0777.
  const bool is_open_to_all = (info.st_mode & S_IWOTH) != 0 && (info.st_mode & S_ISVTX) == 0;
  if (!is_open_to_all || IsReadOnlyMount(folder)) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat(path, ": everybody may replace it, since everybody may write ", folder, " (chmod o-w it)"));
}

absl::Status CheckFolders(const std::string& path) {
  // The link's folder and the target's folder both determine the content.
  SIDEBAND_RETURN_IF_ERROR(CheckFolder(path, path));
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::canonical(path, error);
  return error ? absl::ErrnoToStatus(error.value(), path) : CheckFolder(resolved, path);
}

}  // namespace

absl::Status ErrnoStatus(int errno_value, const std::string& path) { return absl::ErrnoToStatus(errno_value, path); }

absl::StatusOr<Descriptor> OpenForReading(const std::string& path, FileTrust trust) {
  // Without O_NONBLOCK, opening a FIFO waits for a writer.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  // open() fails with ENXIO for a socket.
  if (!file.is_open() && errno == ENXIO)
    return absl::InvalidArgumentError(absl::StrCat(path, ": is not a regular file"));
  struct stat info;
  // The open file is asked, not its path, which another file may have taken since.
  if (!file.is_open() || fstat(file.get(), &info) != 0) return ErrnoStatus(errno, path);
  SIDEBAND_RETURN_IF_ERROR(CheckKind(info, path));
  if (trust == FileTrust::kAny) return file;
  SIDEBAND_RETURN_IF_ERROR(CheckMode(info, path, trust));
  SIDEBAND_RETURN_IF_ERROR(CheckFolders(path));
  return file;
}

absl::StatusOr<std::string> ReadDescriptor(int fd, const std::string& name, size_t size_max) {
  std::string contents;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t size = ::read(fd, buffer, sizeof(buffer));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return ErrnoStatus(errno, name);
    if (size == 0) return contents;
    contents.append(buffer, static_cast<size_t>(size));
    if (contents.size() > size_max) {
      return absl::OutOfRangeError(absl::StrCat(name, ": larger than ", size_max, " bytes"));
    }
  }
}

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t size_max, FileTrust trust) {
  SIDEBAND_ASSIGN_OR_RETURN(const Descriptor file, OpenForReading(path, trust));
  return ReadDescriptor(file.get(), path, size_max);
}

}  // namespace sideband
