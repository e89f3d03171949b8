// SPDX-License-Identifier: Apache-2.0
#include "client/cli/time_column.h"

#include <cstdint>

namespace sideband::client {
namespace {

int64_t DayOf(absl::Time time) { return absl::ToUnixSeconds(time) / (24 * 3600); }

}  // namespace

std::string TimeColumnFormat(absl::Time first, absl::Time last, const TableStyle& style) {
  if (style.wide) return "%Y-%m-%dT%H:%M:%E3SZ";
  return DayOf(first) == DayOf(last) ? "%H:%M:%E3SZ" : "%m-%d %H:%M:%SZ";
}

}  // namespace sideband::client
