// SPDX-License-Identifier: Apache-2.0
//
// For how long a stream's reader has not taken the message that is being written.
//   WriteWatch watch(&clock, absl::Seconds(20));
//   watch.Begin();
//   if (watch.Check() == WriteWatch::Verdict::kFinish) Finish(ReaderTooSlowError());
//   watch.End();
#ifndef SIDEBAND_DAEMON_GRPC_WRITE_WATCH_H_
#define SIDEBAND_DAEMON_GRPC_WRITE_WATCH_H_

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"

namespace sideband::daemon {

inline absl::Status ReaderTooSlowError() {
  return absl::DeadlineExceededError("the reader has taken nothing for two heartbeats");
}

// Not thread-safe. The clock must outlive it.
class WriteWatch {
 public:
  enum class Verdict {
    kGood,
    kFinish,  // the patience is over
    kCancel,  // and so much time again: the reader does not even take the status
  };

  // Without a clock (nullptr) the patience is endless.
  WriteWatch(const Clock* clock, absl::Duration patience) : clock_(clock), patience_(patience) {}

  void Begin() {
    if (clock_ != nullptr && patience_ != absl::InfiniteDuration()) since_ = clock_->Steady();
  }
  void End() { since_.reset(); }
  // Each of the other verdicts comes once for a write, in their order.
  Verdict Check() {
    if (!since_) return Verdict::kGood;
    const absl::Duration waited = clock_->Steady() - *since_;
    if (waited < patience_) return Verdict::kGood;
    if (!std::exchange(is_finished_, true)) return Verdict::kFinish;
    if (waited < 2 * patience_ || std::exchange(is_cancelled_, true)) return Verdict::kGood;
    return Verdict::kCancel;
  }
  // A stream that was finished writes no more.
  bool is_finished() const { return is_finished_; }

 private:
  const Clock* clock_;
  absl::Duration patience_;
  std::optional<absl::Duration> since_;
  bool is_finished_ = false;
  bool is_cancelled_ = false;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_WRITE_WATCH_H_
