// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/stream.h"

#include <utility>

namespace sideband::mailbox {
namespace {

bool IsStreamKind(uint8_t kind) {
  switch (static_cast<StreamKind>(kind)) {
    case StreamKind::kCatalog:
    case StreamKind::kSnapshot:
    case StreamKind::kPeek:
    case StreamKind::kTimeline:
    case StreamKind::kHulls:
    case StreamKind::kConfig:
    case StreamKind::kPlan:
    case StreamKind::kExchange:
      return true;
  }
  return false;
}

}  // namespace

Bytes EncodeStream(const StreamHeader& header, ByteSpan payload) {
  ByteWriter out;
  out.U32(kStreamMagic);
  out.U8(static_cast<uint8_t>(header.kind));
  out.U8(static_cast<uint8_t>(header.framing));
  out.U16(0);  // reserved
  out.U64(header.boot_id);
  out.U32(header.snapshot_id);
  out.U32(header.base_id);
  out.U32(static_cast<uint32_t>(payload.size()));
  out.Raw(payload);
  out.U32(Crc32c(out.written()));
  return std::move(out).Take();
}

absl::StatusOr<Stream> DecodeStream(ByteSpan bytes) {
  if (bytes.size() < kStreamHeaderBytes + kStreamCrcBytes) return absl::DataLossError("stream: truncated");
  const ByteSpan summed = bytes.first(bytes.size() - kStreamCrcBytes);
  // The CRC is checked first: after it, other errors are not caused by the bus.
  if (ByteReader(bytes.last(kStreamCrcBytes)).U32() != Crc32c(summed)) return absl::DataLossError("stream: wrong CRC");
  ByteReader in(summed);
  if (in.U32() != kStreamMagic) return absl::DataLossError("stream: wrong magic");
  const uint8_t kind = in.U8();
  const uint8_t framing = in.U8();
  if (!IsStreamKind(kind)) return absl::UnimplementedError("stream: unknown kind");
  if (framing < static_cast<uint8_t>(Framing::kPlain) || framing > static_cast<uint8_t>(Framing::kSections)) {
    return absl::UnimplementedError("stream: unknown framing");
  }
  in.U16();
  StreamHeader header{.kind = static_cast<StreamKind>(kind), .framing = static_cast<Framing>(framing)};
  header.boot_id = in.U64();
  header.snapshot_id = in.U32();
  header.base_id = in.U32();
  const uint32_t size = in.U32();
  if (size != in.remaining()) return absl::DataLossError("stream: length does not match");
  return Stream{header, in.Raw(size)};
}

}  // namespace sideband::mailbox
