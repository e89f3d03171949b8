// SPDX-License-Identifier: Apache-2.0
//
// The virtual bus on a Unix stream socket: a controller sends a frame with a whole transaction and receives a frame
// with its result. Frames of several controllers are served one at a time, in the order of their arrival, which models
// the bus's arbitration. Layout and a worked example: README.md.
//   SIDEBAND_RETURN_IF_ERROR(Send(fd, EncodeTransfer(transfer)));
//   SIDEBAND_ASSIGN_OR_RETURN(const Bytes header, Receive(fd, kFrameHeaderBytes));
//   SIDEBAND_ASSIGN_OR_RETURN(const size_t size, FrameBodySize(header));
//   SIDEBAND_ASSIGN_OR_RETURN(const Bytes body, Receive(fd, size));
//   SIDEBAND_ASSIGN_OR_RETURN(const TransferResult result, DecodeResult(body));
// Monitoring clients send another frame: monitor_frame.h.
#ifndef SIDEBAND_PROTO_SMBUS_BUS_FRAME_H_
#define SIDEBAND_PROTO_SMBUS_BUS_FRAME_H_

#include "absl/status/statusor.h"
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

}  // namespace sideband::smbus

#endif  // SIDEBAND_PROTO_SMBUS_BUS_FRAME_H_
