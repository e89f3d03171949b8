// SPDX-License-Identifier: Apache-2.0
//
// Which of several threads has the registers of a slice. On a core one thread runs at a time; here each connection to a
// guest port is a thread, and threads that compete take turns, in the order in which they asked.
//   ThreadTurn turn;
//   if (turn.Ask(thread, now_ns) == ThreadTurn::Verdict::kBegins) SwitchThread();
//   turn.End(thread);
#ifndef SIDEBAND_SECURE_MCU_DEVICE_THREAD_TURN_H_
#define SIDEBAND_SECURE_MCU_DEVICE_THREAD_TURN_H_

#include <cstdint>
#include <deque>
#include <optional>

namespace sideband::mcu {

// Not thread-safe.
class ThreadTurn {
 public:
  // A turn for which others wait ends after this time.
  static constexpr uint64_t kTurnNs = 1'000'000;
  // So long the first of those who wait may take until it asks again: a client pauses for a millisecond at most.
  static constexpr uint64_t kGraceNs = 2'000'000;

  enum class Verdict {
    kGoesOn,  // the thread has its turn
    kBegins,  // the thread begins a turn: what the one before left must be cleared
    kWaits,   // the thread must ask again
  };
  // `thread` is not 0. Time does not decrease. With k threads that ask again within kGraceNs each begins a turn after
  // at most k - 1 turns and graces of others.
  Verdict Ask(uint64_t thread, uint64_t now_ns);
  // The thread does not ask again.
  void End(uint64_t thread);

 private:
  void EndTurn(uint64_t now_ns);
  void SkipAbsent(uint64_t asking, uint64_t now_ns);
  void Queue(uint64_t thread);

  uint64_t holder_ = 0;  // 0: none
  uint64_t until_ns_ = 0;
  std::deque<uint64_t> waiting_;           // without the holder
  std::optional<uint64_t> free_since_ns_;  // without a holder: the first who waits may begin since then
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_THREAD_TURN_H_
