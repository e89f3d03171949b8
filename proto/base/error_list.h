// SPDX-License-Identifier: Apache-2.0
//
// Collects all errors of an input, for readers that continue after an error.
//   ErrorList errors;
//   errors.Take(map.DurationOr("interval", device.interval, kMin, kMax), device.interval);   // keeps the default
//   errors.Take(map.String("name"), device.name);
//   return errors.First();
#ifndef SIDEBAND_PROTO_BASE_ERROR_LIST_H_
#define SIDEBAND_PROTO_BASE_ERROR_LIST_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sideband {

// Bounded: after kErrorsMax errors only the count increases. Not thread-safe.
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

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_ERROR_LIST_H_
