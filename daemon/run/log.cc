// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/log.h"

#include <grpc/support/log.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/systemd_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "daemon/run/log_formatter.h"
#include "proto/base/visible.h"

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

}  // namespace sideband::daemon
