// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/thread_turn.h"

#include <algorithm>

namespace sideband::mcu {

ThreadTurn::Verdict ThreadTurn::Ask(uint64_t thread, uint64_t now_ns) {
  if (thread != holder_) Queue(thread);
  EndTurn(now_ns);
  if (thread == holder_) return Verdict::kGoesOn;
  Queue(thread);
  if (holder_ != 0) return Verdict::kWaits;
  SkipAbsent(thread, now_ns);
  if (waiting_.front() != thread) return Verdict::kWaits;
  waiting_.pop_front();
  holder_ = thread;
  until_ns_ = now_ns + kTurnNs;
  return Verdict::kBegins;
}

// A turn for which nobody waits goes on.
void ThreadTurn::EndTurn(uint64_t now_ns) {
  if (holder_ == 0 || now_ns < until_ns_ || waiting_.empty()) return;
  holder_ = 0;
  free_since_ns_.reset();
}

// Who does not ask in time loses its place to the next.
void ThreadTurn::SkipAbsent(uint64_t asking, uint64_t now_ns) {
  if (!free_since_ns_) free_since_ns_ = now_ns;
  while (waiting_.front() != asking && now_ns >= *free_since_ns_ + kGraceNs) {
    waiting_.pop_front();
    *free_since_ns_ += kGraceNs;
  }
}

void ThreadTurn::Queue(uint64_t thread) {
  if (std::ranges::find(waiting_, thread) == waiting_.end()) waiting_.push_back(thread);
}

void ThreadTurn::End(uint64_t thread) {
  std::erase(waiting_, thread);
  if (thread != holder_) return;
  holder_ = 0;
  free_since_ns_.reset();
}

}  // namespace sideband::mcu
