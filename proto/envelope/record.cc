// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/record.h"

#include <algorithm>
#include <array>
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

struct RecordKind {
  uint8_t version, suite;
};

absl::StatusOr<RecordKind> ReadKind(ByteReader& in) {
  const ByteSpan magic = in.Raw(sizeof(kRecordMagic));
  if (!std::ranges::equal(magic, kRecordMagic)) return absl::InvalidArgumentError("not a sealed record");
  const uint8_t version = in.U8();
  if (version != kRecordVersion1 && version != kRecordVersion2)
    return absl::InvalidArgumentError("sealed record of an unknown version");
  const uint8_t suite = in.U8();
  if (suite != kSuiteStatic && suite != kSuiteHpke)
    return absl::InvalidArgumentError("sealed record of an unknown suite");
  if (suite == kSuiteHpke && version != kRecordVersion2)
    return absl::InvalidArgumentError("sealed record of an exchange without its nonce");
  return RecordKind{version, suite};
}

GuestNonce ReadNonce(ByteReader& in) {
  GuestNonce nonce{};
  std::ranges::copy(in.Raw(nonce.size()), nonce.begin());
  return nonce;
}

RecordHeader ReadFields(ByteReader& in, const RecordKind& kind) {
  RecordHeader header{.suite = kind.suite};
  header.scope = in.U16();
  header.device = ReadUuid(in);
  header.boot_id = in.U64();
  header.vm = ReadUuid(in);
  header.generation = in.U32();
  header.padded_length = in.U32();
  header.epoch = in.U64();
  header.sequence = in.U64();
  header.reference_time_ns = in.U64();
  if (kind.version == kRecordVersion2) header.guest_nonce = ReadNonce(in);
  return header;
}

bool IsPaddedLength(uint32_t length, uint8_t suite) {
  return length > 0 && length <= kPaddedLengthMax && length % PaddingUnitOf(suite) == 0;
}

constexpr std::array<uint8_t, 8> kMagic = {'S', 'B', 'G', 'S', 'E', 'A', 'L', '1'};
constexpr size_t kAlignment = 8;

absl::Status NotSealedView() { return absl::InvalidArgumentError("the file is not a guest view of sealed records"); }

}  // namespace

Bytes EncodeHeader(const RecordHeader& header) {
  // In one piece of memory: each record has a header.
  Bytes bytes(header.bytes());
  auto at = bytes.begin();
  const auto raw = [&at](ByteSpan part) { at = std::ranges::copy(part, at).out; };
  const auto little = [&at](uint64_t value, int width) {
    for (int byte = 0; byte < width; ++byte) *at++ = static_cast<uint8_t>(value >> 8 * byte);
  };
  raw(kRecordMagic);
  little(header.version(), 1);
  little(header.suite, 1);
  little(header.scope, 2);
  raw(header.device.bytes);
  little(header.boot_id, 8);
  raw(header.vm.bytes);
  little(header.generation, 4);
  little(header.padded_length, 4);
  little(header.epoch, 8);
  little(header.sequence, 8);
  little(header.reference_time_ns, 8);
  if (header.guest_nonce.has_value()) raw(*header.guest_nonce);
  return bytes;
}

absl::StatusOr<RecordView> ParseRecord(ByteSpan record) {
  ByteReader in(record);
  // The kind is read first: the version determines the layout of the rest.
  SIDEBAND_ASSIGN_OR_RETURN(const RecordKind kind, ReadKind(in));
  // Fields beyond the end read as zeros; ok() tells below.
  RecordView view{.header = ReadFields(in, kind)};
  if (!in.ok()) return absl::InvalidArgumentError("sealed record shorter than its header");
  view.header_bytes = record.first(view.header.bytes());
  // The header is not authenticated yet, so its length is checked before it is used.
  if (!IsPaddedLength(view.header.padded_length, kind.suite))
    return absl::InvalidArgumentError("sealed record with a bad padded length");
  view.ciphertext = in.Raw(view.header.padded_length);
  view.tag = in.Raw(kTagBytes);
  if (!in.ok() || in.remaining() != 0)
    return absl::InvalidArgumentError("sealed record of another size than its header states");
  return view;
}

absl::StatusOr<uint32_t> PaddedLengthFor(size_t content_bytes, uint8_t suite) {
  if (content_bytes > kContentBytesMax) {
    return absl::OutOfRangeError(
        absl::StrCat("content of ", content_bytes, " bytes is more than a record holds (", kContentBytesMax, ")"));
  }
  const size_t unit = PaddingUnitOf(suite);
  return static_cast<uint32_t>((content_bytes + kContentLengthBytes + unit - 1) / unit * unit);
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
