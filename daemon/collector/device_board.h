// SPDX-License-Identifier: Apache-2.0
//
// A device's board: its base commands, one at a time on the collector's thread between collections.
//   DeviceBoard board(device, session, lock, {store, boards, clock});
//   board.SetReachable(status.ok() || absl::IsUnimplemented(status));     // after each collection
//   while (board.RunNext() && clock.Steady() < next_snapshot) {}
//   WaitUntil(std::min(next_snapshot, board.NextTime()));
#ifndef SIDEBAND_DAEMON_COLLECTOR_DEVICE_BOARD_H_
#define SIDEBAND_DAEMON_COLLECTOR_DEVICE_BOARD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/board/board_reader.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/board_store.h"
#include "daemon/board/group_round.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/store.h"
#include "daemon/snapshot/topology.h"
#include "daemon/transport/transport.h"

namespace sideband::daemon {

// The bursts in which a board's commands run on a mailbox that is shared with other clients: after it was quiet, and
// under the bus's lock. Between them, its status is read and nothing is written.
//
// Used by one thread at a time, that of the session and of the lock.
class BoardBursts {
 public:
  // `session` and `lock` must outlive it.
  BoardBursts(MailboxSession& session, BusLock& lock, const BurstOptions& options)
      : session_(session), lock_(lock), options_(options), gate_(options) {}
  // Releases the lock.
  ~BoardBursts() { lock_.Release(); }
  BoardBursts(const BoardBursts&) = delete;
  BoardBursts& operator=(const BoardBursts&) = delete;

  // Whether the command that is due at `due` may run now. Looks at the mailbox and takes the lock, if it is time to. An
  // error is the bus's or the lock's; then the looks start again after an interval.
  absl::StatusOr<bool> MayRun(absl::Duration due, absl::Duration now);
  // After a command. An error, such as another controller's command in its place, ends the burst.
  void Follow(const absl::Status& status, absl::Duration now);
  // Ends the burst, if there is one.
  void End(absl::Duration now);
  // When MayRun may have another answer, or something to do.
  absl::Duration NextTime(absl::Duration due) const;
  // The steady time of the last look that the board has answered.
  absl::Duration looked() const { return looked_; }

 private:
  // Whether an open burst goes on with a command that is due at `due`.
  absl::StatusOr<bool> GoOn(absl::Duration due, absl::Duration now);
  absl::StatusOr<bool> LookAgain(absl::Duration now);
  // Whether the mailbox is quiet, and the bus locked.
  absl::StatusOr<bool> Look(absl::Duration now);

  MailboxSession& session_;
  BusLock& lock_;
  const BurstOptions options_;
  BurstGate gate_;
  bool has_paused_ = false;  // since the last command of the burst
  absl::Duration looked_ = -absl::InfiniteDuration();
};

// The publication of a device that has base commands alone: it is up, and has no counters.
//
// The boards in one device's snapshots. Not thread-safe.
class BoardSnapshots {
 public:
  // A snapshot without rows, as old as the board's last answer: a round of many commands is answered before it is a
  // sample; `wall_error` is that of its wall clock. nullptr while nothing was read. The device's UUID is the board's
  // GUID, or nil.
  std::shared_ptr<DeviceSnapshot> Make(const BoardReading& reading, const BoardTime& answered,
                                       absl::Duration wall_error = absl::ZeroDuration());

 private:
  std::shared_ptr<const Topology> topology_;  // shared by the snapshots of one board
  uint64_t publication_ = 0;
};

// Used by one thread at a time.
class DeviceBoard {
 public:
  struct Context {
    const Store& store;
    BoardStore* boards;  // nullptr: no board is read
    const Clock& clock;
  };
  // All must outlive it.
  DeviceBoard(size_t device, MailboxSession& session, BusLock& lock, const Context& context);

  // Whether it is known at which registers the board takes commands. Until then, and after a collection that has
  // failed for another reason than a missing extension, nothing is written to the device.
  void SetReachable(bool is_reachable);
  // Whether the configuration asks for its base commands.
  bool is_wanted() const { return context_.boards != nullptr && context_.boards->SettingsOf(device_).is_read; }
  // Whether the device's registers are shared with other clients, by the configuration and as far as the session knows:
  // all commands at them are then run under the bus's lock.
  bool is_shared() const;
  // Runs one command, if one is due, and of a shared mailbox within a burst (BoardBursts). False if there was
  // nothing to do. Settings, interval and bus are those of the store at the time. An error of the bus is logged once,
  // until a command succeeds; the reading stays.
  bool RunNext();
  // The publication of a device that has nothing else; nullptr while the board is not read, or has not answered yet.
  std::shared_ptr<DeviceSnapshot> SnapshotOfReading();
  // The steady time at which a command may be due; infinite while nothing is read.
  absl::Duration NextTime();

 private:
  class Port final : public BoardPort {
   public:
    explicit Port(MailboxSession& session) : session_(session) {}
    absl::StatusOr<BoardReply> Run(const mailbox::CommandWord& word, std::optional<uint32_t> data,
                                   const Outputs& outputs) override;
    // How often a command is run while others are in its way.
    void set_runs_max(int runs) { runs_max_ = runs; }

   private:
    MailboxSession& session_;
    int runs_max_ = MailboxSession::kRunsMax;
  };
  // The configuration that a reader is made for.
  struct Plan {
    BoardSettings settings;
    uint32_t bus_hz = 0;
    absl::Duration interval;
    bool shares_registers = false;  // with others, if there are any
    bool operator==(const Plan&) const = default;
  };

  // Makes the reader that the configuration asks for; false if it asks for none.
  bool Follow();
  void MakeReader();
  // Whether a command may run now, of a mailbox that is not shared at any time.
  bool MayRun(absl::Duration now);
  void LogChange(absl::string_view group, absl::string_view what) const;
  void LogError(const absl::Status& status);

  const size_t device_;
  const Context context_;
  MailboxSession& session_;
  BusLock& lock_;
  Port port_;
  bool is_reachable_ = false;
  std::string name_;
  Plan plan_;
  std::optional<BoardReader> reader_;  // by plan_
  std::optional<BoardBursts> bursts_;  // likewise; nullopt: the mailbox is not shared
  BoardSnapshots snapshots_;
  absl::Duration answered_ = -absl::InfiniteDuration();  // the steady time of the last command that was answered
  std::string error_;                                    // as logged; empty after a success
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_DEVICE_BOARD_H_
