// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/seal.h"

#include <algorithm>
#include <array>
#include <span>

#include "proto/base/status_macros.h"
#include "proto/envelope/primitives.h"

namespace sideband::envelope {
namespace {

static_assert(kTagBytes == kAeadTagBytes);

absl::Status CheckHeader(const SessionKeys& keys, const RecordHeader& header, size_t content_bytes) {
  if (KeyScope::Of(header) != keys.scope()) return absl::InvalidArgumentError("header is not of the session's scope");
  SIDEBAND_ASSIGN_OR_RETURN(const uint32_t needed, PaddedLengthFor(content_bytes, header.suite));
  if (header.padded_length < needed || header.padded_length > kPaddedLengthMax ||
      header.padded_length % PaddingUnitOf(header.suite) != 0) {
    return absl::InvalidArgumentError("padded length is invalid, or too small for the content");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Bytes> SealRecord(const SessionKeys& keys, const RecordHeader& header, ByteSpan content) {
  SIDEBAND_RETURN_IF_ERROR(CheckHeader(keys, header, content.size()));
  const Bytes encoded = EncodeHeader(header);
  ByteWriter length;
  length.U32(static_cast<uint32_t>(content.size()));
  // Zeros are the padding.
  Bytes record(encoded.size() + header.padded_length + kAeadTagBytes);
  std::ranges::copy(encoded, record.begin());
  const std::span<uint8_t> text = std::span(record).subspan(encoded.size(), header.padded_length);
  SIDEBAND_RETURN_IF_ERROR(AeadSeal(keys.key(), keys.NonceFor(header.sequence), encoded,
                                    std::array<ByteSpan, 2>{length.written(), content}, text,
                                    std::span(record).last<kAeadTagBytes>()));
  return record;
}

}  // namespace sideband::envelope
