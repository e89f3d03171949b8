// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/sealed_view.h"

#include <algorithm>
#include <array>

namespace sideband::envelope {
namespace {

constexpr std::array<uint8_t, 8> kMagic = {'S', 'B', 'G', 'S', 'E', 'A', 'L', '1'};
constexpr size_t kAlignment = 8;

absl::Status NotSealedView() { return absl::InvalidArgumentError("the file is not a guest view of sealed records"); }

}  // namespace

Bytes EncodeSealedView(const std::vector<ByteSpan>& records) {
  ByteWriter out;
  out.Raw(kMagic);
  out.U32(static_cast<uint32_t>(records.size()));
  for (const ByteSpan record : records) {
    out.U32(static_cast<uint32_t>(record.size()));
    out.Raw(record);
  }
  out.U32(Crc32c(out.written()));
  Bytes file = std::move(out).Take();
  file.resize((file.size() + kAlignment - 1) / kAlignment * kAlignment);
  return file;
}

absl::StatusOr<std::vector<ByteSpan>> DecodeSealedView(ByteSpan file) {
  ByteReader in(file);
  const bool is_view = std::ranges::equal(in.Raw(kMagic.size()), kMagic);
  const uint32_t count = in.U32();
  if (!is_view || !in.ok() || count > kSealedViewRecordsMax) return NotSealedView();
  std::vector<ByteSpan> records;
  for (uint32_t i = 0; i < count && in.ok(); ++i) records.push_back(in.Raw(in.U32()));
  const size_t size = file.size() - in.remaining();
  const uint32_t crc = in.U32();
  if (!in.ok() || crc != Crc32c(file.first(size))) return NotSealedView();
  return records;
}

}  // namespace sideband::envelope
