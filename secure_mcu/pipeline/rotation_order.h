// SPDX-License-Identifier: Apache-2.0
//
// The order of the counter sets in counter rotation, and the time in which their turns are measured: the resident's own
// (counter-rotation.md, "Rotation in the chip", 3 and 4).
//   RotationOrder order(seed, {.vm = 1, .context = 0, .generation = 1}, /*sets=*/4);
//   order.SetAt(/*residency=*/0, /*position=*/17);
//
//   OwnClock clock;
//   clock.Start(1000);
//   clock.Stop(1500);                // the hypervisor runs
//   clock.Resume(1700);
//   clock.Before(2000);              // 800
//   clock.CycleOf(600);              // 1800: the first cycle before which 600 cycles are its own
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_ROTATION_ORDER_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_ROTATION_ORDER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <vector>

#include "proto/base/uuid.h"

namespace sideband::mcu {

// A resident's own time: the cycles of the reference clock in which it runs, of those in which it is resident. Exits
// and entries may be told ahead. Not thread-safe.
class OwnClock {
 public:
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

  // From `cycle` on, at which its time is 0.
  void Start(uint64_t cycle) { changes_ = {{cycle, 0, true}}; }
  // The resident leaves.
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

// Secret of a device.
using RotationSeed = std::array<uint8_t, 32>;
// A number's 8 bytes, least significant first, then zeros: for tests, and for replays that must be repeatable.
RotationSeed SeedOf(uint64_t number);
// Draws from the system's random number generator.
RotationSeed DrawSeed();

// The owner of the turns.
struct RotationIdentity {
  Uuid uuid{};  // of the VM
  uint16_t vm = 0;
  uint16_t context = 0;
  uint32_t generation = 0;
  uint32_t life =
      0;  // of the generation on the channel, from 0: after a change of its plan, an order is not seen again
  uint8_t channel = 0;  // a slice, or kDeviceChannel
};

// The order in which counter sets are multiplexed: a Latin square from a secret seed, so that over as many
// residencies as there are sets every position is seen once by every set.
//
// set = (col[p / S][p mod S] + row[j / S][j mod S]) mod S. Every col[b] and row[b] is a permutation of 0 … S - 1 by
// Fisher-Yates from S - 1 down, whose draws are the 32-bit little-endian words of
// HMAC-SHA256(key, kind | b, 8 bytes | n, 4 bytes), n = 0, 1, …, kind 'c' or 'r'; words that would favour low numbers
// are drawn again. key = HMAC-SHA256(seed, UUID | VM, 2 bytes | context, 2 bytes | generation, 4 bytes | life, 4 bytes
// | channel, 1 byte). A plan's number is not in it: it would tell how many plans others have had.
//
// Rounds in which some sets have several turns are not of the square: each is a permutation of its own, of kind 'a',
// b = residency * 2^32 + round, of the list of sets in ascending order, each as often as it has turns.
// Not thread-safe.
class RotationOrder {
 public:
  // `sets` is at least 1.
  RotationOrder(const RotationSeed& seed, const RotationIdentity& identity, size_t sets);

  size_t SetAt(uint64_t residency, uint64_t position);
  // The sets of a round in which set s has turns[s] turns. `residency` and `round` are taken modulo 2^32.
  std::vector<uint8_t> RoundOf(uint64_t residency, uint64_t round, std::span<const uint32_t> turns) const;

 private:
  struct Permutation {
    uint64_t block = ~uint64_t{0};
    std::vector<uint8_t> places;
  };
  const std::vector<uint8_t>& Find(char kind, uint64_t block, std::vector<Permutation>& cache);

  std::array<uint8_t, 32> key_;
  const size_t sets_;
  // Each in its own place, since those of early positions are wanted again in every residency.
  std::vector<Permutation> columns_, rows_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_ROTATION_ORDER_H_
