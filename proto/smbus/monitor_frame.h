// SPDX-License-Identifier: Apache-2.0
//
// Monitoring of a virtual bus: a client sends a monitor request and receives the server's time, and then a copy of each
// transaction of other clients with its result. The client sends nothing more. The bus does not wait for monitors:
// transactions that a monitor does not read in time are dropped, and their number is reported to it. Layout and
// example: README.md.
//   SIDEBAND_RETURN_IF_ERROR(Send(fd, EncodeMonitorRequest()));
//   SIDEBAND_ASSIGN_OR_RETURN(const uint64_t now_us, DecodeMonitorStart(first_body));
//   SIDEBAND_ASSIGN_OR_RETURN(const MonitorEvent event, DecodeMonitorEvent(next_body));   // and all that follow
#ifndef SIDEBAND_PROTO_SMBUS_MONITOR_FRAME_H_
#define SIDEBAND_PROTO_SMBUS_MONITOR_FRAME_H_

#include <cstdint>
#include <optional>
#include <variant>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/smbus/bus_frame.h"
#include "proto/smbus/transfer.h"

namespace sideband::smbus {

// An observed transaction.
struct BusRecord {
  uint64_t time_us = 0;  // its START, in microseconds since the recorder started
  Transfer transfer;
  std::optional<TransferResult> result;  // nullopt if the bus could not be used
  bool operator==(const BusRecord&) const = default;
};

// The number of transactions that were not recorded at this point.
struct BusLoss {
  uint64_t transactions = 0;
  bool operator==(const BusLoss&) const = default;
};

using MonitorEvent = std::variant<BusRecord, BusLoss>;

// The maximum length of a body sent to a monitor: a transfer and a result, each with its frame header.
inline constexpr size_t kMonitorBodyBytesMax = 16 + 2 * (kFrameHeaderBytes + kFrameBodyBytesMax);

// Whole frames, headers included.
Bytes EncodeMonitorRequest();
// `now_us` is the current time on the clock of the records that follow.
Bytes EncodeMonitorStart(uint64_t now_us);
Bytes EncodeMonitorEvent(const MonitorEvent& event);

// Bodies come from an untrusted peer: INVALID_ARGUMENT, or false, unless they are well-formed.
bool IsMonitorRequest(ByteSpan body);
absl::StatusOr<uint64_t> DecodeMonitorStart(ByteSpan body);
absl::StatusOr<MonitorEvent> DecodeMonitorEvent(ByteSpan body);

}  // namespace sideband::smbus

#endif  // SIDEBAND_PROTO_SMBUS_MONITOR_FRAME_H_
