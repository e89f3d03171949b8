// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/local_operators.h"

#include <grp.h>
#include <pwd.h>

#include <limits>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

// Large enough for a group with many members.
constexpr size_t kEntryBytesMax = 1 << 20;

// The largest value is reserved: (uid_t)-1 means "no id" in system calls.
std::optional<uint32_t> Number(const std::string& text) {
  uint32_t value = 0;
  if (text.find_first_not_of("0123456789") != std::string::npos || !absl::SimpleAtoi(text, &value)) return std::nullopt;
  if (value == std::numeric_limits<uint32_t>::max()) return std::nullopt;
  return value;
}

absl::Status Unknown(const char* kind, const std::string& name) {
  return absl::InvalidArgumentError(absl::StrCat(kind, " '", name, "' is unknown"));
}

}  // namespace

absl::StatusOr<uint32_t> UserId(const std::string& name) {
  if (const auto number = Number(name)) return *number;
  std::string room(kEntryBytesMax, '\0');
  passwd entry{};
  passwd* found = nullptr;
  getpwnam_r(name.c_str(), &entry, room.data(), room.size(), &found);
  if (found == nullptr) return Unknown("user", name);
  return found->pw_uid;
}

absl::StatusOr<uint32_t> GroupId(const std::string& name) {
  if (const auto number = Number(name)) return *number;
  std::string room(kEntryBytesMax, '\0');
  group entry{};
  group* found = nullptr;
  getgrnam_r(name.c_str(), &entry, room.data(), room.size(), &found);
  if (found == nullptr) return Unknown("group", name);
  return found->gr_gid;
}

}  // namespace sideband::daemon
