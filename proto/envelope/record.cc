// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/record.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "absl/status/status.h"
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

constexpr uint8_t kContentVersion = 1;
constexpr uint8_t kHasCoverage = 1 << 0;
constexpr size_t kFixedBytes = 32;
constexpr size_t kRowBytes = 12;  // without its name
constexpr size_t kEstimateBytes = 48;

// ByteWriter's vector would leave copies as it grows; this writes into memory of the final size.
class Cursor {
 public:
  explicit Cursor(std::span<uint8_t> out) : out_(out) {}
  void Little(uint64_t value, size_t width) {
    for (size_t i = 0; i < width; ++i) out_[at_++] = static_cast<uint8_t>(value >> (8 * i));
  }
  void Text(const std::string& text) {
    Little(text.size(), 1);
    at_ = static_cast<size_t>(std::ranges::copy(text, out_.begin() + static_cast<ptrdiff_t>(at_)).out - out_.begin());
  }

 private:
  std::span<uint8_t> out_;
  size_t at_ = 0;
};

size_t NumbersBytes(size_t rows, size_t events, bool has_coverage, size_t rotated) {
  return rows * (events * (has_coverage ? 16 : 8) + rotated * kEstimateBytes);
}

size_t EncodedBytes(const SealedCounts& counts) {
  size_t bytes = kFixedBytes + 2 * counts.rotated.size();
  for (const CountsRow& row : counts.rows) bytes += kRowBytes + row.name.size();
  return bytes + NumbersBytes(counts.rows.size(), counts.events, !counts.coverage.empty(), counts.rotated.size());
}

void WriteRow(const CountsRow& row, Cursor& out) {
  out.Little(row.context, 2);
  out.Little(row.state, 1);
  out.Little(row.slice, 1);
  out.Little(row.flags, 2);
  out.Little(row.generation, 4);
  out.Little(0, 1);
  out.Text(row.name);
}

CountsRow ReadRow(ByteReader& in) {
  CountsRow row;
  row.context = in.U16();
  row.state = in.U8();
  row.slice = in.U8();
  row.flags = in.U16();
  row.generation = in.U32();
  in.U8();
  row.name = in.String();
  return row;
}

void WriteEstimate(const CountsEstimate& estimate, Cursor& out) {
  out.Little(estimate.standard_error, 8);
  out.Little(estimate.lower, 8);
  out.Little(estimate.upper, 8);
  out.Little(estimate.time_enabled_ns, 8);
  out.Little(estimate.time_running_ns, 8);
  out.Little(estimate.method, 8);
}

CountsEstimate ReadEstimate(ByteReader& in) {
  CountsEstimate estimate;
  estimate.standard_error = in.U64();
  estimate.lower = in.U64();
  estimate.upper = in.U64();
  estimate.time_enabled_ns = in.U64();
  estimate.time_running_ns = in.U64();
  estimate.method = static_cast<uint8_t>(in.U64());
  return estimate;
}

absl::Status NotCounts() { return absl::InvalidArgumentError("the content is not counts of a VM"); }

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

SecretBytes EncodeCounts(const SealedCounts& counts) {
  SecretBytes bytes(EncodedBytes(counts));
  Cursor out(bytes);
  out.Little(kContentVersion, 1);
  out.Little(counts.coverage.empty() ? 0 : kHasCoverage, 1);
  out.Little(counts.rows.size(), 2);
  out.Little(counts.events, 2);
  out.Little(counts.rotated.size(), 2);
  out.Little(counts.snapshot_id, 4);
  out.Little(counts.trigger_id, 4);
  out.Little(counts.host_time_ns, 8);
  out.Little(0, 8);
  for (const uint16_t event : counts.rotated) out.Little(event, 2);
  for (const CountsRow& row : counts.rows) WriteRow(row, out);
  for (const uint64_t count : counts.counts) out.Little(count, 8);
  for (const double coverage : counts.coverage) out.Little(std::bit_cast<uint64_t>(coverage), 8);
  for (const CountsEstimate& estimate : counts.estimates) WriteEstimate(estimate, out);
  return bytes;
}

absl::StatusOr<SealedCounts> DecodeCounts(ByteSpan content) {
  ByteReader in(content);
  if (in.U8() != kContentVersion) return NotCounts();
  const uint8_t parts = in.U8();
  const size_t rows = in.U16();
  SealedCounts counts{.events = in.U16()};
  const size_t rotated = in.U16();
  counts.snapshot_id = in.U32();
  counts.trigger_id = in.U32();
  counts.host_time_ns = in.U64();
  in.U64();  // reserved
  for (size_t i = 0; i < rotated && in.ok(); ++i) {
    counts.rotated.push_back(in.U16());
    if (counts.rotated.back() >= counts.events) return NotCounts();
  }
  for (size_t i = 0; i < rows && in.ok(); ++i) counts.rows.push_back(ReadRow(in));
  const bool has_coverage = (parts & kHasCoverage) != 0;
  // Checked before memory is allocated for the numbers.
  if (!in.ok() || parts > kHasCoverage || in.remaining() != NumbersBytes(rows, counts.events, has_coverage, rotated)) {
    return NotCounts();
  }
  counts.counts.resize(rows * counts.events);
  for (uint64_t& count : counts.counts) count = in.U64();
  counts.coverage.resize(has_coverage ? counts.counts.size() : 0);
  for (double& coverage : counts.coverage) coverage = std::bit_cast<double>(in.U64());
  counts.estimates.resize(rows * rotated);
  for (CountsEstimate& estimate : counts.estimates) estimate = ReadEstimate(in);
  return counts;
}

}  // namespace sideband::envelope
