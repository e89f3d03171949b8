// SPDX-License-Identifier: Apache-2.0
#include "client/cli/name_pattern.h"

#include <algorithm>
#include <optional>

#include "proto/base/event_name.h"

namespace sideband::client {

bool IsPattern(absl::string_view text) { return text.find_first_of("*?") != absl::string_view::npos; }

bool Matches(absl::string_view pattern, absl::string_view name) {
  constexpr size_t kNone = absl::string_view::npos;
  size_t p = 0, n = 0;
  size_t star = kNone, star_name = 0;  // the last '*', and the end of the name's part that it matches
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_name = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p, ++n;
      // A mismatch after a '*': extend the match of the '*' by one byte and retry.
    } else if (star != kNone) {
      p = star + 1;
      n = ++star_name;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == kNone;
}

bool MatchesAny(std::span<const std::string> patterns, absl::string_view name) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) { return Matches(pattern, name); });
}

std::string EventPattern(const std::string& given, std::span<const std::string> names) {
  const auto matching = FindEvent(given, [&](const std::string& pattern) {
    const auto matches = [&](const std::string& name) { return Matches(pattern, name); };
    return std::ranges::any_of(names, matches) ? std::optional(pattern) : std::nullopt;
  });
  return matching.value_or(given);
}

}  // namespace sideband::client
