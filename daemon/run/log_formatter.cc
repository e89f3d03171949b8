// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/log_formatter.h"

#include <spdlog/common.h>
#include <spdlog/details/log_msg.h>

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/base/visible.h"

namespace sideband::daemon {
namespace {

// What a device, a file or a peer has said may be in a message: a terminal must not interpret it.
std::string Text(const spdlog::details::log_msg& message) {
  return Visible({message.payload.data(), message.payload.size()});
}

absl::string_view View(spdlog::string_view_t text) { return {text.data(), text.size()}; }

std::string TimeOf(const spdlog::details::log_msg& message) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromChrono(message.time), absl::UTCTimeZone());
}

// A JSON string. logfmt has the same strings.
std::string Quoted(absl::string_view text) {
  return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string TextLine(const spdlog::details::log_msg& message) {
  return absl::StrCat(TimeOf(message), " ", View(spdlog::level::to_string_view(message.level)), " ", Text(message),
                      "\n");
}

std::string LogfmtLine(const spdlog::details::log_msg& message) {
  return absl::StrCat("time=", TimeOf(message), " level=", View(spdlog::level::to_string_view(message.level)),
                      " msg=", Quoted(Text(message)), "\n");
}

std::string JsonLine(const spdlog::details::log_msg& message) {
  return absl::StrCat("{\"time\":\"", TimeOf(message), "\",\"level\":\"",
                      View(spdlog::level::to_string_view(message.level)), "\",\"msg\":", Quoted(Text(message)), "}\n");
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

}  // namespace

std::unique_ptr<spdlog::formatter> MakeLogFormatter(LogFormat format) {
  if (format == LogFormat::kLogfmt) return std::make_unique<LineFormatter>(&LogfmtLine);
  if (format == LogFormat::kJson) return std::make_unique<LineFormatter>(&JsonLine);
  return std::make_unique<LineFormatter>(&TextLine);
}

}  // namespace sideband::daemon
