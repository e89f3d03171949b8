// SPDX-License-Identifier: Apache-2.0
#include "proto/base/errors.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/text.h"

namespace sideband {
namespace {

bool IsInputError(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kFailedPrecondition:
      return true;
    default:
      return false;
  }
}

// Formatted in advance: no memory can be allocated when it is written.
std::array<char, 128> last_line;
size_t last_line_size = 0;

[[noreturn]] void WriteLastLineAndAbort() {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, last_line.data(), last_line_size);
  std::abort();
}

int Fail(const std::string& program, absl::string_view what) {
  std::fputs(absl::StrCat(program, ": ", Visible(what), "\n").c_str(), stderr);
  return EXIT_FAILURE;
}

std::string TextOf(const std::filesystem::filesystem_error& error) {
  const std::string path = error.path1().string();
  return path.empty() ? error.what() : absl::StrCat(path, ": ", error.code().message());
}

}  // namespace

bool ErrorList::Add(absl::Status status) {
  if (status.ok()) return true;
  // A file of many megabytes may have an error in each line; beyond the limit they are only counted.
  if (errors_.size() >= kErrorsMax) {
    ++count_;
    return false;
  }
  // A YAML alias has the errors of its anchor.
  if (std::find(errors_.begin(), errors_.end(), status) != errors_.end()) return false;
  ++count_;
  errors_.push_back(std::move(status));
  return false;
}

std::vector<absl::Status> ErrorList::All() const {
  std::vector<absl::Status> all = errors_;
  if (count_ > errors_.size()) {
    all.push_back(absl::InvalidArgumentError(absl::StrCat("and ", count_ - errors_.size(), " more errors")));
  }
  return all;
}

absl::Status AtLine(const absl::Status& status, absl::string_view file, size_t line) {
  if (status.ok()) return status;
  const std::string place = line == 0 ? std::string(file) : absl::StrCat(file, ":", line);
  return absl::Status(status.code(), absl::StrCat(place, ": ", status.message()));
}

absl::Status LineError(absl::string_view file, size_t line, absl::string_view what) {
  return AtLine(absl::InvalidArgumentError(what), file, line);
}

absl::Status CheckRange(absl::string_view field, uint64_t value, uint64_t low, uint64_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, " is ", value, ", must be from ", low, " to ", high));
}

int ReportAndExitCode(absl::string_view program, const absl::Status& status) {
  if (status.ok()) return 0;
  const std::string line = absl::StrCat(program, ": ", Visible(status.message()), "\n");
  std::fputs(line.c_str(), stderr);
  return IsInputError(status.code()) ? 2 : 1;
}

int ReportAndExitCode(absl::string_view program, const ErrorList& errors) {
  int code = 0;
  for (const absl::Status& error : errors.All()) code = std::max(code, ReportAndExitCode(program, error));
  return code;
}

int RunProgram(const std::string& program, const std::function<int()>& main) {
  try {
    return main();
  } catch (const std::filesystem::filesystem_error& error) {
    return Fail(program, TextOf(error));
  } catch (const std::bad_alloc&) {
    return Fail(program, "out of memory");
  } catch (const std::exception& error) {
    return Fail(program, error.what());
  }
}

void AbortWhenOutOfMemory(const std::string& program) {
  const std::string line = absl::StrCat(program, ": out of memory\n");
  last_line_size = std::min(line.size(), last_line.size());
  std::copy_n(line.begin(), last_line_size, last_line.begin());
  std::set_new_handler(&WriteLastLineAndAbort);
}

}  // namespace sideband
