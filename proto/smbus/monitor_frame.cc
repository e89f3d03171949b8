// SPDX-License-Identifier: Apache-2.0
#include "proto/smbus/monitor_frame.h"

#include <utility>

#include "proto/base/status_macros.h"
#include "proto/smbus/frame_body.h"

namespace sideband::smbus {
namespace {

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

}  // namespace

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

}  // namespace sideband::smbus
