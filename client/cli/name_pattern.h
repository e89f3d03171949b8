// SPDX-License-Identifier: Apache-2.0
//
// Names with wildcards, as in --event 'dram_*': '*' matches any characters, '?' matches one.
//   Matches("dram_*", "dram_read_cycles");   // true
#ifndef SIDEBAND_CLIENT_CLI_NAME_PATTERN_H_
#define SIDEBAND_CLIENT_CLI_NAME_PATTERN_H_

#include <span>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace sideband::client {

bool IsPattern(absl::string_view text);

// The running time is at most proportional to the product of the sizes. '?' matches one byte.
bool Matches(absl::string_view pattern, absl::string_view name);
bool MatchesAny(std::span<const std::string> patterns, absl::string_view name);

// What a name or pattern that a user gives for events is among those of the names: itself where it matches one of them,
// else with the ending that screens leave out (proto/base/event_name.h). As it was given where neither matches.
std::string EventPattern(const std::string& given, std::span<const std::string> names);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_NAME_PATTERN_H_
