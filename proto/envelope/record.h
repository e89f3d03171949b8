// SPDX-License-Identifier: Apache-2.0
//
// The layout of a sealed record (README.md has the bytes): a cleartext header, which is also the additional data of the
// encryption; the ciphertext; the tag. The padding is inside the ciphertext. A guest's view of its own counts is a file
// of such records. The content of suite 2 is the counts of one VM (README.md, "Content of suite 2").
//   SIDEBAND_ASSIGN_OR_RETURN(const RecordView record, ParseRecord(bytes));
//   if (record.header.vm != vm) return absl::DataLossError("a record of another VM");
//
//   SIDEBAND_ASSIGN_OR_RETURN(const SealedCounts counts, DecodeCounts(content));
//   for (size_t row = 0; row < counts.rows.size(); ++row) Use(counts.rows[row], counts.Counts(row));
// Parsed values are not yet authenticated; only OpenRecord (open.h) verifies that the key's holder wrote them.
#ifndef SIDEBAND_PROTO_ENVELOPE_RECORD_H_
#define SIDEBAND_PROTO_ENVELOPE_RECORD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"

namespace sideband::envelope {

inline constexpr uint8_t kRecordMagic[4] = {'S', 'B', 'S', 'R'};
// Version 2 has a guest nonce. Records for requests without a nonce have version 1.
inline constexpr uint8_t kRecordVersion1 = 1;
inline constexpr uint8_t kRecordVersion2 = 2;
// AES-256-GCM with keys by HKDF-SHA256 from a static key.
inline constexpr uint8_t kSuiteStatic = 1;
// The same from a secret that an exchange made with HPKE (proto/exchange); only in version 2, whose nonce is that of
// the exchange.
inline constexpr uint8_t kSuiteHpke = 2;
// The whole VM with all its contexts; smaller values are context IDs.
inline constexpr uint16_t kScopeWholeVm = 0xFFFF;

inline constexpr size_t kHeaderBytes = 80;  // size of version 1, and offset of the nonce in version 2
inline constexpr size_t kGuestNonceBytes = 32;
inline constexpr size_t kHeaderBytesMax = kHeaderBytes + kGuestNonceBytes;
inline constexpr size_t kTagBytes = 16;
// The content's length, before the content, inside the ciphertext.
inline constexpr size_t kContentLengthBytes = 4;
// Padded lengths are multiples of this unit, so that a length reveals little.
inline constexpr uint32_t kPaddingUnit = 4096;
// The unit of suite 2, whose content has a fixed size, and which has to cross a slow bus.
inline constexpr uint32_t kPaddingUnitHpke = 64;
constexpr uint32_t PaddingUnitOf(uint8_t suite) { return suite == kSuiteHpke ? kPaddingUnitHpke : kPaddingUnit; }
// With this limit a record and its framing fit a gRPC message of 16 MiB.
inline constexpr uint32_t kPaddedLengthMax = (16u << 20) - kPaddingUnit;
inline constexpr size_t kContentBytesMax = kPaddedLengthMax - kContentLengthBytes;
inline constexpr size_t kRecordBytesMax = kHeaderBytesMax + kPaddedLengthMax + kTagBytes;

// Drawn by an opener for one stream, so that its records are known to be newer than the request. All zeros mean no
// nonce.
using GuestNonce = std::array<uint8_t, kGuestNonceBytes>;

struct RecordHeader {
  uint8_t suite = kSuiteStatic;
  uint16_t scope = kScopeWholeVm;
  Uuid device;
  uint64_t boot_id = 0;
  Uuid vm;
  uint32_t generation = 0;
  // Size of the ciphertext in bytes.
  uint32_t padded_length = kPaddingUnit;
  // Identifies a session key; later keys have greater epochs.
  uint64_t epoch = 0;
  // 0, 1, 2, … under one session key.
  uint64_t sequence = 0;
  // The device's reference clock at the trigger.
  uint64_t reference_time_ns = 0;
  // Present in version 2 only.
  std::optional<GuestNonce> guest_nonce = std::nullopt;

