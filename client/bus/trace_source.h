// SPDX-License-Identifier: Apache-2.0
//
// The input of a trace: a monitored bus, or a capture file.
#ifndef SIDEBAND_CLIENT_BUS_TRACE_SOURCE_H_
#define SIDEBAND_CLIENT_BUS_TRACE_SOURCE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "proto/smbus/bus_frame.h"
#include "proto/smbus/capture_file.h"

namespace sideband::client {

// Not thread-safe.
class TraceSource {
 public:
  virtual ~TraceSource() = default;
  // The next event; nullopt at the end. An error ends the source, too.
  virtual absl::StatusOr<std::optional<smbus::MonitorEvent>> Next() = 0;
  // The instant that the records' times count from, in microseconds since 1970; 0: unknown.
  virtual uint64_t host_time_us() const = 0;
};

// A capture file, to its end.
class CaptureSource final : public TraceSource {
 public:
  explicit CaptureSource(std::unique_ptr<smbus::CaptureReader> reader) : reader_(std::move(reader)) {}
  absl::StatusOr<std::optional<smbus::MonitorEvent>> Next() override { return reader_->Next(); }
  uint64_t host_time_us() const override { return reader_->host_time_us(); }

 private:
  const std::unique_ptr<smbus::CaptureReader> reader_;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_TRACE_SOURCE_H_
