// SPDX-License-Identifier: Apache-2.0
//
// When commands may run on a mailbox that others use, too: in bursts, one in an interval at most, and only after
// the command register has shown no other command for a while. Time is an argument (a steady clock's).
//   BurstGate gate({.commands = 16, .quiet = absl::Milliseconds(120), .interval = absl::Seconds(1)});
//   if (now >= gate.next_look()) gate.Look(ReadStatus(), /*is_own=*/false, now);
//   if (gate.IsQuiet()) gate.Open(now);
//   while (gate.IsOpen()) {
//     RunNext();
//     gate.Count(now);   // and gate.Close(now) if another controller's command was seen
//   }
#ifndef SIDEBAND_DAEMON_BOARD_BURST_GATE_H_
#define SIDEBAND_DAEMON_BOARD_BURST_GATE_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "proto/mailbox/word.h"

namespace sideband::daemon {

struct BurstOptions {
  uint32_t commands = 16;  // of a burst, at least 1
  absl::Duration quiet = absl::Milliseconds(120);
  absl::Duration interval = absl::Seconds(1);  // between the beginnings of two bursts, at least
  bool operator==(const BurstOptions&) const = default;
};

// Not thread-safe.
//
// Limits: a client that repeats one command leaves the register as it is, and is seen only while a command runs; one
// that has written inputs, and no command yet, is not seen at all.
class BurstGate {
 public:
  // Looks within `quiet`: a command that runs between two of them may be seen.
  static constexpr int kLooks = 4;
  // The pause after which a lock is tried again that another program has.
  static constexpr absl::Duration kRetry = absl::Milliseconds(5);

  explicit BurstGate(const BurstOptions& options) : options_(options) {}

  // While it is closed: the instant of the next look.
  absl::Duration next_look() const { return next_look_; }
  // Whether a look at `now` that finds nothing new would be the last one before a burst.
  bool IsLastLook(absl::Duration now) const { return status_ && now - since_ >= options_.quiet; }
  // What the command register holds. Of this daemon's own commands, of which others do not have to be protected, the
  // status is `is_own`.
  void Look(const mailbox::CommandWord& status, bool is_own, absl::Duration now);
  // Whether the looks have found nothing new for long enough.
  bool IsQuiet() const { return status_ && looked_ - since_ >= options_.quiet; }
  // Postpones the next look: the bus is another program's.
  void Wait(absl::Duration now);
  // After an error: the looks begin anew after an interval.
  void Retreat(absl::Duration now);

  bool IsOpen() const { return left_ > 0; }
  // Begins a burst.
  void Open(absl::Duration now);
  // A command has run. The burst ends with its last one, or when it has taken as long as the mailbox was quiet: what a
  // client does that has begun meanwhile is then not disturbed for longer than that.
  void Count(absl::Duration now);
  // When the burst ends at the latest.
  absl::Duration end() const { return end_; }
  // Ends the burst. The next one begins after an interval.
  void Close(absl::Duration now);

 private:
  const BurstOptions options_;
  std::optional<mailbox::CommandWord> status_;  // of the last look, since `since_`; nullopt: none, or a command ran
  absl::Duration since_, looked_;
  absl::Duration next_look_ = -absl::InfiniteDuration();
  uint32_t left_ = 0;  // commands of the burst
  absl::Duration begin_, end_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_BURST_GATE_H_
