// SPDX-License-Identifier: Apache-2.0
//
// Helpers for user-visible messages.
#ifndef SIDEBAND_PROTO_BASE_TEXT_H_
#define SIDEBAND_PROTO_BASE_TEXT_H_

#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/error_list.h"

namespace sideband {

// The candidate with the fewest single-character edits to `word`; among equals the first. Empty if no candidate shares
// at least half its characters with the word. Case-sensitive.
std::string NearestMatch(absl::string_view word, std::span<const std::string> candidates);

// " (did you mean 'x'?)", or empty if NearestMatch is empty. For the end of an "unknown …" message. Candidates may be
// untrusted: control characters and unprintable bytes are made visible.
std::string DidYouMean(absl::string_view word, std::span<const std::string> candidates);

// ", must be a, b or c": the end of an "unknown …" message for a small set of words. Empty without words.
std::string MustBeOneOf(std::span<const std::string> words);

// `status` with "FILE:LINE: " (or "FILE: " if line is 0) before its message.
absl::Status AtLine(const absl::Status& status, absl::string_view file, size_t line);

// INVALID_ARGUMENT with the message "FILE:LINE: what".
absl::Status LineError(absl::string_view file, size_t line, absl::string_view what);

// The exit status of a program: 0 for OK; 2 for errors of the configuration or the input (INVALID_ARGUMENT, NOT_FOUND,
// PERMISSION_DENIED, OUT_OF_RANGE, FAILED_PRECONDITION); 1 for all other errors. Prints "PROGRAM: message" to standard
// error unless OK. Line breaks and control characters in the message are made visible, so that it is one line.
int ReportAndExitCode(absl::string_view program, const absl::Status& status);
// As above, with one line per error; returns 2 if any error is an input error.
int ReportAndExitCode(absl::string_view program, const ErrorList& errors);

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_TEXT_H_
