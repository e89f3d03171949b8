// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/startup.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/audit/audit_log.h"
#include "daemon/metrics/self_metrics.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/version.h"

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

bool Fill(int fd, const std::string& text) {
  constexpr mode_t kMode = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH;
  // mkostemp() lets only the owner read, but the file is for other programs.
  const ssize_t written = ::write(fd, text.data(), text.size());
  return written == static_cast<ssize_t>(text.size()) && fchmod(fd, kMode) == 0;
}

void ReportAuditLog(const absl::Status& status) {
  if (status.ok()) return spdlog::info("audit: entries are being written again");
  spdlog::error("audit: entries are being lost: {}", std::string(status.message()));
}

}  // namespace

std::unique_ptr<CLI::App> MakeCommandLine(Flags& flags) {
  auto app = std::make_unique<CLI::App>(
      "Out-of-band performance telemetry for shared accelerators: reads devices over their management bus and "
      "serves operators and tenants over gRPC and HTTPS. Each caller sees only what the policy grants.",
      kProgram);
  app->add_option("--config", flags.config_file, "The configuration (YAML)")->type_name("FILE")->required();
  app->add_flag("--check", flags.check,
                "Read the configuration and all files that it names, report every error, and end");
  app->set_version_flag("--version", absl::StrCat(kProgram, " ", BuildVersion()));
  app->footer("SIGHUP reloads all files; SIGTERM drains and stops.");
  return app;
}

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

absl::StatusOr<Audit> StartAudit(const AuditConfig& config, std::string greeting, const Clock& clock,
                                 SelfMetrics& metrics) {
  Audit audit;
  if (config.file.empty()) return audit;
  SIDEBAND_ASSIGN_OR_RETURN(audit.files, AuditFiles::Open({config.file, config.max_bytes, config.files}));
  AuditLog::Options options{.greeting = std::move(greeting), .on_change = ReportAuditLog};
  SIDEBAND_ASSIGN_OR_RETURN(audit.sink,
                            AuditLog::Start(std::move(options), audit.files->end(), *audit.files, clock, metrics));
  return audit;
}

Site::AuditLogReader LogReader(const Audit& audit) {
  if (audit.files == nullptr) return nullptr;
  return [&files = *audit.files](uint64_t after, size_t bytes_max) { return files.ReadAfter(after, bytes_max); };
}

}  // namespace sideband::daemon
