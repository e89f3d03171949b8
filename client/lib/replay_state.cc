// SPDX-License-Identifier: Apache-2.0
#include "client/lib/replay_state.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/bytes.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

using envelope::GuestNonce;
using envelope::RecordHeader;

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

constexpr int kHeaderVersion = 1;

std::optional<RecordHeader> ParseHeader(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("version", nlohmann::json()) != kHeaderVersion) return std::nullopt;
  StateMembers members(json);
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

std::string PrintHeader(const RecordHeader& header) {
  const nlohmann::ordered_json json = {{"version", kHeaderVersion},
                                       {"vm", header.vm.ToString()},
                                       {"device", header.device.ToString()},
                                       {"boot_id", absl::StrCat(header.boot_id)},
                                       {"generation", absl::StrCat(header.generation)},
                                       {"epoch", absl::StrCat(header.epoch)},
                                       {"sequence", absl::StrCat(header.sequence)},
                                       {"nonce", NonceText(header.guest_nonce)}};
  return json.dump() + "\n";
}

bool IsLater(const RecordHeader& a, const RecordHeader& b) {
  return std::tie(a.epoch, a.sequence) > std::tie(b.epoch, b.sequence);
}

constexpr int kInstantVersion = 2;

struct Instant {
  RecordHeader newest;
  std::vector<uint64_t> earlier_boots;  // oldest first
};

std::optional<std::vector<uint64_t>> ParseBoots(const nlohmann::json& json) {
  if (!json.is_array() || json.size() > ExchangeState::kEarlierBootsMax) return std::nullopt;
  std::vector<uint64_t> boots;
  for (const nlohmann::json& boot : json) {
    uint64_t id = 0;
    if (!boot.is_string() || !absl::SimpleAtoi(boot.get_ref<const std::string&>(), &id)) return std::nullopt;
    boots.push_back(id);
  }
  return boots;
}

std::optional<Instant> ParseInstant(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("version", nlohmann::json()) != kInstantVersion) return std::nullopt;
  std::optional<std::vector<uint64_t>> boots = ParseBoots(json.value("earlier_boots", nlohmann::json()));
  StateMembers members(json);
  Instant instant;
  RecordHeader& newest = instant.newest;
  newest.vm = members.Id("vm");
  newest.device = members.Id("device");
  newest.boot_id = members.Count<uint64_t>("boot_id");
  newest.generation = members.Count<uint32_t>("generation");
  newest.reference_time_ns = members.Count<uint64_t>("reference_time_ns");
  newest.guest_nonce = members.Nonce("nonce");
  if (!members.ok() || !boots) return std::nullopt;
  instant.earlier_boots = std::move(*boots);
  return instant;
}

std::string PrintInstant(const Instant& instant) {
  const RecordHeader& newest = instant.newest;
  nlohmann::ordered_json json = {{"version", kInstantVersion},
                                 {"vm", newest.vm.ToString()},
                                 {"device", newest.device.ToString()},
                                 {"boot_id", absl::StrCat(newest.boot_id)},
                                 {"generation", absl::StrCat(newest.generation)},
                                 {"reference_time_ns", absl::StrCat(newest.reference_time_ns)},
                                 {"nonce", NonceText(newest.guest_nonce)},
                                 {"earlier_boots", nlohmann::ordered_json::array()}};
  for (const uint64_t boot : instant.earlier_boots) json["earlier_boots"].push_back(absl::StrCat(boot));
  return json.dump() + "\n";
}

bool Follows(const Instant& before, const RecordHeader& header) {
  const RecordHeader& newest = before.newest;
  if (header.boot_id != newest.boot_id) {
    return std::ranges::find(before.earlier_boots, header.boot_id) == before.earlier_boots.end();
  }
  return header.generation >= newest.generation && header.reference_time_ns >= newest.reference_time_ns;
}

Instant After(const std::optional<Instant>& before, const RecordHeader& header) {
  Instant after{.newest = header};
  if (!before) return after;
  after.earlier_boots = before->earlier_boots;
  if (before->newest.boot_id == header.boot_id) return after;
  std::vector<uint64_t>& boots = after.earlier_boots;
  boots.push_back(before->newest.boot_id);
  if (boots.size() > ExchangeState::kEarlierBootsMax) boots.erase(boots.begin());
  return after;
}

absl::StatusOr<std::optional<Instant>> ReadFor(const RecordHeader& header, const StateFile::Lock& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::optional<std::string> text, file.Read());
  if (!text) return std::nullopt;
  std::optional<Instant> instant = ParseInstant(*text);
  if (!instant) return NotAState(file.path());
  if (instant->newest.vm != header.vm || instant->newest.device != header.device) {
    return absl::InvalidArgumentError(absl::StrCat(file.path(), ": holds the state of another VM or device"));
  }
  return instant;
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

absl::StatusOr<OpenerState::Lock> OpenerState::Acquire() const {
  SIDEBAND_ASSIGN_OR_RETURN(StateFile::Lock file, file_.Acquire());
  return Lock(std::move(file));
}

absl::StatusOr<std::optional<RecordHeader>> OpenerState::Lock::Read() const {
  SIDEBAND_ASSIGN_OR_RETURN(const std::optional<std::string> text, file_.Read());
  if (!text) return std::nullopt;
  std::optional<RecordHeader> header = ParseHeader(*text);
  if (!header.has_value()) return NotAState(file_.path());
  return header;
}

absl::Status OpenerState::Lock::Raise(const RecordHeader& header) const {
  // Read under the lock: another opener may have raised the state since this one began.
  SIDEBAND_ASSIGN_OR_RETURN(const std::optional<RecordHeader> before, Read());
  if (before.has_value() && (before->vm != header.vm || before->device != header.device)) {
    return absl::InvalidArgumentError(absl::StrCat(file_.path(), ": holds the state of VM ", before->vm.ToString(),
                                                   " on device ", before->device.ToString(),
                                                   ", but the record belongs to another VM or device"));
  }
  // Setting the state back would admit records again that were opened already.
  if (before.has_value() && !IsLater(header, *before)) return absl::OkStatus();
  return file_.Replace(PrintHeader(header));
}

std::string StateFileName(const Uuid& vm, const Uuid& device) {
  return absl::StrCat("unseal-", vm.ToString(), "-", device.ToString(), ".json");
}

absl::StatusOr<ExchangeState::Lock> ExchangeState::Acquire() const {
  SIDEBAND_ASSIGN_OR_RETURN(StateFile::Lock file, file_.Acquire());
  return Lock(std::move(file));
}

absl::Status ExchangeState::Lock::CheckFollows(const RecordHeader& header) const {
  SIDEBAND_ASSIGN_OR_RETURN(const std::optional<Instant> before, ReadFor(header, file_));
  if (before && !Follows(*before, header)) return absl::DataLossError("record rejected");
  return absl::OkStatus();
}

absl::Status ExchangeState::Lock::Raise(const RecordHeader& header) const {
  SIDEBAND_ASSIGN_OR_RETURN(const std::optional<Instant> before, ReadFor(header, file_));
  // Another opener may have raised the state already.
  if (before && !Follows(*before, header)) return absl::OkStatus();
  return file_.Replace(PrintInstant(After(before, header)));
}

std::string ExchangeStateFileName(const Uuid& vm, const Uuid& device) {
  return absl::StrCat("exchange-", vm.ToString(), "-", device.ToString(), ".json");
}

}  // namespace sideband::client
