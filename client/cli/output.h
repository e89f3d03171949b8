// SPDX-License-Identifier: Apache-2.0
//
// Where a command's result goes.
#ifndef SIDEBAND_CLIENT_CLI_OUTPUT_H_
#define SIDEBAND_CLIENT_CLI_OUTPUT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace sideband::client {

class Output {
 public:
  virtual ~Output() = default;
  // All of `text`, at once. Nothing is buffered.
  virtual absl::Status Write(absl::string_view text) = 0;
};

// A file descriptor that somebody else closes. Needs SIGPIPE to be ignored.
class FdOutput final : public Output {
 public:
  // `name` is for messages.
  FdOutput(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  // CANCELLED when nobody reads any more (closed() is true then), else "NAME: what the system says".
  absl::Status Write(absl::string_view text) override;
  bool closed() const { return closed_; }

 private:
  const int fd_;
  const std::string name_;
  bool closed_ = false;
};

// Collects; for tests.
class StringOutput final : public Output {
 public:
  absl::Status Write(absl::string_view text) override;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_OUTPUT_H_
