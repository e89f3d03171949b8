// SPDX-License-Identifier: Apache-2.0
#include "proto/smbus/bus_frame.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "proto/base/unix_socket.h"

namespace sideband::smbus {
namespace {

constexpr uint8_t kVersion = 1;

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

// Checks the version and kind of a body.
absl::Status CheckPreamble(ByteReader& in, FrameKind kind) {
  if (in.U8() != kVersion) return MalformedFrame("unknown version");
  if (in.U8() != static_cast<uint8_t>(kind)) return MalformedFrame("unknown kind");
  return absl::OkStatus();
}

// Checks that no bytes were missing and none are left.
absl::Status CheckEnd(const ByteReader& in) {
  if (!in.ok()) return MalformedFrame("truncated");
  if (in.remaining() != 0) return MalformedFrame("bytes after the end");
  return absl::OkStatus();
}

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

Bytes EncodeRecord(const BusRecord& record) {
  ByteWriter out = BeginFrame(FrameKind::kRecord);
  out.U64(record.time_us);
  out.Raw(EncodeTransfer(record.transfer));
  if (record.result.has_value()) {
    out.Raw(EncodeResult(*record.result));
  } else {
    // Length 0: no result.
    out.U32(0);
  }
  return EndFrame(std::move(out));
}

Bytes EncodeLoss(const BusLoss& loss) {
  ByteWriter out = BeginFrame(FrameKind::kLoss);
  out.U64(loss.transactions);
  return EndFrame(std::move(out));
}

absl::StatusOr<MonitorEvent> DecodeRecord(ByteReader& in) {
  BusRecord record{.time_us = in.U64()};
  const ByteSpan transfer = in.Raw(in.U32());
  const ByteSpan result = in.Raw(in.U32());
  SIDEBAND_RETURN_IF_ERROR(CheckEnd(in));
  SIDEBAND_ASSIGN_OR_RETURN(record.transfer, DecodeTransfer(transfer));
  if (!result.empty()) {
    SIDEBAND_ASSIGN_OR_RETURN(record.result, DecodeResult(result));
  }
  return record;
}

absl::StatusOr<MonitorEvent> DecodeLoss(ByteReader& in) {
  const BusLoss loss{in.U64()};
  SIDEBAND_RETURN_IF_ERROR(CheckEnd(in));
  return loss;
}

bool IsKind(ByteSpan body, FrameKind kind) {
  ByteReader in(body);
  return CheckPreamble(in, kind).ok();
}

constexpr absl::string_view kKind = "bus";

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

Bytes EncodeMonitorRequest() { return EndFrame(BeginFrame(FrameKind::kMonitor)); }

Bytes EncodeMonitorStart(uint64_t now_us) {
  ByteWriter out = BeginFrame(FrameKind::kMonitorStart);
  out.U64(now_us);
  return EndFrame(std::move(out));
}

Bytes EncodeMonitorEvent(const MonitorEvent& event) {
  const auto* const record = std::get_if<BusRecord>(&event);
  return record != nullptr ? EncodeRecord(*record) : EncodeLoss(std::get<BusLoss>(event));
}

bool IsMonitorRequest(ByteSpan body) {
  ByteReader in(body);
  return CheckPreamble(in, FrameKind::kMonitor).ok() && CheckEnd(in).ok();
}

absl::StatusOr<uint64_t> DecodeMonitorStart(ByteSpan body) {
  ByteReader in(body);
  SIDEBAND_RETURN_IF_ERROR(CheckPreamble(in, FrameKind::kMonitorStart));
  const uint64_t now_us = in.U64();
  SIDEBAND_RETURN_IF_ERROR(CheckEnd(in));
  return now_us;
}

absl::StatusOr<MonitorEvent> DecodeMonitorEvent(ByteSpan body) {
  const bool is_loss = IsKind(body, FrameKind::kLoss);
  ByteReader in(body);
  SIDEBAND_RETURN_IF_ERROR(CheckPreamble(in, is_loss ? FrameKind::kLoss : FrameKind::kRecord));
  return is_loss ? DecodeLoss(in) : DecodeRecord(in);
}

absl::Status BusError(const std::string& path, int error) { return UnixSocketError(kKind, path, error); }

int ConnectToBus(const std::string& path) { return ConnectToUnixSocket(path); }

absl::StatusOr<TransferResult> ExchangeOnBus(int socket, const std::string& path, const Transfer& transfer,
                                             absl::Duration timeout) {
  UnixExchange exchange(socket, kKind, path, timeout);
  SIDEBAND_RETURN_IF_ERROR(exchange.Send(EncodeTransfer(transfer)));
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes header, exchange.Receive(kFrameHeaderBytes));
  SIDEBAND_ASSIGN_OR_RETURN(const size_t body_size, FrameBodySize(header));
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes body, exchange.Receive(body_size));
  return DecodeResult(body);
}

}  // namespace sideband::smbus
