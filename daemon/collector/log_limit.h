// SPDX-License-Identifier: Apache-2.0
//
// A bound on lines of the log that a device could cause without end, by restarting or contradicting itself.
//   if (const auto left_out = limit.Take(clock.Steady())) spdlog::warn("… {}", LeftOutText(*left_out));
#ifndef SIDEBAND_DAEMON_COLLECTOR_LOG_LIMIT_H_
#define SIDEBAND_DAEMON_COLLECTOR_LOG_LIMIT_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace sideband::daemon {

// kMax lines within kWithin. Not thread-safe.
template <size_t kMax>
class LogLimit {
 public:
  static constexpr absl::Duration kWithin = absl::Minutes(1);

  // How many lines were left out since the last one, if another may be written at `now`; else nullopt, and it is left
  // out.
  std::optional<size_t> Take(absl::Duration now) {
    absl::Duration& oldest = times_[written_ % kMax];
    if (written_ >= kMax && now - oldest < kWithin) {
      ++left_out_;
      return std::nullopt;
    }
    oldest = now;
    ++written_;
    return std::exchange(left_out_, 0);
  }

 private:
  std::array<absl::Duration, kMax> times_;  // a ring: of the newest kMax lines
  size_t written_ = 0;
  size_t left_out_ = 0;
};

// The end of a line: empty for 0.
inline std::string LeftOutText(size_t left_out) {
  return left_out == 0 ? "" : absl::StrCat("; ", left_out, " such lines were left out before");
}

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_LOG_LIMIT_H_
