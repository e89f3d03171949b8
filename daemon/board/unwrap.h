// SPDX-License-Identifier: Apache-2.0
//
// Counts of 64 bits that only grow, from a board's counters, which wrap around, and begin anew with the board.
//   CountUnwrapper errors;
//   errors.Add(0xFFFF'FFFE, {.bits = 32}, now);   // 0xFFFF'FFFE
//   errors.Add(3, {.bits = 32}, later);           // 0x1'0000'0003: the counter has wrapped
//   errors.Add(1, {.bits = 32}, last);            // 1, created at `last`: it has begun anew
#ifndef SIDEBAND_DAEMON_BOARD_UNWRAP_H_
#define SIDEBAND_DAEMON_BOARD_UNWRAP_H_

#include <cstdint>
#include <map>
#include <optional>

#include "absl/time/time.h"
#include "daemon/board/board_groups.h"

namespace sideband::daemon {

// A count, and since when it has been counted: its first sample, or the first one after its counter began anew. It
// never falls without a later `created`.
struct RunningCount {
  uint64_t value = 0;
  absl::Time created;
  bool operator==(const RunningCount&) const = default;
};

struct WrapRule {
  int bits = 64;  // of the counter, 1 to 64
  // A counter that has fallen has wrapped if it has gained at most this; else it has begun anew. Without it, half the
  // counter's range.
  std::optional<uint64_t> gain_max;
};

// One counter. Not thread-safe.
class CountUnwrapper {
 public:
  // The counter's new content; bits above those of the rule are ignored.
  const RunningCount& Add(uint64_t raw, const WrapRule& rule, absl::Time now);
  // The board was reset: the next sample begins anew, even if it is above the last one.
  void Restart() { last_.reset(); }
  // What the counter has gained since the last sample, of a board that says that alone. The first one after the start,
  // or after Restart(), covers a time that is not known: the count then begins at 0.
  const RunningCount& AddGain(uint64_t gain, absl::Time now);
  // The last content; nullopt before the first one and after Restart().
  std::optional<uint64_t> last() const { return last_; }

 private:
  std::optional<uint64_t> last_;
  RunningCount count_;
};

// Which counter of a board: an item of a group, and of a unit such as a link.
struct CounterKey {
  BoardGroup group;
  uint16_t item = 0;
  uint16_t unit = 0;
  auto operator<=>(const CounterKey&) const = default;
};

// The counters of one board. Not thread-safe.
class CountBook {
 public:
  RunningCount Add(const CounterKey& key, uint64_t raw, int bits, absl::Time now);
  RunningCount AddGain(const CounterKey& key, uint64_t gain, absl::Time now);
  // A gain was lost: the next one begins anew.
  void Restart(const CounterKey& key);
  // Energy in mJ of 64 bits, of which a board may fill the lower 32 alone: a fall from there is a wrap if the board
  // has used at most `watts_max` since.
  RunningCount AddEnergy(const CounterKey& key, uint64_t raw_mj, double watts_max, absl::Time now);
  void RestartAll();

 private:
  struct Entry {
    CountUnwrapper unwrapper;
    absl::Time time;  // of the last sample
  };
  std::map<CounterKey, Entry> entries_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_UNWRAP_H_
