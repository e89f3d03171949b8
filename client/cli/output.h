// SPDX-License-Identifier: Apache-2.0
//
// The destination of a command's output.
#ifndef SIDEBAND_CLIENT_CLI_OUTPUT_H_
#define SIDEBAND_CLIENT_CLI_OUTPUT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace sideband::client {

class Output {
 public:
  virtual ~Output() = default;
  // Writes all of `text` immediately; nothing is buffered.
  virtual absl::Status Write(absl::string_view text) = 0;
};

// A file descriptor owned by the caller. SIGPIPE must be ignored.
class FdOutput final : public Output {
 public:
  // `name` appears in error messages.
  FdOutput(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  // CANCELLED if the reader has closed the pipe (closed() is then true); else "NAME: system error".
  absl::Status Write(absl::string_view text) override;
  bool closed() const { return closed_; }

 private:
  const int fd_;
  const std::string name_;
  bool closed_ = false;
};

// Collects the output, for tests.
class StringOutput final : public Output {
 public:
  absl::Status Write(absl::string_view text) override;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_OUTPUT_H_
