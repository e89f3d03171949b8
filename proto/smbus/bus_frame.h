// SPDX-License-Identifier: Apache-2.0
//
// The virtual bus on a Unix stream socket: a controller sends a frame with a whole transaction and receives a frame
// with its result. Frames of several controllers are served one at a time, in the order of their arrival, which models
// the bus's arbitration. Layout and worked examples: README.md. A controller:
//   SIDEBAND_RETURN_IF_ERROR(Send(fd, EncodeTransfer(transfer)));
//   SIDEBAND_ASSIGN_OR_RETURN(const Bytes header, Receive(fd, kFrameHeaderBytes));
//   SIDEBAND_ASSIGN_OR_RETURN(const size_t size, FrameBodySize(header));
//   SIDEBAND_ASSIGN_OR_RETURN(const Bytes body, Receive(fd, size));
//   SIDEBAND_ASSIGN_OR_RETURN(const TransferResult result, DecodeResult(body));
//
// The controller's end in one call:
//   const int socket = ConnectToBus("/run/sideband/gpu0.sock");     // < 0: minus an errno
//   auto exchanged = ExchangeOnBus(socket, "/run/sideband/gpu0.sock", transfer, absl::Seconds(2));
//   if (!exchanged.ok()) close(socket);                             // what is still on its way has no receiver
//
// A monitor sends a request and receives the server's time, and then a copy of each transaction of other clients with
// its result. It sends nothing more. The bus does not wait for monitors: transactions that a monitor does not read in
// time are dropped, and their number is reported to it.
//   SIDEBAND_RETURN_IF_ERROR(Send(fd, EncodeMonitorRequest()));
//   SIDEBAND_ASSIGN_OR_RETURN(const uint64_t now_us, DecodeMonitorStart(first_body));
//   SIDEBAND_ASSIGN_OR_RETURN(const MonitorEvent event, DecodeMonitorEvent(next_body));   // and all that follow
#ifndef SIDEBAND_PROTO_SMBUS_BUS_FRAME_H_
#define SIDEBAND_PROTO_SMBUS_BUS_FRAME_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/base/bytes.h"
#include "proto/smbus/transfer.h"

namespace sideband::smbus {

// The body's length, u32.
inline constexpr size_t kFrameHeaderBytes = 4;
// The maximum length of a frame's body; longer frames are rejected before they are read.
inline constexpr size_t kFrameBodyBytesMax = 16 + kMessagesMax * (kMessageBytesMax + 8);

// A whole frame, header included.
Bytes EncodeTransfer(const Transfer& transfer);
Bytes EncodeResult(const TransferResult& result);

// The length of the body that follows this header; INVALID_ARGUMENT above `size_max`.
absl::StatusOr<size_t> FrameBodySize(ByteSpan header, size_t size_max = kFrameBodyBytesMax);
// The body of a whole frame.
inline ByteSpan FrameBody(ByteSpan frame) { return frame.subspan(kFrameHeaderBytes); }

// Bodies come from an untrusted peer: INVALID_ARGUMENT unless they are well-formed. A decoded transfer is within
// kMessagesMax and kMessageBytesMax, and its addresses have 7 bits.
absl::StatusOr<Transfer> DecodeTransfer(ByteSpan body);
absl::StatusOr<TransferResult> DecodeResult(ByteSpan body);

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

// Returns a new socket (close-on-exec, non-blocking) connected to the bus at `path`, or a negated errno: ENAMETOOLONG
// for a path too long for a socket, ENOENT and ECONNREFUSED if no server listens on it.
int ConnectToBus(const std::string& path);

// The file that programs lock (flock) while none of the others may use the bus at `path`: a socket cannot be locked.
inline std::string LockPathOf(const std::string& path) { return path + ".lock"; }

// Converts an errno of the bus at `path`: INVALID_ARGUMENT for ENAMETOOLONG, DEADLINE_EXCEEDED for EAGAIN (a connection
// that is not accepted), UNAVAILABLE for all others.
absl::Status BusError(const std::string& path, int error);

// Executes one transaction on a connected socket, blocking or not. `timeout` applies to the whole transaction, so that
// a peer cannot extend it by sending single bytes. DEADLINE_EXCEEDED after the timeout, UNAVAILABLE if the peer has
// closed the connection, INVALID_ARGUMENT for a malformed result frame; after each of these the socket must not be used
// again. The caller checks whether the result fits `transfer`. `path` is for messages. One exchange at a time.
absl::StatusOr<TransferResult> ExchangeOnBus(int socket, const std::string& path, const Transfer& transfer,
                                             absl::Duration timeout);

}  // namespace sideband::smbus

#endif  // SIDEBAND_PROTO_SMBUS_BUS_FRAME_H_
