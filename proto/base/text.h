// SPDX-License-Identifier: Apache-2.0
//
// Small helpers for messages to people.
#ifndef SIDEBAND_PROTO_BASE_TEXT_H_
#define SIDEBAND_PROTO_BASE_TEXT_H_

#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace sideband {

// The candidate with the fewest single-character edits to `word`, the first of equals; empty where there is no
// candidate or none shares at least half its characters with the word. Case counts.
std::string NearestMatch(absl::string_view word, std::span<const std::string> candidates);

// " (did you mean 'x'?)", or nothing where NearestMatch finds nothing. For the end of an "unknown …" message.
std::string DidYouMean(absl::string_view word, std::span<const std::string> candidates);

// ", must be a, b or c": the end of an "unknown …" message where there is little to choose from. Empty without words.
std::string MustBeOneOf(std::span<const std::string> words);

// `status` with "FILE:LINE: " (or "FILE: " where line is 0) before its message.
absl::Status AtLine(const absl::Status& status, absl::string_view file, size_t line);

// An INVALID_ARGUMENT of the form "FILE:LINE: what is wrong".
absl::Status LineError(absl::string_view file, size_t line, absl::string_view what);

// How a program ends: 0 for OK; 2 where the configuration or the input is at fault (INVALID_ARGUMENT, NOT_FOUND,
// PERMISSION_DENIED, OUT_OF_RANGE, FAILED_PRECONDITION); 1 for every other failure. Prints "PROGRAM: message" on
// standard error unless OK, with line breaks and control characters in the message made visible, so that it stays one
// line.
int ReportAndExitCode(absl::string_view program, const absl::Status& status);

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_TEXT_H_
