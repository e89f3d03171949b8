// SPDX-License-Identifier: Apache-2.0
//
// A resident's own time: the cycles of the reference clock in which it runs, of those in which it is resident. Exits
// and entries may be told ahead (counter-rotation.md, "Rotation in the chip", 3).
//   OwnClock clock;
//   clock.Start(1000);
//   clock.Stop(1500);                // the hypervisor runs
//   clock.Resume(1700);
//   clock.Before(2000);              // 800
//   clock.CycleOf(600);              // 1800: the first cycle before which 600 cycles are its own
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_OWN_CLOCK_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_OWN_CLOCK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>

namespace sideband::mcu {

// Not thread-safe.
class OwnClock {
 public:
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

  // From `cycle` on, at which its time is 0.
  void Start(uint64_t cycle) { changes_ = {{cycle, 0, true}}; }
  // From now on there is no resident.
  void End() { changes_.clear(); }
  bool runs() const { return !changes_.empty() && changes_.back().runs; }
  // The calls ascend in their cycles; without effect while it has ended.
  void Stop(uint64_t cycle) { Change(cycle, false); }
  void Resume(uint64_t cycle) { Change(cycle, true); }

  // Own cycles before `cycle`, which is not before the last Forget.
  uint64_t Before(uint64_t cycle) const;
  // The first cycle before which there are `own` own cycles, if nothing more is told; kNever if there is none.
  uint64_t CycleOf(uint64_t own) const;
  // Nothing before `cycle` is asked for any more.
  void Forget(uint64_t cycle);
  // The number of changes that are kept: those after the last Forget, and one.
  size_t changes() const { return changes_.size(); }

 private:
  struct State {
    uint64_t cycle;  // from this one on
    uint64_t own;    // own cycles before it
    bool runs;
  };
  void Change(uint64_t cycle, bool runs);

  std::deque<State> changes_;  // ascending
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_OWN_CLOCK_H_