  uint8_t version() const { return guest_nonce.has_value() ? kRecordVersion2 : kRecordVersion1; }
  // Size of the encoded header.
  size_t bytes() const { return kHeaderBytes + (guest_nonce.has_value() ? kGuestNonceBytes : 0); }
  bool operator==(const RecordHeader&) const = default;
};

// The parts of a record, as views into the parsed bytes.
struct RecordView {
  RecordHeader header;
  ByteSpan header_bytes;
  ByteSpan ciphertext;
  ByteSpan tag;
};

// Returns header.bytes() bytes.
Bytes EncodeHeader(const RecordHeader& header);
// INVALID_ARGUMENT unless `record` is exactly one record of a known version and suite, in a combination that exists.
absl::StatusOr<RecordView> ParseRecord(ByteSpan record);

// The smallest padded length of a suite that holds `content_bytes`; OUT_OF_RANGE above kContentBytesMax.
absl::StatusOr<uint32_t> PaddedLengthFor(size_t content_bytes, uint8_t suite = kSuiteStatic);
// The content in a decrypted text. INVALID_ARGUMENT if its length exceeds the text or the padding is not all zeros.
absl::StatusOr<ByteSpan> ContentOf(ByteSpan padded_text);

// The view that a confidential guest has of its own counts: a file with the newest record of each exchange, replaced as
// a whole (README.md, "View of a guest").
//   const Bytes file = EncodeSealedView({record});
//   SIDEBAND_ASSIGN_OR_RETURN(const std::vector<ByteSpan> records, DecodeSealedView(file));
// The ending of the file's name, after that of the VM.
inline constexpr absl::string_view kSealedViewEnding = ".sbs";
// An exchange and the one before it, in its grace.
inline constexpr size_t kSealedViewRecordsMax = 2;

// A multiple of eight bytes.
Bytes EncodeSealedView(const std::vector<ByteSpan>& records);
// Views into `file`; what is in a record is not looked at. INVALID_ARGUMENT: another magic or checksum, truncated, too
// many records.
absl::StatusOr<std::vector<ByteSpan>> DecodeSealedView(ByteSpan file);

// The content of a record of suite 2: one VM with all its contexts, as plain numbers in a fixed width, so that its size
// depends on scopes and events alone. The events' names are those of the exchange.

template <typename T>
using SecretVector = std::vector<T, SecretAllocator<T>>;

struct CountsRow {
  uint16_t context = kScopeWholeVm;  // the VM itself, or a context's ID
  std::string name;                  // of the context; at most 255 bytes
  uint8_t slice = 0xFF;              // FF: bound to none
  uint32_t generation = 0;
  uint8_t state = 0;   // mailbox::BlockState
  uint16_t flags = 0;  // mailbox::BlockFlag
  bool operator==(const CountsRow&) const = default;
};

// sideband.v1.Estimate in fixed width.
struct CountsEstimate {
  static constexpr uint64_t kUnknown = ~uint64_t{0};
  uint64_t standard_error = kUnknown;
  uint64_t lower = 0;
  uint64_t upper = kUnknown;
  uint64_t time_enabled_ns = 0;
  uint64_t time_running_ns = 0;
  uint8_t method = 0;  // sideband.v1.Estimate.Method; 0: the count is exact
  bool operator==(const CountsEstimate&) const = default;
};

struct SealedCounts {
  uint32_t snapshot_id = 0;
  uint32_t trigger_id = 0;
  uint64_t host_time_ns = 0;  // since 1970; 0: sealed by a device, which has no such clock
  uint16_t events = 0;        // of each row
  std::vector<CountsRow> rows;
  std::vector<uint16_t> rotated;  // the events that have estimates, ascending
  SecretVector<uint64_t> counts;  // row after row
  // Row after row, as Counter.coverage. 0: the event was counted in no cycle, and its count is no number. Empty: every
  // event was counted in every cycle.
  SecretVector<double> coverage;
  SecretVector<CountsEstimate> estimates;  // row after row, parallel to `rotated`

  std::span<const uint64_t> Counts(size_t row) const { return std::span(counts).subspan(row * events, events); }
  std::span<const double> Coverage(size_t row) const {
    return coverage.empty() ? std::span<const double>() : std::span(coverage).subspan(row * events, events);
  }
  std::span<const CountsEstimate> Estimates(size_t row) const {
    return std::span(estimates).subspan(row * rotated.size(), rotated.size());
  }
  bool operator==(const SealedCounts&) const = default;
};

// The vectors must have the lengths that `rows`, `events` and `rotated` give them.
SecretBytes EncodeCounts(const SealedCounts& counts);
// INVALID_ARGUMENT: an unknown version, a length that is not that of the numbers, a rotated event that does not exist.
absl::StatusOr<SealedCounts> DecodeCounts(ByteSpan content);

}  // namespace sideband::envelope

#endif  // SIDEBAND_PROTO_ENVELOPE_RECORD_H_
