// SPDX-License-Identifier: Apache-2.0
//
// A rate limit with a burst. The caller supplies the time.
//   TokenBucket pings({.burst = 20, .per_second = 1});
//   if (!pings.Take(1, clock.Steady())) Close();
#ifndef SIDEBAND_DAEMON_LISTEN_TOKEN_BUCKET_H_
#define SIDEBAND_DAEMON_LISTEN_TOKEN_BUCKET_H_

#include <algorithm>

#include "absl/time/time.h"

namespace sideband::daemon {

// In tokens.
struct TokenRate {
  double burst = 0;
  double per_second = 0;
};

// Not thread-safe. Initially full. `now` must not decrease.
class TokenBucket {
 public:
  explicit TokenBucket(TokenRate rate) : rate_(rate), level_(rate.burst) {}

  // Takes `tokens`. False, and takes nothing, where fewer are left.
  bool Take(double tokens, absl::Duration now) {
    Refill(now);
    if (level_ < tokens) return false;
    level_ -= tokens;
    return true;
  }
  // Takes `tokens` even where fewer are left. Returns the time until the debt is paid; zero without a debt.
  absl::Duration Charge(double tokens, absl::Duration now) {
    Refill(now);
    level_ -= tokens;
    return level_ >= 0 ? absl::ZeroDuration() : absl::Seconds(-level_ / rate_.per_second);
  }
  // Adds `tokens`, up to the burst.
  void Credit(double tokens) { level_ = std::min(rate_.burst, level_ + tokens); }
  bool IsFull(absl::Duration now) {
    Refill(now);
    return level_ >= rate_.burst;
  }

 private:
  void Refill(absl::Duration now) {
    if (last_ < now && last_ > absl::ZeroDuration()) Credit(absl::ToDoubleSeconds(now - last_) * rate_.per_second);
    last_ = std::max(last_, now);
  }

  TokenRate rate_;
  double level_;
  absl::Duration last_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_TOKEN_BUCKET_H_
