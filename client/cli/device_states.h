// SPDX-License-Identifier: Apache-2.0
//
// Reports the devices of a stream that stop answering, and those that answer again: the stream itself is silent then.
//   DeviceStates states({}, context);
//   const StreamTick tick{.period = DeviceStates::kPeriod, .action = [&] { return states.Check(client), true; }};
//   client.Subscribe(request, [&](const auto& response) {
//     states.Received(response.update().device());
//     return Print(response);
//   }, tick);
#ifndef SIDEBAND_CLIENT_CLI_DEVICE_STATES_H_
#define SIDEBAND_CLIENT_CLI_DEVICE_STATES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/cli/command.h"
#include "client/lib/telemetry_client.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

// Not thread-safe. The context must outlive the object.
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
  // Whether all devices are boards without counters, as far as the daemon has been asked: no message comes of them.
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

#endif  // SIDEBAND_CLIENT_CLI_DEVICE_STATES_H_
