// SPDX-License-Identifier: Apache-2.0
//
// Decides whether and when a stream that has ended is opened again, and reports it: on standard error, or by `note`.
//   Reconnection reconnection(context);
//   absl::Status status;
//   do {
//     status = Stream([&](const v1::Snapshot& snapshot) { reconnection.Received(snapshot); });
//   } while (!status.ok() && reconnection.Again(status));
#ifndef SIDEBAND_CLIENT_CLI_RECONNECTION_H_
#define SIDEBAND_CLIENT_CLI_RECONNECTION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cli/command.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

// Not thread-safe. The context, or what the functions use, must outlive the object.
class Reconnection {
 public:
  using Note = std::function<void(const std::string& line)>;
  // Waits; returns whether the command is cancelled.
  using Wait = std::function<bool(absl::Duration)>;

  // Whether the status is that of a call to a daemon that is stopping or has gone.
  static bool IsLoss(const absl::Status& status);

  struct Options {
    // Which ends of a stream count as a lost connection.
    std::function<bool(const absl::Status& ended)> is_loss = IsLoss;
    // Whether a stream that has never been open may be opened again, too.
    bool waits_for_first = false;
    // After so many messages of a stream, the delay begins anew.
    int steady_after = 1;
  };

  Reconnection(CommandContext& context, Options options)
      : Reconnection([&context](const std::string& line) { context.Note(line); },
                     [&context](absl::Duration delay) { return context.Wait(delay); }, std::move(options)) {}
  explicit Reconnection(CommandContext& context) : Reconnection(context, Options()) {}
  Reconnection(Note note, Wait wait, Options options)
      : note_(std::move(note)), wait_(std::move(wait)), options_(std::move(options)) {}
  Reconnection(Note note, Wait wait) : Reconnection(std::move(note), std::move(wait), Options()) {}

  // Waits with exponential back-off and returns true. Returns false immediately if the stream has never been open or if
  // the error is not a lost connection, and after a cancellation. NOT_FOUND after a lost connection counts as lost for
  // kNamesPatience: a daemon that has just started does not know its devices yet.
  bool Again(const absl::Status& ended);

  // A message was received: the stream is open.
  void Received();
  // A snapshot was received. Notes a device restart, and the gap in the device's updates after a lost connection.
  // Returns false for a snapshot that has been received before.
  bool Received(const v1::Snapshot& snapshot);

  // What a stream says of its resumption. What goes on has no gap; what has one is noted with the device's next
  // snapshot, or now if there may be none.
  void Received(const v1::Resumed& resumed);
  void Received(const v1::Gap& gap);

  static constexpr absl::Duration kDelayMin = absl::Milliseconds(500);
  static constexpr absl::Duration kDelayMax = absl::Seconds(10);
  static constexpr absl::Duration kNamesPatience = absl::Seconds(30);

 private:
  struct Seen {
    uint64_t boot_id = 0;
    uint32_t snapshot_id = 0;
    absl::Time host_time;
    bool has_gap = false;  // the connection was lost after this snapshot
  };

  void NoteGap(const v1::Snapshot& snapshot, const Seen& before);

  const Note note_;
  const Wait wait_;
  const Options options_;
  int messages_ = 0;  // since the stream was opened
  bool was_open_ = false;
  bool is_lost_ = false;
  absl::Duration delay_ = kDelayMin;
  absl::Duration waited_;             // since the loss of the connection
  std::map<std::string, Seen> seen_;  // by device
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_RECONNECTION_H_
