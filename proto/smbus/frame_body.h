// SPDX-License-Identifier: Apache-2.0
//
// The common part of all virtual bus frames: length, version and kind. For the codecs of this folder.
//   ByteWriter out = BeginFrame(FrameKind::kLoss);
//   out.U64(transactions);
//   const Bytes frame = EndFrame(std::move(out));
//
//   ByteReader in(body);
//   SIDEBAND_RETURN_IF_ERROR(CheckPreamble(in, FrameKind::kLoss));
//   const uint64_t lost = in.U64();
//   return CheckEnd(in);
#ifndef SIDEBAND_PROTO_SMBUS_FRAME_BODY_H_
#define SIDEBAND_PROTO_SMBUS_FRAME_BODY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/bytes.h"

namespace sideband::smbus {

// The numbers are part of the protocol: below 0x80 from a controller, above from the bus.
enum class FrameKind : uint8_t {
  kTransfer = 0x01,
  kMonitor = 0x02,
  kResult = 0x81,
  kMonitorStart = 0x82,
  kRecord = 0x83,
  kLoss = 0x84,
};

// BeginFrame writes a frame up to its kind; EndFrame sets the length and returns the frame.
ByteWriter BeginFrame(FrameKind kind);
Bytes EndFrame(ByteWriter out);

// INVALID_ARGUMENT with the message "virtual bus frame: what".
absl::Status MalformedFrame(absl::string_view what);
// Checks the version and kind of a body.
absl::Status CheckPreamble(ByteReader& in, FrameKind kind);
// Checks that no bytes were missing and none are left.
absl::Status CheckEnd(const ByteReader& in);

}  // namespace sideband::smbus

#endif  // SIDEBAND_PROTO_SMBUS_FRAME_BODY_H_
