// SPDX-License-Identifier: Apache-2.0
#include "proto/registers/guest_port.h"

namespace sideband::hpc {
namespace {

constexpr uint8_t kDone = 0;
constexpr uint8_t kNotRunning = 1;

}  // namespace

void AppendFrame(const PageAccess& access, ByteWriter& out) {
  out.U8(static_cast<uint8_t>(access.kind));
  out.U8(access.size);
  out.U16(access.offset);
  out.U64(access.value);
}

absl::StatusOr<PageAccess> DecodeFrame(ByteSpan frame) {
  ByteReader in(frame);
  const uint8_t op = in.U8();
  PageAccess access{.size = in.U8(), .offset = in.U16(), .value = in.U64()};
  if (op == static_cast<uint8_t>(AccessKind::kWrite)) {
    access.kind = AccessKind::kWrite;
  } else if (op != static_cast<uint8_t>(AccessKind::kRead)) {
    return absl::InvalidArgumentError("a frame with an unknown operation");
  }
  if (!in.ok() || !IsInPage(access)) return absl::InvalidArgumentError("a frame that is no access to the page");
  return access;
}

void AppendAnswer(std::optional<uint64_t> value, ByteWriter& out) {
  out.U8(value ? kDone : kNotRunning);
  out.U64(value.value_or(0));
}

absl::StatusOr<std::optional<uint64_t>> DecodeAnswer(ByteSpan answer) {
  ByteReader in(answer);
  const uint8_t status = in.U8();
  const uint64_t value = in.U64();
  if (!in.ok() || status > kNotRunning) return absl::InvalidArgumentError("an answer with an unknown status");
  return status == kDone ? std::optional(value) : std::nullopt;
}

}  // namespace sideband::hpc
