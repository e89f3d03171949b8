// SPDX-License-Identifier: Apache-2.0
//
// What all frames of the virtual bus have in common: a length, a version and a kind. For the codecs of this folder.
//   ByteWriter out = BeginFrame(FrameKind::kTransfer);         ByteReader in(body);
//   out.U16(count);                                            SIDEBAND_RETURN_IF_ERROR(CheckPreamble(in, kind));
//   return EndFrame(std::move(out));                           …  return CheckEnd(in);
#ifndef SIDEBAND_PROTO_SMBUS_FRAME_BODY_H_
#define SIDEBAND_PROTO_SMBUS_FRAME_BODY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/bytes.h"

namespace sideband::smbus {

// The numbers are on the wire: from a controller below 0x80, from the bus above.
enum class FrameKind : uint8_t {
  kTransfer = 0x01,
  kMonitor = 0x02,
  kResult = 0x81,
  kMonitorStart = 0x82,
  kRecord = 0x83,
  kLoss = 0x84,
};

// A frame as far as its kind; its length is put in by EndFrame, which returns it whole.
ByteWriter BeginFrame(FrameKind kind);
Bytes EndFrame(ByteWriter out);

// INVALID_ARGUMENT "virtual bus frame: what".
absl::Status MalformedFrame(absl::string_view what);
// Version and kind of a body.
absl::Status CheckPreamble(ByteReader& in, FrameKind kind);
// Nothing was missing, and nothing is left.
absl::Status CheckEnd(const ByteReader& in);

}  // namespace sideband::smbus

#endif  // SIDEBAND_PROTO_SMBUS_FRAME_BODY_H_
