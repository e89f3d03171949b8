// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/state_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

namespace fs = std::filesystem;
using Variable = std::function<const char*(const char*)>;

std::string ValueOf(const Variable& variable, const char* name) {
  const char* const value = variable(name);
  return value == nullptr ? "" : value;
}

// Returns the user's folder for state; empty if the user has no home directory.
fs::path UsersFolder(const Variable& variable) {
  const std::string state = ValueOf(variable, "XDG_STATE_HOME");
  // A relative path must be ignored (XDG Base Directory Specification).
  if (!state.empty() && state[0] == '/') return state;
  const fs::path home = ValueOf(variable, "HOME");
  std::error_code error;
  return home.is_absolute() && fs::is_directory(home, error) ? home / ".local/state" : fs::path();
}

fs::path Choose(const std::string& configured, const Variable& variable) {
  if (!configured.empty()) return configured;
  const std::string systemds = ValueOf(variable, "STATE_DIRECTORY");
  // systemd separates several folders by colons.
  if (!systemds.empty()) return systemds.substr(0, systemds.find(':'));
  const fs::path users = UsersFolder(variable);
  return users.empty() ? users : users / "sideband";
}

// By errno.
absl::Status Unusable(const fs::path& folder) {
  const absl::Status status = ErrnoStatus(errno, folder.string());
  return absl::Status(status.code(), absl::StrCat(status.message(),
                                                  ": state_dir must be a folder that the daemon's user may write to"));
}

// Creates the folder and its missing parents, accessible by their owner only.
absl::Status Make(const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) return absl::OkStatus();
  if (folder.has_parent_path() && folder.parent_path() != folder) SIDEBAND_RETURN_IF_ERROR(Make(folder.parent_path()));
  if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return absl::OkStatus();
  return Unusable(folder);
}

}  // namespace

absl::StatusOr<std::string> OpenStateFolder(const std::string& configured, const Variable& variable) {
  const fs::path folder = Choose(configured, variable);
  if (folder.empty()) return absl::NotFoundError("there is no folder for state: no state_dir, and no home");
  SIDEBAND_RETURN_IF_ERROR(Make(folder));
  struct stat status = {};
  if (stat(folder.c_str(), &status) != 0) return Unusable(folder);
  // Others could take the place of a file of the daemon, also where the folder is sticky.
  if ((status.st_mode & S_IWOTH) != 0) {
    return absl::PermissionDeniedError(absl::StrCat(folder.string(), ": other users may write to it (chmod o-w)"));
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) return Unusable(folder);
  return folder.string();
}

}  // namespace sideband::daemon
