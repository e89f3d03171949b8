// SPDX-License-Identifier: Apache-2.0
//
// Changes of state as lines, one for each item, and what a gap in a stream of them means.
//   out.Write(ChangeLines(response.change(), context.Now()));
//   context.Note(GapText(response.gap()));
#ifndef SIDEBAND_CLIENT_CLI_CHANGE_LINES_H_
#define SIDEBAND_CLIENT_CLI_CHANGE_LINES_H_

#include <string>

#include "absl/time/time.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

// Each begins with the time (UTC), which is when the change was received:
// "22:13:20.0 gpu0 vm0/train is idle (overflow)".
std::string ChangeLines(const v1::StateChange& change, absl::Time now);

// One line.
std::string GapText(const v1::Gap& gap);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_CHANGE_LINES_H_
