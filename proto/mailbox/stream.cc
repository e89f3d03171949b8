// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/stream.h"

#include <algorithm>
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

void BitWriter::Bits(uint64_t value, uint32_t width) {
  for (uint32_t done = 0; done < width;) {
    const uint32_t offset = size_ % 8;
    if (offset == 0) bytes_.push_back(0);
    const uint32_t taken = std::min(width - done, 8 - offset);
    const uint64_t part = value >> done & ((uint64_t{1} << taken) - 1);
    bytes_.back() |= static_cast<uint8_t>(part << offset);
    done += taken;
    size_ += taken;
  }
}

void BitWriter::Width(uint32_t width) {
  Bit(width != 0);
  if (width != 0) Bits(width - 1, 6);
}

void BitWriter::Number(uint64_t value) {
  const auto width = static_cast<uint32_t>(std::bit_width(value));
  Width(width);
  Bits(value, width);
}

uint64_t BitReader::Bits(uint32_t width) {
  // Beyond the end all bits are 0: a decoder reads on within its bounds and checks ok() once.
  if (remaining() < width) ok_ = false;
  if (!ok_) return 0;
  uint64_t value = 0;
  for (uint32_t done = 0; done < width;) {
    const uint32_t offset = at_ % 8;
    const uint32_t taken = std::min(width - done, 8 - offset);
    const uint64_t part = bytes_[at_ / 8] >> offset & ((1u << taken) - 1);
    value |= part << done;
    done += taken;
    at_ += taken;
  }
  return value;
}

uint32_t BitReader::Width() { return Bit() ? static_cast<uint32_t>(Bits(6)) + 1 : 0; }

bool BitReader::AtEnd() {
  const size_t filling = remaining();
  // Only zeros may fill the last byte, so that each content has one encoding.
  return filling < 8 && Bits(static_cast<uint32_t>(filling)) == 0 && ok_;
}

}  // namespace sideband::mailbox
