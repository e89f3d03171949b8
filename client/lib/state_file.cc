// SPDX-License-Identifier: Apache-2.0
#include "client/lib/state_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/base/bytes.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

using envelope::GuestNonce;

constexpr size_t kStateBytesMax = 4096;

Descriptor Open(const std::string& path, int flags) {
  // No symbolic link is followed, and a pipe cannot block the open before CheckFile() rejects it.
  return Descriptor(open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
}

// Rejects files that other users can write: they could reset the state to an older record.
absl::Status CheckFile(int fd, const std::string& path) {
  struct stat info;
  if (fstat(fd, &info) != 0) return ErrnoStatus(errno, path);
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  if (info.st_uid != geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::PermissionDeniedError(
        absl::StrCat(path, ": other users may write it (this user must own it; chmod 600)"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadAll(int fd, const std::string& path) {
  // The byte beyond the limit tells that a file is too long.
  std::string text(kStateBytesMax + 1, '\0');
  const ssize_t size = pread(fd, text.data(), text.size(), 0);
  if (size < 0) return ErrnoStatus(errno, path);
  text.resize(static_cast<size_t>(size));
  if (text.size() > kStateBytesMax) return NotAState(path);
  return text;
}

// Replaces the file atomically, also if the machine stops meanwhile. Only the lock's holder writes the temporary file.
absl::Status Replace(const std::string& path, const std::string& text) {
  const std::string partial = path + ".partial";
  unlink(partial.c_str());  // of a writer that was killed
  const Descriptor file = Open(partial, O_WRONLY | O_CREAT | O_EXCL);
  if (!file.is_open()) return ErrnoStatus(errno, partial);
  if (write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) || fsync(file.get()) != 0 ||
      rename(partial.c_str(), path.c_str()) != 0) {
    const absl::Status status = ErrnoStatus(errno, path);
    unlink(partial.c_str());
    return status;
  }
  return absl::OkStatus();
}

bool IsFolder(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

absl::Status MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0 || (errno == EEXIST && IsFolder(path))) return absl::OkStatus();
  return ErrnoStatus(errno, absl::StrCat(path, ": no folder for the state (set XDG_STATE_HOME, or give --state FILE)"));
}

}  // namespace

absl::Status NotAState(const std::string& path) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": not a state file of these records (remove it to begin a new one)"));
}

absl::StatusOr<StateFile::Lock> StateFile::Acquire() const {
  // A file of its own: the state file is replaced, and a lock on it would stay with the old one.
  const std::string path = path_ + ".lock";
  Descriptor file = Open(path, O_RDWR | O_CREAT);
  if (!file.is_open()) return ErrnoStatus(errno, path);
  SIDEBAND_RETURN_IF_ERROR(CheckFile(file.get(), path));
  while (flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return ErrnoStatus(errno, path);
  }
  return Lock(path_, std::move(file));
}

absl::StatusOr<std::optional<std::string>> StateFile::Lock::Read() const {
  const Descriptor file = Open(path_, O_RDONLY);
  if (!file.is_open() && errno == ENOENT) return std::nullopt;
  if (!file.is_open()) return ErrnoStatus(errno, path_);
  SIDEBAND_RETURN_IF_ERROR(CheckFile(file.get(), path_));
  return ReadAll(file.get(), path_);
}

absl::Status StateFile::Lock::Replace(const std::string& text) const { return client::Replace(path_, text); }

absl::StatusOr<std::optional<std::string>> StateFolder(const GetEnv& get_env) {
  const std::string state_home = get_env("XDG_STATE_HOME").value_or("");
  const std::string home = get_env("HOME").value_or("");
  std::vector<std::string> folders;  // in the order of creation
  // A relative path must be ignored (XDG Base Directory Specification).
  if (state_home.starts_with('/')) {
    folders = {state_home};
  } else if (home.starts_with('/') && IsFolder(home)) {
    folders = {home + "/.local", home + "/.local/state"};
  } else {
    return std::nullopt;
  }
  folders.push_back(folders.back() + "/sideband");
  for (const std::string& folder : folders) SIDEBAND_RETURN_IF_ERROR(MakeFolder(folder));
  return folders.back();
}

std::string StateMembers::Text(const char* name) {
  const auto member = json_.find(name);
  if (member != json_.end() && member->is_string()) return member->get<std::string>();
  ok_ = false;
  return "";
}

Uuid StateMembers::Id(const char* name) {
  const absl::StatusOr<Uuid> uuid = Uuid::Parse(Text(name));
  ok_ &= uuid.ok();
  return uuid.value_or(Uuid());
}

std::optional<GuestNonce> StateMembers::Nonce(const char* name) {
  const std::string text = Text(name);
  if (text.empty()) return std::nullopt;
  const std::optional<Bytes> digits = ParseHex(text);
  GuestNonce nonce{};
  ok_ &= digits && digits->size() == nonce.size();
  if (ok_) std::ranges::copy(*digits, nonce.begin());
  return nonce;
}

std::string NonceText(const std::optional<GuestNonce>& nonce) {
  if (!nonce.has_value()) return "";
  return absl::BytesToHexString({reinterpret_cast<const char*>(nonce->data()), nonce->size()});
}

}  // namespace sideband::client
