// SPDX-License-Identifier: Apache-2.0
//
// `sideband bus`: inspects the traffic of a management bus.
#ifndef SIDEBAND_CLIENT_BUS_BUS_COMMAND_H_
#define SIDEBAND_CLIENT_BUS_BUS_COMMAND_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/bus/trace_run.h"
#include "client/cli/command.h"
#include "client/lib/cancellation.h"
#include "proto/base/bytes.h"
#include "proto/base/file.h"

namespace sideband::client {

// Monitors the transactions of a virtual bus until a cancellation (proto/smbus/bus_frame.h).
//
// Not thread-safe. The server is hostile.
class BusMonitor final : public TraceSource {
 public:
  using Now = std::function<absl::Time()>;
  // Timeout of each wait while the server answers the monitor request.
  static constexpr absl::Duration kPatience = absl::Seconds(5);

  // UNAVAILABLE if no server listens on `path`, or if the server cannot be monitored. DEADLINE_EXCEEDED if the server
  // does not answer. `cancellation` must outlive the monitor.
  static absl::StatusOr<std::unique_ptr<BusMonitor>> Connect(const std::string& path, Cancellation& cancellation,
                                                             const Now& now);
  BusMonitor(const BusMonitor&) = delete;
  BusMonitor& operator=(const BusMonitor&) = delete;

  // Blocks until the next event. UNAVAILABLE if the server closed the connection.
  absl::StatusOr<std::optional<smbus::MonitorEvent>> Next() override;
  uint64_t host_time_us() const override { return host_time_us_; }

 private:
  BusMonitor(std::string path, Descriptor socket, Descriptor cancelled, Cancellation& cancellation);

  absl::Status Start(const Now& now);
  absl::Status Error(absl::string_view what) const;
  // Blocks until the socket is readable. CANCELLED after the cancellation.
  absl::Status Await(absl::Duration patience);
  absl::StatusOr<Bytes> Receive(size_t size, absl::Duration patience);
  absl::StatusOr<Bytes> ReceiveFrame(absl::Duration patience);

  const std::string path_;
  const Descriptor socket_;
  const Descriptor cancelled_;  // an eventfd
  const Cancellation::Hook hook_;
  uint64_t host_time_us_ = 0;
};

// The clock rate of a bus in its command-line notation: 100k, 400k, 1M, or a number of Hz.
inline constexpr uint32_t kBusHzMin = 1'000;
inline constexpr uint32_t kBusHzMax = 10'000'000;

// INVALID_ARGUMENT for any other notation, and for rates outside the range.
absl::StatusOr<uint32_t> ParseBusSpeed(absl::string_view text);

std::unique_ptr<Command> NewBusCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_BUS_COMMAND_H_
