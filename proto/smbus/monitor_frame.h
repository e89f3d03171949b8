// SPDX-License-Identifier: Apache-2.0
//
// Watching a virtual bus: a client that sends a monitor request is answered with the time, and from then on is sent a
// copy of each transaction of the others with its result. It sends nothing more itself. The bus does not wait for
// monitors: what one does not read in time is lost to it, and it is told how much. Layout and example: README.md.
//   Send(fd, EncodeMonitorRequest());
//   … the body of the first frame: DecodeMonitorStart(body), of all others: DecodeMonitorEvent(body) …
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

// A transaction that has happened.
struct BusRecord {
  uint64_t time_us = 0;  // its START, in microseconds since whoever recorded it started
  Transfer transfer;
  std::optional<TransferResult> result;  // none where the bus could not be used
  bool operator==(const BusRecord&) const = default;
};

// So many transactions were not recorded here.
struct BusLoss {
  uint64_t transactions = 0;
  bool operator==(const BusLoss&) const = default;
};

using MonitorEvent = std::variant<BusRecord, BusLoss>;

// No body that a monitor is sent is longer: a transfer and a result, each with its frame.
inline constexpr size_t kMonitorBodyBytesMax = 16 + 2 * (kFrameHeaderBytes + kFrameBodyBytesMax);

// Whole frames, headers included.
Bytes EncodeMonitorRequest();
// `now_us` is the time on the clock of the records to come.
Bytes EncodeMonitorStart(uint64_t now_us);
Bytes EncodeMonitorEvent(const MonitorEvent& event);

// Bodies come from the peer: anything but a well-formed one is INVALID_ARGUMENT.
bool IsMonitorRequest(ByteSpan body);
absl::StatusOr<uint64_t> DecodeMonitorStart(ByteSpan body);
absl::StatusOr<MonitorEvent> DecodeMonitorEvent(ByteSpan body);

}  // namespace sideband::smbus

#endif  // SIDEBAND_PROTO_SMBUS_MONITOR_FRAME_H_
