// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/thread_turn.h"

namespace sideband::mcu {

ThreadTurn::Verdict ThreadTurn::Ask(uint64_t thread, uint64_t now_ns) {
  if (thread == holder_) return AskAgain(now_ns);
  if (holder_ != 0 && now_ns < until_ns_) {
    is_contested_ = true;
    return Verdict::kWaits;
  }
  holder_ = thread;
  until_ns_ = now_ns + kTurnNs;
  is_contested_ = false;
  return Verdict::kBegins;
}

ThreadTurn::Verdict ThreadTurn::AskAgain(uint64_t now_ns) {
  if (now_ns < until_ns_) return Verdict::kGoesOn;
  // A thread that never pauses would otherwise keep the turn: the others ask from time to time only.
  if (is_contested_ && now_ns < until_ns_ + kTurnNs) return Verdict::kWaits;
  until_ns_ = now_ns + kTurnNs;
  is_contested_ = false;
  return Verdict::kGoesOn;
}

void ThreadTurn::End(uint64_t thread) {
  if (thread == holder_) holder_ = 0;
}

}  // namespace sideband::mcu
