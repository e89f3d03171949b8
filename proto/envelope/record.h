// SPDX-License-Identifier: Apache-2.0
//
// The layout of a sealed record (README.md has the bytes): a cleartext header, which is also the additional data of the
// encryption, the ciphertext, the tag; and the padding inside the ciphertext.
//   SIDEBAND_ASSIGN_OR_RETURN(const RecordView record, ParseRecord(bytes));
//   if (record.header.vm != vm) …
// What is parsed here is not yet authentic: only OpenRecord (seal.h) says that the key's holder wrote it.
#ifndef SIDEBAND_PROTO_ENVELOPE_RECORD_H_
#define SIDEBAND_PROTO_ENVELOPE_RECORD_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"

namespace sideband::envelope {

inline constexpr uint8_t kRecordMagic[4] = {'S', 'B', 'S', 'R'};
inline constexpr uint8_t kRecordVersion = 1;
// AES-256-GCM with keys by HKDF-SHA256.
inline constexpr uint8_t kSuiteAes256GcmHkdfSha256 = 1;
// The whole VM with all its contexts; anything less is a context's id.
inline constexpr uint16_t kScopeWholeVm = 0xFFFF;

inline constexpr size_t kHeaderBytes = 80;
inline constexpr size_t kTagBytes = 16;
// Before the content, inside the ciphertext.
inline constexpr size_t kContentLengthBytes = 4;
// Padded lengths are multiples of it, so that a length says little.
inline constexpr uint32_t kPaddingUnit = 4096;
// A record then fits a gRPC message of 16 MiB with its framing.
inline constexpr uint32_t kPaddedLengthMax = (16u << 20) - kPaddingUnit;
inline constexpr size_t kContentBytesMax = kPaddedLengthMax - kContentLengthBytes;
inline constexpr size_t kRecordBytesMax = kHeaderBytes + kPaddedLengthMax + kTagBytes;

struct RecordHeader {
  uint16_t scope = kScopeWholeVm;
  Uuid device;
  uint64_t boot_id = 0;
  Uuid vm;
  uint32_t generation = 0;
  // Of the ciphertext, in bytes.
  uint32_t padded_length = kPaddingUnit;
  // Names a session key; a later one is greater.
  uint64_t epoch = 0;
  // 0, 1, 2, … under one session key.
  uint64_t sequence = 0;
  // The device's reference clock at the trigger.
  uint64_t reference_time_ns = 0;

  bool operator==(const RecordHeader&) const = default;
};

// A record in its parts, which are views into the bytes that were parsed.
struct RecordView {
  RecordHeader header;
  ByteSpan header_bytes;
  ByteSpan ciphertext;
  ByteSpan tag;
};

// kHeaderBytes bytes.
Bytes EncodeHeader(const RecordHeader& header);
// INVALID_ARGUMENT for anything but exactly one record of this version and suite.
absl::StatusOr<RecordView> ParseRecord(ByteSpan record);

// The smallest padded length that holds `content_bytes`, or OUT_OF_RANGE above kContentBytesMax.
absl::StatusOr<uint32_t> PaddedLengthFor(size_t content_bytes);
// The content in a decrypted text; INVALID_ARGUMENT where its length does not fit or the padding is not all zeros.
absl::StatusOr<ByteSpan> ContentOf(ByteSpan padded_text);

}  // namespace sideband::envelope

#endif  // SIDEBAND_PROTO_ENVELOPE_RECORD_H_
