// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/process.h"

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
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/base/text.h"
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

// What a device, a file or a peer has said may be in a message: a terminal must not interpret it.
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

}  // namespace sideband::daemon
