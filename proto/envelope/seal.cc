// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/seal.h"

#include <algorithm>
#include <span>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/envelope/aead.h"

namespace sideband::envelope {
namespace {

static_assert(kTagBytes == kAeadTagBytes);

absl::Status CheckHeader(const SessionKeys& keys, const RecordHeader& header, size_t content_bytes) {
  if (KeyScope::Of(header) != keys.scope()) return absl::InvalidArgumentError("header is not of the session's scope");
  SIDEBAND_ASSIGN_OR_RETURN(const uint32_t needed, PaddedLengthFor(content_bytes));
  if (header.padded_length < needed || header.padded_length > kPaddedLengthMax ||
      header.padded_length % kPaddingUnit != 0) {
    return absl::InvalidArgumentError("padded length is none, or too small for the content");
  }
  return absl::OkStatus();
}

// Header, content length, content, padding, and room for the tag: allocated once, so that encrypting in place leaves no
// plaintext behind.
Bytes PlaintextRecord(const RecordHeader& header, ByteSpan content) {
  Bytes record(kHeaderBytes + header.padded_length + kTagBytes);
  ByteWriter length;
  length.U32(static_cast<uint32_t>(content.size()));
  auto end = std::ranges::copy(EncodeHeader(header), record.begin()).out;
  end = std::ranges::copy(length.written(), end).out;
  std::ranges::copy(content, end);
  return record;
}

}  // namespace

absl::StatusOr<Bytes> SealRecord(const SessionKeys& keys, const RecordHeader& header, ByteSpan content) {
  SIDEBAND_RETURN_IF_ERROR(CheckHeader(keys, header, content.size()));
  Bytes record = PlaintextRecord(header, content);
  const std::span<uint8_t> all(record);
  SIDEBAND_RETURN_IF_ERROR(AeadSeal(keys.key(), keys.NonceFor(header.sequence), all.first(kHeaderBytes),
                                    all.subspan(kHeaderBytes, header.padded_length), all.last<kAeadTagBytes>()));
  return record;
}

absl::StatusOr<Bytes> OpenRecord(const SessionKeys& keys, const RecordView& record) {
  if (KeyScope::Of(record.header) != keys.scope()) return absl::InvalidArgumentError("not sealed with this key");
  Bytes text(record.ciphertext.begin(), record.ciphertext.end());
  const ScopedWipe wipe(text);
  SIDEBAND_RETURN_IF_ERROR(AeadOpen(keys.key(), keys.NonceFor(record.header.sequence), record.header_bytes, text,
                                    record.tag.first<kAeadTagBytes>()));
  SIDEBAND_ASSIGN_OR_RETURN(const ByteSpan content, ContentOf(text));
  return Bytes(content.begin(), content.end());
}

}  // namespace sideband::envelope
