// SPDX-License-Identifier: Apache-2.0
#include "proto/smbus/bus_frame.h"

#include <utility>

#include "proto/base/status_macros.h"
#include "proto/smbus/frame_body.h"

namespace sideband::smbus {
namespace {

constexpr uint8_t kFlagRead = 1 << 0;
constexpr uint8_t kFlagBlock = 1 << 1;

absl::StatusOr<Message> DecodeMessage(ByteReader& in) {
  Message message;
  message.address = in.U8();
  const uint8_t flags = in.U8();
  const uint16_t size = in.U16();
  if (message.address > 0x7F) return MalformedFrame("address above 7 bits");
  // A block write does not exist in the protocol: the count is part of the written bytes.
  if ((flags & ~(kFlagRead | kFlagBlock)) != 0 || flags == kFlagBlock) return MalformedFrame("unknown flags");
  if (size > kMessageBytesMax) return MalformedFrame("message too long");
  message.read = (flags & kFlagRead) != 0;
  message.block = (flags & kFlagBlock) != 0;
  if (message.read) {
    message.read_size = size;
  } else {
    const ByteSpan bytes = in.Raw(size);
    message.write_bytes.assign(bytes.begin(), bytes.end());
  }
  return message;
}

}  // namespace

Bytes EncodeTransfer(const Transfer& transfer) {
  ByteWriter out = BeginFrame(FrameKind::kTransfer);
  out.U16(static_cast<uint16_t>(transfer.messages.size()));
  for (const Message& message : transfer.messages) {
    out.U8(message.address);
    out.U8(static_cast<uint8_t>((message.read ? kFlagRead : 0) | (message.block ? kFlagBlock : 0)));
    out.U16(message.read ? message.read_size : static_cast<uint16_t>(message.write_bytes.size()));
    out.Raw(message.write_bytes);
  }
  return EndFrame(std::move(out));
}

Bytes EncodeResult(const TransferResult& result) {
  ByteWriter out = BeginFrame(FrameKind::kResult);
  out.U8(static_cast<uint8_t>(result.outcome));
  out.U32(result.stretch_us);
  out.U16(static_cast<uint16_t>(result.read.size()));
  for (const Bytes& read : result.read) {
    out.U16(static_cast<uint16_t>(read.size()));
    out.Raw(read);
  }
  return EndFrame(std::move(out));
}

absl::StatusOr<size_t> FrameBodySize(ByteSpan header, size_t size_max) {
  ByteReader in(header);
  const size_t size = in.U32();
  if (!in.ok()) return MalformedFrame("truncated header");
  if (size > size_max) return MalformedFrame("too long");
  return size;
}

absl::StatusOr<Transfer> DecodeTransfer(ByteSpan body) {
  ByteReader in(body);
  SIDEBAND_RETURN_IF_ERROR(CheckPreamble(in, FrameKind::kTransfer));
  const size_t count = in.U16();
  if (count == 0 || count > kMessagesMax) return MalformedFrame("number of messages out of range");
  Transfer transfer;
  // The count is untrusted: the loop also ends with the input.
  for (size_t i = 0; i < count && in.ok(); ++i) {
    SIDEBAND_ASSIGN_OR_RETURN(transfer.messages.emplace_back(), DecodeMessage(in));
  }
  SIDEBAND_RETURN_IF_ERROR(CheckEnd(in));
  return transfer;
}

absl::StatusOr<TransferResult> DecodeResult(ByteSpan body) {
  ByteReader in(body);
  SIDEBAND_RETURN_IF_ERROR(CheckPreamble(in, FrameKind::kResult));
  const uint8_t outcome = in.U8();
  if (outcome > kOutcomeMax) return MalformedFrame("unknown outcome");
  TransferResult result{.outcome = static_cast<Outcome>(outcome), .read = {}, .stretch_us = in.U32()};
  const size_t count = in.U16();
  if (count > kMessagesMax) return MalformedFrame("number of messages out of range");
  for (size_t i = 0; i < count && in.ok(); ++i) {
    const ByteSpan bytes = in.Raw(in.U16());
    result.read.emplace_back(bytes.begin(), bytes.end());
  }
  SIDEBAND_RETURN_IF_ERROR(CheckEnd(in));
  return result;
}

}  // namespace sideband::smbus
