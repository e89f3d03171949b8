// SPDX-License-Identifier: Apache-2.0
//
// Which of several threads has the registers of a slice. On a core one thread runs at a time; here each connection to a
// guest port is a thread, and threads that compete take turns.
//   ThreadTurn turn;
//   if (turn.Ask(thread, now_ns) == ThreadTurn::Verdict::kBegins) SwitchThread();
//   turn.End(thread);
#ifndef SIDEBAND_SECURE_MCU_DEVICE_THREAD_TURN_H_
#define SIDEBAND_SECURE_MCU_DEVICE_THREAD_TURN_H_

#include <cstdint>

namespace sideband::mcu {

// Not thread-safe.
class ThreadTurn {
 public:
  // A turn during which another thread has asked ends after this time, and its thread is not let in again for as long.
  static constexpr uint64_t kTurnNs = 1'000'000;

  enum class Verdict {
    kGoesOn,  // the thread has its turn
    kBegins,  // the thread begins a turn: what the one before left must be cleared
    kWaits,   // the thread must ask again
  };
  // `thread` is not 0. Time does not decrease.
  Verdict Ask(uint64_t thread, uint64_t now_ns);
  // The thread does not ask again.
  void End(uint64_t thread);

 private:
  Verdict AskAgain(uint64_t now_ns);

  uint64_t holder_ = 0;  // 0: none
  uint64_t until_ns_ = 0;
  bool is_contested_ = false;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_THREAD_TURN_H_
