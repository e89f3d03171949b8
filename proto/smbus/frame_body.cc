// SPDX-License-Identifier: Apache-2.0
#include "proto/smbus/frame_body.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace sideband::smbus {
namespace {

constexpr uint8_t kVersion = 1;

}  // namespace

ByteWriter BeginFrame(FrameKind kind) {
  ByteWriter out;
  out.U32(0);  // patched by EndFrame
  out.U8(kVersion);
  out.U8(static_cast<uint8_t>(kind));
  return out;
}

Bytes EndFrame(ByteWriter out) {
  out.PatchU32(0, static_cast<uint32_t>(out.size() - sizeof(uint32_t)));
  return std::move(out).Take();
}

absl::Status MalformedFrame(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("virtual bus frame: ", what));
}

absl::Status CheckPreamble(ByteReader& in, FrameKind kind) {
  if (in.U8() != kVersion) return MalformedFrame("unknown version");
  if (in.U8() != static_cast<uint8_t>(kind)) return MalformedFrame("unknown kind");
  return absl::OkStatus();
}

absl::Status CheckEnd(const ByteReader& in) {
  if (!in.ok()) return MalformedFrame("truncated");
  if (in.remaining() != 0) return MalformedFrame("bytes after the end");
  return absl::OkStatus();
}

}  // namespace sideband::smbus
