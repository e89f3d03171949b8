// SPDX-License-Identifier: Apache-2.0
//
// Checks the daemon's answers: statuses become the library's errors, and times and sizes are held against what the
// public types can take.
//   if (!response.ok()) return ErrorOf(response.status());
//   Bounds bounds;
//   const Time time = bounds.TimeOf(response->host_time(), "host_time");
//   if (!bounds.status().ok()) return ErrorOf(bounds.status());
#ifndef SIDEBAND_CLIENT_CPP_ANSWER_H_
#define SIDEBAND_CLIENT_CPP_ANSWER_H_

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "sideband/error.h"
#include "sideband/time.h"

namespace sideband::library {

// The times and sizes of one answer. The first that is beyond the bounds is remembered, and goes on as zero, so that a
// conversion needs no error of its own. Not thread-safe.
class Bounds {
 public:
  // `what` names the value in the error.
  Time TimeOf(const google::protobuf::Timestamp& time, absl::string_view what);
  Duration DurationOf(const google::protobuf::Duration& duration, absl::string_view what);
  Duration NanosecondsOf(uint64_t nanoseconds, absl::string_view what);

  // Count the answer's parts, against the limits of client.h; return whether they are within.
  bool AddScopes(size_t scopes);
  bool AddCounters(size_t counters);
  bool AddDevices(size_t devices);

  // Remembers that the answer is wrong, unless something was wrong before.
  void Refuse(const std::string& reason);
  // OK, or DATA_LOSS with the first reason.
  const absl::Status& status() const { return status_; }

 private:
  bool Add(size_t more, size_t max, absl::string_view what, size_t& total);

  absl::Status status_;
  size_t scopes_ = 0;
  size_t counters_ = 0;
  size_t devices_ = 0;
};

// The messages of a duration that is not negative, and of a time.
google::protobuf::Duration ToMessage(Duration duration);
google::protobuf::Timestamp ToMessage(Time time);

// The error of a status that is not OK. The message is one line: control characters are escaped.
Error ErrorOf(const absl::Status& status);

}  // namespace sideband::library

#endif  // SIDEBAND_CLIENT_CPP_ANSWER_H_
