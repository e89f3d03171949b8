// SPDX-License-Identifier: Apache-2.0
//
// Parts of the commands that print streams: the option of their interval, their output and end, and the devices that
// stop answering. The stream itself is silent then.
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
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
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

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_STREAM_H_
