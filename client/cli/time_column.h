// SPDX-License-Identifier: Apache-2.0
//
// The column TIME of tables about the past.
//   const std::string format = TimeColumnFormat(first, last, style);
//   table.Add({absl::FormatTime(format, time, absl::UTCTimeZone())});
#ifndef SIDEBAND_CLIENT_CLI_TIME_COLUMN_H_
#define SIDEBAND_CLIENT_CLI_TIME_COLUMN_H_

#include <string>

#include "absl/time/time.h"
#include "client/cli/table.h"

namespace sideband::client {

// The shortest format of absl::FormatTime that is unambiguous for UTC times from `first` to `last`; if the style is
// wide, the whole one.
std::string TimeColumnFormat(absl::Time first, absl::Time last, const TableStyle& style);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_TIME_COLUMN_H_
