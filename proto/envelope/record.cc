// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/record.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::envelope {
namespace {

// Offsets of the header's fields; the assertions below pin them to the layout of README.md.
constexpr size_t kVersionAt = sizeof(kRecordMagic);
constexpr size_t kSuiteAt = kVersionAt + 1;
constexpr size_t kScopeAt = kSuiteAt + 1;
constexpr size_t kDeviceAt = kScopeAt + 2;
constexpr size_t kBootIdAt = kDeviceAt + 16;
constexpr size_t kVmAt = kBootIdAt + 8;
constexpr size_t kGenerationAt = kVmAt + 16;
constexpr size_t kPaddedLengthAt = kGenerationAt + 4;
constexpr size_t kEpochAt = kPaddedLengthAt + 4;
constexpr size_t kSequenceAt = kEpochAt + 8;
constexpr size_t kReferenceTimeAt = kSequenceAt + 8;
static_assert(kVersionAt == 4 && kSuiteAt == 5 && kScopeAt == 6 && kDeviceAt == 8 && kBootIdAt == 24 && kVmAt == 32);
static_assert(kGenerationAt == 48 && kPaddedLengthAt == 52 && kEpochAt == 56 && kSequenceAt == 64);
static_assert(kReferenceTimeAt == 72 && kReferenceTimeAt + 8 == kHeaderBytes);

Uuid ReadUuid(ByteReader& in) {
  Uuid uuid;
  const ByteSpan bytes = in.Raw(uuid.bytes.size());
  std::copy(bytes.begin(), bytes.end(), uuid.bytes.begin());
  return uuid;
}

// Reads magic, version and suite; returns the version.
absl::StatusOr<uint8_t> ReadKind(ByteReader& in) {
  const ByteSpan magic = in.Raw(sizeof(kRecordMagic));
  if (!std::ranges::equal(magic, kRecordMagic)) return absl::InvalidArgumentError("not a sealed record");
  const uint8_t version = in.U8();
  if (version != kRecordVersion1 && version != kRecordVersion2)
    return absl::InvalidArgumentError("sealed record of an unknown version");
  if (in.U8() != kSuiteAes256GcmHkdfSha256) return absl::InvalidArgumentError("sealed record of an unknown suite");
  return version;
}

GuestNonce ReadNonce(ByteReader& in) {
  GuestNonce nonce{};
  std::ranges::copy(in.Raw(nonce.size()), nonce.begin());
  return nonce;
}

RecordHeader ReadFields(ByteReader& in, uint8_t version) {
  RecordHeader header;
  header.scope = in.U16();
  header.device = ReadUuid(in);
  header.boot_id = in.U64();
  header.vm = ReadUuid(in);
  header.generation = in.U32();
  header.padded_length = in.U32();
  header.epoch = in.U64();
  header.sequence = in.U64();
  header.reference_time_ns = in.U64();
  if (version == kRecordVersion2) header.guest_nonce = ReadNonce(in);
  return header;
}

bool IsPaddedLength(uint32_t length) { return length > 0 && length <= kPaddedLengthMax && length % kPaddingUnit == 0; }

}  // namespace

Bytes EncodeHeader(const RecordHeader& header) {
  ByteWriter out;
  out.Raw(kRecordMagic);
  out.U8(header.version());
  out.U8(kSuiteAes256GcmHkdfSha256);
  out.U16(header.scope);
  out.Raw(header.device.bytes);
  out.U64(header.boot_id);
  out.Raw(header.vm.bytes);
  out.U32(header.generation);
  out.U32(header.padded_length);
  out.U64(header.epoch);
  out.U64(header.sequence);
  out.U64(header.reference_time_ns);
  if (header.guest_nonce.has_value()) out.Raw(*header.guest_nonce);
  return std::move(out).Take();
}

absl::StatusOr<RecordView> ParseRecord(ByteSpan record) {
  ByteReader in(record);
  // The kind is read first: the version determines the layout of the rest.
  SIDEBAND_ASSIGN_OR_RETURN(const uint8_t version, ReadKind(in));
  // Fields beyond the end read as zeros; ok() tells below.
  RecordView view{.header = ReadFields(in, version)};
  if (!in.ok()) return absl::InvalidArgumentError("sealed record shorter than its header");
  view.header_bytes = record.first(view.header.bytes());
  // The header is not authenticated yet, so its length is checked before it is used.
  if (!IsPaddedLength(view.header.padded_length))
    return absl::InvalidArgumentError("sealed record with a bad padded length");
  view.ciphertext = in.Raw(view.header.padded_length);
  view.tag = in.Raw(kTagBytes);
  if (!in.ok() || in.remaining() != 0)
    return absl::InvalidArgumentError("sealed record of another size than its header states");
  return view;
}

absl::StatusOr<uint32_t> PaddedLengthFor(size_t content_bytes) {
  if (content_bytes > kContentBytesMax) {
    return absl::OutOfRangeError(
        absl::StrCat("content of ", content_bytes, " bytes is more than a record holds (", kContentBytesMax, ")"));
  }
  const size_t pages = (content_bytes + kContentLengthBytes + kPaddingUnit - 1) / kPaddingUnit;
  return static_cast<uint32_t>(pages * kPaddingUnit);
}

absl::StatusOr<ByteSpan> ContentOf(ByteSpan padded_text) {
  ByteReader in(padded_text);
  const ByteSpan content = in.Raw(in.U32());
  const ByteSpan padding = in.Raw(in.remaining());
  uint8_t seen = 0;  // no early exit: the running time does not depend on the padding
  for (const uint8_t byte : padding) seen |= byte;
  if (!in.ok() || seen != 0) return absl::InvalidArgumentError("sealed content is not padded as it must be");
  return content;
}

}  // namespace sideband::envelope
