// SPDX-License-Identifier: Apache-2.0
#include "daemon/startup.h"

#include <fcntl.h>
#include <grpc/support/log.h>
#include <malloc.h>
#include <spdlog/common.h>
#include <spdlog/details/log_msg.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/systemd_sink.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/audit/audit_log.h"
#include "daemon/metrics/self_metrics.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/base/version.h"
#include "proto/envelope/secret.h"

namespace sideband::daemon {
namespace {

// gRPC's messages may quote a peer: escaped, a line feed in them makes no line that reads like the daemon's.
void LogOfGrpc(gpr_log_func_args* said) { spdlog::debug("grpc: {}", Visible(said->message)); }

// The service manager names the journal's end of standard output in JOURNAL_STREAM, as DEVICE:INODE (systemd.exec(5)).
bool IsJournal(int fd) {
  const char* const stream = std::getenv("JOURNAL_STREAM");
  struct stat found {};
  return stream != nullptr && fstat(fd, &found) == 0 && absl::StrCat(found.st_dev, ":", found.st_ino) == stream;
}

LogFormat Resolve(LogFormat format) {
  if (format != LogFormat::kAuto) return format;
  return IsJournal(STDOUT_FILENO) ? LogFormat::kJournal : LogFormat::kText;
}

spdlog::sink_ptr MakeSink(LogFormat format, absl::string_view program) {
  if (format == LogFormat::kJournal) return std::make_shared<spdlog::sinks::systemd_sink_mt>(std::string(program));
  auto sink = std::make_shared<spdlog::sinks::stdout_sink_mt>();
  sink->set_formatter(MakeLogFormatter(format));
  return sink;
}

// A message may quote a device, a file or a peer: a terminal must not interpret that.
std::string Text(const spdlog::details::log_msg& message) {
  return Visible({message.payload.data(), message.payload.size()});
}

absl::string_view ViewOf(spdlog::string_view_t text) { return {text.data(), text.size()}; }

std::string TimeOf(const spdlog::details::log_msg& message) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromChrono(message.time), absl::UTCTimeZone());
}

// A JSON string. logfmt has the same strings.
std::string Quoted(absl::string_view text) {
  return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string TextLine(const spdlog::details::log_msg& message) {
  return absl::StrCat(TimeOf(message), " ", ViewOf(spdlog::level::to_string_view(message.level)), " ", Text(message),
                      "\n");
}

std::string LogfmtLine(const spdlog::details::log_msg& message) {
  return absl::StrCat("time=", TimeOf(message), " level=", ViewOf(spdlog::level::to_string_view(message.level)),
                      " msg=", Quoted(Text(message)), "\n");
}

std::string JsonLine(const spdlog::details::log_msg& message) {
  return absl::StrCat("{\"time\":\"", TimeOf(message), "\",\"level\":\"",
                      ViewOf(spdlog::level::to_string_view(message.level)), "\",\"msg\":", Quoted(Text(message)),
                      "}\n");
}

class LineFormatter final : public spdlog::formatter {
 public:
  using Line = std::string (*)(const spdlog::details::log_msg&);

  explicit LineFormatter(Line line) : line_(line) {}

  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const std::string line = line_(message);
    out.append(line.data(), line.data() + line.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<LineFormatter>(line_); }

 private:
  const Line line_;
};

// Raises the soft limit of open files to the hard limit; connections per peer are limited elsewhere.
void RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Snapshots and scrapes of large devices are allocated and freed every second on several threads. Large blocks are
// mapped, so that they return to the system at once, and threads share a few heaps.
void KeepMemorySmall() {
  constexpr int kLargeBytes = 256 << 10, kHeaps = 2;
  mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  mallopt(M_ARENA_MAX, kHeaps);
}

// Less than this is not worth the faults of its next use.
constexpr int64_t kFreedBytesMax = 8 << 20;
// All threads that allocate wait meanwhile: 50 ms for 50 MiB, 5 ms for counting them.
constexpr absl::Duration kTrimPause = absl::Seconds(10);

// Resident memory that is not allocated: programs, stacks, and what was freed. The allocator itself does not know which
// of its free pages are resident.
int64_t UnusedBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t virtual_pages = 0, resident_pages = 0;
  if (!(file >> virtual_pages >> resident_pages)) return 0;
  const struct mallinfo2 used = mallinfo2();
  return resident_pages * sysconf(_SC_PAGESIZE) - static_cast<int64_t>(used.uordblks + used.hblkhd);
}

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

void SetLogLevel(LogLevel level) {
  constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                                   spdlog::level::err};
  spdlog::set_level(kLevels[static_cast<int>(level)]);
}

void StartLog(const LogConfig& log, absl::string_view program) {
  // Not set_default_logger(logger) with a pattern: that replaces the formatter.
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("", MakeSink(Resolve(log.format), program)));
  SetLogLevel(log.level);
  spdlog::flush_on(spdlog::level::debug);
  gpr_set_log_function(&LogOfGrpc);
}

std::unique_ptr<spdlog::formatter> MakeLogFormatter(LogFormat format) {
  if (format == LogFormat::kLogfmt) return std::make_unique<LineFormatter>(&LogfmtLine);
  if (format == LogFormat::kJson) return std::make_unique<LineFormatter>(&JsonLine);
  return std::make_unique<LineFormatter>(&TextLine);
}

void MemoryTrim::Trim(absl::Duration now) {
  if (now < next_) return;
  next_ = now + kTrimPause;
  const int64_t unused = UnusedBytes();
  kept_ = std::min(kept_, unused);
  if (unused < kept_ + kFreedBytesMax) return;
  malloc_trim(kFreedBytesMax / 2);
  kept_ = UnusedBytes();
}

void PrepareProcess() {
  envelope::ProtectSecrets();
  KeepMemorySmall();
  RaiseFileLimit();
}

std::unique_ptr<CLI::App> MakeCommandLine(Flags& flags) {
  auto app = std::make_unique<CLI::App>(
      "Out-of-band performance telemetry for shared accelerators: reads devices over their management bus and "
      "serves operators and tenants over gRPC and HTTPS. Each caller sees only what the policy grants.",
      kProgram);
  app->add_option("--config", flags.config_file, "The configuration (YAML)")->type_name("FILE")->required();
  app->add_flag("--check", flags.check,
                "Read the configuration and all files that it names, report every error, and end");
  app->add_flag("--probe", flags.probe,
                "Also log in to each BMC, ask it once for all that the daemon reads, and print what it has")
      ->needs("--check");
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
