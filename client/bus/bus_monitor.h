// SPDX-License-Identifier: Apache-2.0
//
// Monitors the transactions of a virtual bus until a cancellation (proto/smbus/monitor_frame.h).
//   SIDEBAND_ASSIGN_OR_RETURN(const auto monitor, BusMonitor::Connect("gpu0.sock", cancellation, absl::Now));
//   SIDEBAND_ASSIGN_OR_RETURN(const auto event, monitor->Next());   // none after the cancellation
#ifndef SIDEBAND_CLIENT_BUS_BUS_MONITOR_H_
#define SIDEBAND_CLIENT_BUS_BUS_MONITOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/bus/trace_source.h"
#include "client/lib/cancellation.h"
#include "proto/base/bytes.h"
#include "proto/base/descriptor.h"

namespace sideband::client {

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

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_BUS_MONITOR_H_
