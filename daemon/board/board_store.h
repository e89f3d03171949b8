// SPDX-License-Identifier: Apache-2.0
//
// How the board of each device is to be read, and its newest reading: written by reloads and collectors, read by
// servers.
//   boards.SetSettings(device, {.is_read = true});            // at the start, and when the configuration changes
//   boards.Publish(device, reader.reading());                 // the collector's thread
//   if (const auto reading = boards.Newest(device)) Show(*reading);
//   boards.AddListener(history);                              // sees each reading from then on
#ifndef SIDEBAND_DAEMON_BOARD_BOARD_STORE_H_
#define SIDEBAND_DAEMON_BOARD_BOARD_STORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/board/board_reading.h"
#include "proto/mailbox/word.h"

namespace sideband::daemon {

// How a device's base commands are used.
struct BoardSettings {
  bool is_read = false;    // whether they are used at all
  double bus_share = 0.3;  // of the bus's time, above 0 and at most 1
  // Whether other clients use them, too, at the registers that a device without version 2 has for all.
  bool is_shared = false;
  // Limits at a shared mailbox: the most commands of an interval, and how long no command was run before them. All
  // public clients but one of the kernel's drivers read an answer within 100 ms after its command
  // (smbpbi-facts.md, 2.4).
  uint32_t burst = 16;  // at least 1
  absl::Duration quiet = absl::Milliseconds(120);
  bool operator==(const BoardSettings&) const = default;
};

struct BurstOptions {
  uint32_t commands = 16;  // of a burst, at least 1
  absl::Duration quiet = absl::Milliseconds(120);
  absl::Duration interval = absl::Seconds(1);  // between the beginnings of two bursts, at least
  bool operator==(const BurstOptions&) const = default;
};

// When commands may run on a mailbox that others use, too: in bursts, one in an interval at most, and only after
// the command register has shown no other command for a while. Time is an argument (a steady clock's). Not thread-safe.
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
  // Takes the content of the command register. Of this daemon's own commands, of which others do not have to be
  // protected, the status is `is_own`.
  void Look(const mailbox::CommandWord& status, bool is_own, absl::Duration now);
  // Whether the looks have found nothing new for long enough.
  bool IsQuiet() const { return status_ && looked_ - since_ >= options_.quiet; }
  // Postpones the next look: the bus is another program's.
  void Wait(absl::Duration now);
  // After an error: the looks start again after an interval.
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

// Called for each reading that is published, on the collector's thread. OnPublish must return at once and must not call
// the store's AddListener, RemoveListener, Publish or Forget.
class BoardListener {
 public:
  virtual ~BoardListener() = default;
  virtual void OnPublish(size_t device, const std::shared_ptr<const BoardReading>& reading) = 0;
};

// Thread-safe.
class BoardStore {
 public:
  // The device's settings, or the default for a device without settings.
  BoardSettings SettingsOf(size_t device) const;
  void SetSettings(size_t device, const BoardSettings& settings);
  // nullptr before the first reading, and for a removed device. It stays valid while the caller holds it.
  std::shared_ptr<const BoardReading> Newest(size_t device) const;
  // Does nothing unless the board is to be read: a collector may learn late that it is not.
  void Publish(size_t device, std::shared_ptr<const BoardReading> reading);
  // Drops everything of a device: its board is no longer read, or it was removed. After that, no listener is called for
  // it until it has settings.
  void Forget(size_t device);

  // `listener` is called for readings until RemoveListener returns; a call may be in progress until then.
  void AddListener(BoardListener& listener);
  void RemoveListener(BoardListener& listener);

 private:
  // Held only to copy or swap.
  mutable absl::Mutex mu_;
  absl::flat_hash_map<size_t, BoardSettings> settings_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<size_t, std::shared_ptr<const BoardReading>> newest_ ABSL_GUARDED_BY(mu_);  // shared with readers
  // Held while a reading is published, with the calls of listeners. It is acquired before mu_.
  absl::Mutex publishing_mu_ ABSL_ACQUIRED_BEFORE(mu_);
  std::set<BoardListener*> listeners_ ABSL_GUARDED_BY(publishing_mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_BOARD_STORE_H_
