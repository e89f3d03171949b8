// SPDX-License-Identifier: Apache-2.0
//
// One run of `sideband bus trace`, from a source to the output.
#ifndef SIDEBAND_CLIENT_BUS_TRACE_RUN_H_
#define SIDEBAND_CLIENT_BUS_TRACE_RUN_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "client/bus/trace_source.h"
#include "client/cli/output.h"
#include "proto/smbus/capture_file.h"

namespace sideband::client {

struct TraceOptions {
  uint32_t bus_hz = 100'000;
  std::optional<uint8_t> address;  // only transactions with this address
  uint64_t count_max = 0;          // number of shown transactions; 0: unlimited
  bool json = false;
  bool host_time = false;
};

// Runs until the source ends or `count_max` is reached. Shown events are also appended to `writer`, unless it is null.
// FAILED_PRECONDITION if host time is requested and the source does not have it; else the error of the source, the
// output or the writer.
absl::Status RunTrace(TraceSource& source, const TraceOptions& options, smbus::CaptureWriter* writer, Output& out);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_TRACE_RUN_H_
