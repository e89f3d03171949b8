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
    return absl::InvalidArgumentError("padded length is invalid, or too small for the content");
  }
  return absl::OkStatus();
}

// Content length, content, zero padding.
SecretBytes PaddedText(const RecordHeader& header, ByteSpan content) {
  SecretBytes text(header.padded_length);
  ByteWriter length;
  length.U32(static_cast<uint32_t>(content.size()));
  std::ranges::copy(content, std::ranges::copy(length.written(), text.begin()).out);
  return text;
}

}  // namespace

absl::StatusOr<Bytes> SealRecord(const SessionKeys& keys, const RecordHeader& header, ByteSpan content) {
  SIDEBAND_RETURN_IF_ERROR(CheckHeader(keys, header, content.size()));
  Bytes record = EncodeHeader(header);
  SecretBytes text = PaddedText(header, content);
  std::array<uint8_t, kAeadTagBytes> tag;
  SIDEBAND_RETURN_IF_ERROR(AeadSeal(keys.key(), keys.NonceFor(header.sequence), record, text, tag));
  record.reserve(record.size() + text.size() + tag.size());
  record.insert(record.end(), text.begin(), text.end());
  record.insert(record.end(), tag.begin(), tag.end());
  return record;
}

absl::StatusOr<SecretBytes> OpenRecord(const SessionKeys& keys, const RecordView& record) {
  // The status is the same as for a wrong tag.
  if (KeyScope::Of(record.header) != keys.scope()) return absl::InvalidArgumentError("not sealed with this key");
  SecretBytes text(record.ciphertext.begin(), record.ciphertext.end());
  SIDEBAND_RETURN_IF_ERROR(AeadOpen(keys.key(), keys.NonceFor(record.header.sequence), record.header_bytes, text,
                                    record.tag.first<kAeadTagBytes>()));
  SIDEBAND_ASSIGN_OR_RETURN(const ByteSpan content, ContentOf(text));
  return SecretBytes(content.begin(), content.end());
}

}  // namespace sideband::envelope
