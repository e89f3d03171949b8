// SPDX-License-Identifier: Apache-2.0
//
// One run of `sideband bus trace`: from a source to the output.
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
  std::optional<uint8_t> address;  // only transactions with it
  uint64_t count_max = 0;          // shown transactions; 0: no end
  bool json = false;
  bool host_time = false;
};

// Until the source ends, or count_max. What is shown is also appended to `writer`, unless that is null.
// FAILED_PRECONDITION where host time is asked for and the source does not know it; else the source's, the output's or
// the writer's error.
absl::Status RunTrace(TraceSource& source, const TraceOptions& options, smbus::CaptureWriter* writer, Output& out);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_TRACE_RUN_H_
