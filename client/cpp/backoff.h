// SPDX-License-Identifier: Apache-2.0
//
// Delays before attempts to connect: they double up to a bound, and each is shortened at random, so that the clients of
// a daemon that restarts do not come back at once.
//   Backoff backoff({.min = absl::Milliseconds(500), .max = absl::Seconds(10)}, random);
//   Wait(backoff.Next());
//   backoff.Reset();
#ifndef SIDEBAND_CLIENT_CPP_BACKOFF_H_
#define SIDEBAND_CLIENT_CPP_BACKOFF_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "absl/time/time.h"

namespace sideband::library {

// Not thread-safe.
class Backoff {
 public:
  struct Options {
    // 0 < min ≤ max.
    absl::Duration min;
    absl::Duration max;
  };

  // `random` returns numbers from 0 to below 1.
  Backoff(Options options, std::function<double()> random)
      : options_(options), random_(std::move(random)), next_(options.min) {}

  // More than half of the present delay, and at most that.
  absl::Duration Next() {
    const absl::Duration delay = next_ * (1 - random_() / 2);
    next_ = std::min(2 * next_, options_.max);
    ++attempts_;
    return delay;
  }

  void Reset() {
    next_ = options_.min;
    attempts_ = 0;
  }

  // The number of delays since the last Reset().
  uint32_t attempts() const { return attempts_; }

 private:
  const Options options_;
  const std::function<double()> random_;
  absl::Duration next_;
  uint32_t attempts_ = 0;
};

}  // namespace sideband::library

#endif  // SIDEBAND_CLIENT_CPP_BACKOFF_H_
