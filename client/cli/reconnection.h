// SPDX-License-Identifier: Apache-2.0
//
// Decides whether and when a stream that has ended is opened again, and reports it: on standard error, or by `note`.
//   Reconnection reconnection(context);
//   for (;;) {
//     SIDEBAND_ASSIGN_OR_RETURN(const auto client, reconnection.Connect(context));
//     const absl::Status ended = Stream(*client, [&](const v1::Snapshot& news) { reconnection.Received(news); });
//     if (ended.ok() || !reconnection.Again(ended)) return ended;
//   }
#ifndef SIDEBAND_CLIENT_CLI_RECONNECTION_H_
#define SIDEBAND_CLIENT_CLI_RECONNECTION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/command.h"
#include "client/lib/telemetry_client.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

// Not thread-safe. The context, or what the functions use, must outlive the object.
class Reconnection {
 public:
  using Note = std::function<void(const std::string& line)>;
  // Waits; returns whether the command is cancelled.
  using Wait = std::function<bool(absl::Duration)>;

  struct Options {
    // Which ends of a stream count as a lost connection, besides those of client/lib/rpc_status.h.
    std::function<bool(const absl::Status& ended)> is_loss = [](const absl::Status&) { return false; };
    // Whether the files of the credentials have changed since the connection was made.
    std::function<bool()> has_new_credentials = [] { return false; };
    // Whether a stream that has never been open may be opened again, too.
    bool waits_for_first = false;
    // After so many messages of a stream, the delay begins anew.
    int steady_after = 1;
  };

  Reconnection(CommandContext& context, Options options);
  explicit Reconnection(CommandContext& context) : Reconnection(context, Options()) {}
  Reconnection(Note note, Wait wait, Options options)
      : note_(std::move(note)), wait_(std::move(wait)), options_(std::move(options)) {}

  // Waits with exponential back-off, or for as long as the daemon says, and returns true. Returns false immediately if
  // the stream has never been open or if the error is not a lost connection, and after a cancellation.
  bool Again(const absl::Status& ended);
  // A client by the files as they are now. After a loss, files that are being replaced are waited for; the error is
  // that of the last attempt, also after a cancellation.
  absl::StatusOr<std::unique_ptr<TelemetryClient>> Connect(CommandContext& context);

  // A message was received: the stream is open.
  void Received();
  // A snapshot was received. Notes a device restart, and the gap in the device's updates after a lost connection.
  // Returns false for the device's last one once more.
  bool Received(const v1::Snapshot& snapshot);

  // A stream tells how it resumes. A device that goes on has no gap. A gap is noted with the device's next snapshot, or
  // now if there may be none.
  void Received(const v1::Resumed& resumed);
  void Received(const v1::Gap& gap);

  static constexpr absl::Duration kDelayMin = absl::Milliseconds(500);
  static constexpr absl::Duration kDelayMax = absl::Seconds(10);

 private:
  struct Seen {
    uint64_t boot_id = 0;
    uint32_t snapshot_id = 0;
    absl::Time host_time;
    bool has_gap = false;  // the connection was lost after this snapshot
  };

  void Opened();
  bool MayPass(const absl::Status& ended) const;
  bool WaitFor(absl::Duration at_least);
  void NoteGap(const v1::Snapshot& snapshot, const Seen& before);

  const Note note_;
  const Wait wait_;
  const Options options_;
  int messages_ = 0;  // since the stream was opened
  bool was_open_ = false;
  bool is_lost_ = false;
  absl::Duration delay_ = kDelayMin;
  absl::Duration waited_;             // since the last end that was not of a daemon that starts
  std::map<std::string, Seen> seen_;  // by device
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_RECONNECTION_H_
