// SPDX-License-Identifier: Apache-2.0
//
// Errors that a person reads: all those of an input, each with its line, and the last line and exit status of a
// program.
//   ErrorList errors;
//   errors.Take(map.DurationOr("interval", device.interval, kMin, kMax), device.interval);   // keeps the default
//   errors.Take(map.String("name"), device.name);
//   return ReportAndExitCode("sideband", errors);
#ifndef SIDEBAND_PROTO_BASE_ERRORS_H_
#define SIDEBAND_PROTO_BASE_ERRORS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband {

// Collects all errors of an input, for readers that continue after an error. Bounded: after kErrorsMax errors only the
// count increases. Not thread-safe.
class ErrorList {
 public:
  static constexpr size_t kErrorsMax = 100;

  // Returns whether `status` is OK; an error is added to the list unless it is there already.
  bool Add(absl::Status status);
  // Moves the value to `into`, or adds the error and leaves `into` unchanged. Returns whether there was a value.
  template <typename T, typename U>
  bool Take(absl::StatusOr<T> value, U& into) {
    if (!Add(value.status())) return false;
    into = *std::move(value);
    return true;
  }

  bool empty() const { return count_ == 0; }
  size_t count() const { return count_; }
  // The errors in the order of their addition. If there were more than kErrorsMax, the last one is the number of
  // omitted errors.
  std::vector<absl::Status> All() const;
  // The first error, or OK.
  absl::Status First() const { return errors_.empty() ? absl::OkStatus() : errors_.front(); }

 private:
  std::vector<absl::Status> errors_;
  size_t count_ = 0;
};

// `status` with "FILE:LINE: " (or "FILE: " if line is 0) before its message.
absl::Status AtLine(const absl::Status& status, absl::string_view file, size_t line);

// INVALID_ARGUMENT with the message "FILE:LINE: what".
absl::Status LineError(absl::string_view file, size_t line, absl::string_view what);

// INVALID_ARGUMENT with the message "FIELD is VALUE, must be from LOW to HIGH"; both bounds are included.
absl::Status CheckRange(absl::string_view field, uint64_t value, uint64_t low, uint64_t high);

// The exit status of a program: 0 for OK; 2 for errors of the configuration or the input (INVALID_ARGUMENT, NOT_FOUND,
// PERMISSION_DENIED, OUT_OF_RANGE, FAILED_PRECONDITION); 1 for all other errors. Prints "PROGRAM: message" to standard
// error unless OK. Line breaks and control characters in the message are made visible, so that it is one line.
int ReportAndExitCode(absl::string_view program, const absl::Status& status);
// Reports one line per error; returns 2 if any error is an input error.
int ReportAndExitCode(absl::string_view program, const ErrorList& errors);

// The outermost function of a program. Returns the result of `main`. If `main` throws, as libraries do (file systems,
// memory), prints "PROGRAM: what" to standard error and returns 1: for a file-system error "PROGRAM: PATH: reason", for
// a failed allocation "PROGRAM: out of memory".
//   int main(int argc, char** argv) { return RunProgram("sideband", [&] { return Main(argc, argv); }); }
int RunProgram(const std::string& program, const std::function<int()>& main);

// From now on, a failed allocation in any thread ends the program by SIGABRT, with "PROGRAM: out of memory" as the last
// line on standard error. For programs whose threads cannot continue after it. Call once, before other threads start.
void AbortWhenOutOfMemory(const std::string& program);

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_ERRORS_H_
