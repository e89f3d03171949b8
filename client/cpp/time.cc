// SPDX-License-Identifier: Apache-2.0
#include "sideband/time.h"

#include "absl/strings/str_format.h"

namespace sideband {

std::string FormatTime(Time time) noexcept {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::milliseconds>(time - day));
  return absl::StrFormat("%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                         static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                         clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

}  // namespace sideband
