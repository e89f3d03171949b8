// SPDX-License-Identifier: Apache-2.0
#include "client/lib/opener_state.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/descriptor.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

using envelope::GuestNonce;
using envelope::RecordHeader;

constexpr size_t kStateBytesMax = 4096;
constexpr int kStateVersion = 1;

Descriptor OpenState(const std::string& path, int flags) {
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

absl::Status NoState(const std::string& path) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": not a state file of `sideband unseal` (remove it to begin a new one)"));
}

absl::StatusOr<std::string> ReadAll(int fd, const std::string& path) {
  // The byte beyond the limit tells that a file is too long.
  std::string text(kStateBytesMax + 1, '\0');
  const ssize_t size = pread(fd, text.data(), text.size(), 0);
  if (size < 0) return ErrnoStatus(errno, path);
  text.resize(static_cast<size_t>(size));
  if (text.size() > kStateBytesMax) return NoState(path);
  return text;
}

// Reads the members of a state, whose values are strings.
class Members {
 public:
  explicit Members(const nlohmann::json& json) : json_(json) {}

  std::string Text(const char* name) {
    const auto member = json_.find(name);
    if (member != json_.end() && member->is_string()) return member->get<std::string>();
    ok_ = false;
    return "";
  }
  template <typename Number>
  Number Count(const char* name) {
    Number number = 0;
    ok_ &= absl::SimpleAtoi(Text(name), &number);
    return number;
  }
  Uuid Id(const char* name) {
    const absl::StatusOr<Uuid> uuid = Uuid::Parse(Text(name));
    ok_ &= uuid.ok();
    return uuid.value_or(Uuid());
  }
  std::optional<GuestNonce> Nonce(const char* name) {
    const std::string text = Text(name);
    if (text.empty()) return std::nullopt;
    GuestNonce nonce{};
    ok_ &= text.size() == 2 * nonce.size();
    for (size_t i = 0; ok_ && i < nonce.size(); ++i) {
      const char* const digits = text.data() + 2 * i;
      ok_ = std::from_chars(digits, digits + 2, nonce[i], /*base=*/16).ptr == digits + 2;
    }
    return nonce;
  }
  bool ok() const { return ok_; }

 private:
  const nlohmann::json& json_;
  bool ok_ = true;
};

std::optional<RecordHeader> Parse(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("version", nlohmann::json()) != kStateVersion) return std::nullopt;
  Members members(json);
  RecordHeader header;
  header.vm = members.Id("vm");
  header.device = members.Id("device");
  header.boot_id = members.Count<uint64_t>("boot_id");
  header.generation = members.Count<uint32_t>("generation");
  header.epoch = members.Count<uint64_t>("epoch");
  header.sequence = members.Count<uint64_t>("sequence");
  header.guest_nonce = members.Nonce("nonce");
  return members.ok() ? std::optional(header) : std::nullopt;
}

std::string HexOf(const std::optional<GuestNonce>& nonce) {
  if (!nonce.has_value()) return "";
  return absl::BytesToHexString({reinterpret_cast<const char*>(nonce->data()), nonce->size()});
}

std::string Print(const RecordHeader& header) {
  const nlohmann::ordered_json json = {{"version", kStateVersion},
                                       {"vm", header.vm.ToString()},
                                       {"device", header.device.ToString()},
                                       {"boot_id", absl::StrCat(header.boot_id)},
                                       {"generation", absl::StrCat(header.generation)},
                                       {"epoch", absl::StrCat(header.epoch)},
                                       {"sequence", absl::StrCat(header.sequence)},
                                       {"nonce", HexOf(header.guest_nonce)}};
  return json.dump() + "\n";
}

// Replaces the file atomically, also if the machine stops meanwhile. Only the lock's holder writes the temporary file.
absl::Status Replace(const std::string& path, const std::string& text) {
  const std::string partial = path + ".partial";
  unlink(partial.c_str());  // of a writer that was killed
  const Descriptor file = OpenState(partial, O_WRONLY | O_CREAT | O_EXCL);
  if (!file.is_open()) return ErrnoStatus(errno, partial);
  if (write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) || fsync(file.get()) != 0 ||
      rename(partial.c_str(), path.c_str()) != 0) {
    const absl::Status status = ErrnoStatus(errno, path);
    unlink(partial.c_str());
    return status;
  }
  return absl::OkStatus();
}

bool IsLater(const RecordHeader& a, const RecordHeader& b) {
  return std::tie(a.epoch, a.sequence) > std::tie(b.epoch, b.sequence);
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

absl::StatusOr<OpenerState::Lock> OpenerState::Acquire() const {
  // A file of its own: the state file is replaced, and a lock on it would stay with the old one.
  const std::string path = path_ + ".lock";
  Descriptor file = OpenState(path, O_RDWR | O_CREAT);
  if (!file.is_open()) return ErrnoStatus(errno, path);
  SIDEBAND_RETURN_IF_ERROR(CheckFile(file.get(), path));
  while (flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return ErrnoStatus(errno, path);
  }
  return Lock(path_, std::move(file));
}

absl::StatusOr<std::optional<RecordHeader>> OpenerState::Lock::Read() const {
  const Descriptor file = OpenState(path_, O_RDONLY);
  if (!file.is_open() && errno == ENOENT) return std::nullopt;
  if (!file.is_open()) return ErrnoStatus(errno, path_);
  SIDEBAND_RETURN_IF_ERROR(CheckFile(file.get(), path_));
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadAll(file.get(), path_));
  std::optional<RecordHeader> header = Parse(text);
  if (!header.has_value()) return NoState(path_);
  return header;
}

absl::Status OpenerState::Lock::Raise(const RecordHeader& header) const {
  // Read under the lock: another opener may have raised the state since this one began.
  SIDEBAND_ASSIGN_OR_RETURN(const std::optional<RecordHeader> before, Read());
  if (before.has_value() && (before->vm != header.vm || before->device != header.device)) {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": holds the state of VM ", before->vm.ToString(),
                                                   " on device ", before->device.ToString(),
                                                   ", but the record is of another VM or device"));
  }
  // Setting the state back would admit records again that were opened already.
  if (before.has_value() && !IsLater(header, *before)) return absl::OkStatus();
  return Replace(path_, Print(header));
}

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

std::string StateFileName(const Uuid& vm, const Uuid& device) {
  return absl::StrCat("unseal-", vm.ToString(), "-", device.ToString(), ".json");
}

}  // namespace sideband::client
