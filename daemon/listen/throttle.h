// SPDX-License-Identifier: Apache-2.0
//
// Rate limits with a burst, and the throttle of one identity's requests over all of its connections.
//   TokenBucket pings({.burst = 20, .per_second = 1});
//   if (!pings.Take(1, clock.Steady())) Close();
//   const auto share = throttle.ShareOf(holder.name);
//   const absl::Duration wait = share->Charge(guard.TakeWork());
#ifndef SIDEBAND_DAEMON_LISTEN_THROTTLE_H_
#define SIDEBAND_DAEMON_LISTEN_THROTTLE_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"

namespace sideband::daemon {

// In tokens.
struct TokenRate {
  double burst = 0;
  double per_second = 0;
};

// A rate limit with a burst. The caller supplies the time.
//
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

// Throttles the requests of one identity over all of its connections, before anything is parsed. A faster client is not
// rejected: the server stops reading from it for a while. Beside that it counts open streams, whose number is bounded
// for each identity and for all together.
//
// Thread-safe. `clock` and the throttle must outlive the shares.
class HolderThrottle {
 public:
  struct Limits {
    // Far above the quota of calls (call_limits.h), so that well-behaved clients meet its rejections first.
    TokenRate streams = {.burst = 400, .per_second = 200};
    // A frame costs some microseconds. Large answers credit the frames that acknowledge them.
    TokenRate frames = {.burst = 8000, .per_second = 4000};
    // Open streams of a holder: twice as many as gRPC admits (call_limits.h), since rejected calls take a moment to
    // end.
    size_t streams_max = 256;
    // Beyond this number of all open streams, a holder may have no more than an equal part of it.
    size_t all_streams_max = 2048;
  };

  struct Work {
    size_t streams = 0;
    size_t frames = 0;
  };

  // The share of one holder. Thread-safe.
  class Share {
   public:
    // Charges the work. Returns how long to wait before reading on; zero: no wait.
    absl::Duration Charge(const Work& work);
    // The server has sent `bytes`.
    void CreditAnswer(size_t bytes);
    // Counts streams that a connection has opened (positive) or that have ended (negative). False where the holder now
    // has more than it may.
    bool CountOpen(ptrdiff_t change);

   private:
    friend class HolderThrottle;
    Share(HolderThrottle& all, const Limits& limits, const Clock& clock)
        : all_(all), clock_(clock), streams_(limits.streams), frames_(limits.frames) {}
    bool IsFull();

    HolderThrottle& all_;
    const Clock& clock_;
    size_t open_ ABSL_GUARDED_BY(all_.open_mu_) = 0;
    absl::Mutex mu_;
    TokenBucket streams_ ABSL_GUARDED_BY(mu_);
    TokenBucket frames_ ABSL_GUARDED_BY(mu_);
  };

  HolderThrottle(const Limits& limits, const Clock& clock) : limits_(limits), clock_(clock) {}

  // The share that all connections of the holder use. It is kept after the last connection until it is full again.
  std::shared_ptr<Share> ShareOf(const std::string& holder);

  // For tests: the number of shares.
  size_t size() const;

 private:
  void DropUnused() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Limits limits_;
  const Clock& clock_;
  absl::Mutex open_mu_;
  size_t open_ ABSL_GUARDED_BY(open_mu_) = 0;          // streams of all holders
  size_t open_holders_ ABSL_GUARDED_BY(open_mu_) = 0;  // with an open stream
  mutable absl::Mutex mu_;
  absl::flat_hash_map<std::string, std::shared_ptr<Share>> shares_ ABSL_GUARDED_BY(mu_);
  size_t sweep_at_ ABSL_GUARDED_BY(mu_) = 64;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_THROTTLE_H_
