// SPDX-License-Identifier: Apache-2.0
//
// Parts of the commands that print streams: the option of their interval, their output and end, the devices that stop
// answering, for which the stream itself is silent, and whether and when a stream that has ended is opened again.
//   StreamPrinter printer(context, count_max);
//   DeviceStates states({}, context);
//   const StreamTick tick{.period = DeviceStates::kPeriod, .action = [&] { return states.Check(*client), true; }};
//   return printer.End(client->Subscribe(request, [&](const auto& response) {
//     states.Received(response.update().device());
//     return printer.Print(Render(response));
//   }, tick));
#ifndef SIDEBAND_CLIENT_CLI_STREAM_H_
#define SIDEBAND_CLIENT_CLI_STREAM_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/command.h"
#include "client/lib/telemetry_client.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

// --interval: the time between two updates of a device, from 10 ms to 24 h. The object must outlive the parsing.
struct IntervalOption {
  std::string text;

  void AddTo(CLI::App& app);
  // Zero if it was not given.
  absl::Duration value() const;
};

// Zero leaves the device's own interval.
void SetSampleInterval(absl::Duration interval, v1::SubscribeRequest& request);

// The output and the end of a stream.
class StreamPrinter {
 public:
  // count_max 0 is unlimited.
  StreamPrinter(CommandContext& context, uint64_t count_max) : context_(context), count_max_(count_max) {}

  // Returns whether the stream continues.
  bool Print(const std::string& text) { return Write(text) && Count(); }
  // The two halves, where several texts count as one.
  bool Write(const std::string& text);
  bool Count();
  // Ends the stream with `error`.
  bool Fail(absl::Status error);
  // The command's result: OK after count_max counts or a cancellation; the error of Print or Fail; the error of the
  // stream; UNAVAILABLE, marked as remote, if the server ended the stream.
  absl::Status End(const absl::Status& stream) const;

 private:
  bool IsComplete() const { return count_max_ != 0 && count_ >= count_max_; }

  CommandContext& context_;
  const uint64_t count_max_;
  uint64_t count_ = 0;
  absl::Status error_;
};

// Notes the devices of a stream that stop answering, and those that answer again. Not thread-safe. The context must
// outlive the object.
class DeviceStates {
 public:
  static constexpr absl::Duration kPeriod = absl::Seconds(1);
  static constexpr absl::Duration kBoardPeriod = absl::Seconds(30);

  // `devices` are names or patterns; empty: all. `interval` is the time between two messages of a device if it is
  // longer than the device's own.
  DeviceStates(std::vector<std::string> devices, CommandContext& context, absl::Duration interval = {})
      : devices_(std::move(devices)), context_(context), interval_(interval) {}

  // Takes the devices' present states as known, without notes.
  void Learn(TelemetryClient& client);
  // A message of the device was received; `age` is that of its snapshot.
  void Received(const std::string& device, absl::Duration age = {});
  // To be called every kPeriod. Asks the daemon if a device has been silent for three intervals, or at the first call,
  // and every kBoardPeriod where there are boards without counters, which never send anything;
  // notes each device that is stale, away or no longer listed, and that answers again. Requests that fail are ignored:
  // the stream has its own errors.
  void Check(TelemetryClient& client);
  // Whether all devices are boards without counters, as far as the daemon has been asked: they send no messages.
  bool AreBoardsAlone() const;

 private:
  struct Known {
    v1::Device::State state = v1::Device::STATE_UNSPECIFIED;
    bool is_board_alone = false;
    absl::Duration patience;
    absl::Time heard = absl::InfinitePast();
  };

  bool IsQuiet(const Known& device) const;
  // Returns false if the request failed.
  bool List(TelemetryClient& client, std::map<std::string, v1::Device>& listed) const;
  Known& Adopt(const v1::Device& device);
  void NoteChange(const std::string& name, const Known& before, const Known& now);

  const std::vector<std::string> devices_;
  CommandContext& context_;
  const absl::Duration interval_;
  bool is_begun_ = false;
  absl::Time listed_at_ = absl::InfinitePast();
  std::map<std::string, Known> known_;
};

// Decides whether and when a stream that has ended is opened again, and reports it: on standard error, or by `note`.
//   Reconnection reconnection(context);
//   for (;;) {
//     SIDEBAND_ASSIGN_OR_RETURN(const auto client, reconnection.Connect(context));
//     const absl::Status ended = Stream(*client, [&](const v1::Snapshot& news) { reconnection.Received(news); });
//     if (ended.ok() || !reconnection.Again(ended)) return ended;
//   }
//
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
    // After so many messages of a stream, the delay is the shortest again.
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

#endif  // SIDEBAND_CLIENT_CLI_STREAM_H_
