// SPDX-License-Identifier: Apache-2.0
//
// The sections of a catalogue or snapshot of version 2 (mailbox.md, "Sections"): u16 type, u16 flags, u32 length,
// payload. A reader skips a section of an unknown type, unless the section is marked as one that it must know.
//   AppendSection(CatalogSection::kEvents, events, out);
//   SIDEBAND_ASSIGN_OR_RETURN(const auto sections, SplitSections(bytes, kCatalogSections));
//   const ByteSpan events_of_peer = sections[0].payload;
#ifndef SIDEBAND_PROTO_MAILBOX_SECTIONS_H_
#define SIDEBAND_PROTO_MAILBOX_SECTIONS_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::mailbox {

// The bits of a snapshot's bookmarks: of each, what has been counted since (stream_format.md, "Bookmarks").
// The snapshot's bookmarks that are not in the base, except those of VMs in `whole`; empty without any. They must
// ascend by number, and be served after they were asked for and at the snapshot's time at the latest.
Bytes EncodeBookmarks(const Snapshot& snapshot, const Snapshot* base, const std::set<uint16_t>& whole);
// Fills the snapshot's `bookmarks`; `bits` come from an untrusted peer. DATA_LOSS: truncated, bits left over, none, an
// unknown block, numbers that do not ascend, times that do not, more counts than kCountersMax.
absl::Status DecodeBookmarks(ByteSpan bits, Snapshot& snapshot);

// The bits of a snapshot's clocks (stream_format.md, "Clocks"): differences from what both ends expect of them, from
// the base. The snapshot must have 1 to kClockDomainsMax clocks.
Bytes EncodeClocks(const Snapshot& snapshot, const Snapshot* base);
// Fills the snapshot's `clocks`; `bits` come from an untrusted peer. Any values come back, also those of clocks that go
// back. DATA_LOSS: truncated, bits left over, or more than 2^32 changes.
absl::Status DecodeClocks(ByteSpan bits, const Snapshot* base, Snapshot& snapshot);

// The newest pulse on a device's trigger line in a snapshot, sent once (stream_format.md, "Trigger line").
// Empty without a pulse since the base. A device whose base has one has one, too.
Bytes EncodeLinePulse(const Snapshot& snapshot, const Snapshot* base);
// Fills the snapshot's `line_pulse`, from the base where there is no payload; it comes from an untrusted peer.
// INVALID_ARGUMENT: a wrong length, or a value that no pulse has.
absl::Status DecodeLinePulse(const ByteSpan* payload, const Snapshot* base, Snapshot& snapshot);

// The first bytes of a record, which a base keeps. What follows is ciphertext, and has nothing in common.
inline constexpr size_t kSealedPrefixBytes = 128;

// The sealed records in a snapshot, without those eights of their headers that the base's records have, too: most of a
// header stays the same from one snapshot to the next (mailbox.md, "Sections"; stream_format.md). `base` has the
// records of the base, or their prefixes; none without a base.
Bytes EncodeSealed(const std::vector<SealedBlocks>& sealed, const std::vector<SealedBlocks>& base = {});
// The payload comes from an untrusted peer, and what is in a record is not looked at. INVALID_ARGUMENT: truncated, a
// VM that cannot be, VMs that do not ascend (a VM may have two records, of two exchanges), an empty record, one of more
// than the payload and its prefix, bytes that the base does not have.
absl::StatusOr<std::vector<SealedBlocks>> DecodeSealed(ByteSpan payload, const std::vector<SealedBlocks>& base = {});

enum class CatalogSection : uint16_t {
  kEvents = 1,
  kEventDetails = 2,
  kScopes = 3,
  kClockDomains = 4,
  kRotation = 5,
  kGateGroups = 6
};
enum class SnapshotSection : uint16_t {
  kBlocks = 1,
  kClocks = 2,
  kRotation = 3,
  kConfigRevision = 4,
  kPipelineStatistics = 5,
  kSealedRecords = 6,
  kRotationStatistics = 7,
  kBookmarks = 8,
  kTriggerLine = 9,
};

// A known type of section.
struct SectionRow {
  uint16_t type;
  bool must_know;  // a reader that does not know the type must refuse the stream
  bool required;   // each stream has it
};
inline constexpr SectionRow kCatalogSections[] = {
    {static_cast<uint16_t>(CatalogSection::kEvents), true, true},
    {static_cast<uint16_t>(CatalogSection::kEventDetails), false, false},
    {static_cast<uint16_t>(CatalogSection::kScopes), true, true},
    {static_cast<uint16_t>(CatalogSection::kClockDomains), false, false},
    {static_cast<uint16_t>(CatalogSection::kRotation), false, false},
    {static_cast<uint16_t>(CatalogSection::kGateGroups), true, false},
};
inline constexpr SectionRow kSnapshotSections[] = {
    {static_cast<uint16_t>(SnapshotSection::kBlocks), true, true},
    {static_cast<uint16_t>(SnapshotSection::kClocks), false, false},
    {static_cast<uint16_t>(SnapshotSection::kRotation), true, false},
    {static_cast<uint16_t>(SnapshotSection::kConfigRevision), true, false},
    {static_cast<uint16_t>(SnapshotSection::kPipelineStatistics), false, false},
    {static_cast<uint16_t>(SnapshotSection::kSealedRecords), true, false},
    {static_cast<uint16_t>(SnapshotSection::kRotationStatistics), false, false},
    {static_cast<uint16_t>(SnapshotSection::kBookmarks), false, false},
    {static_cast<uint16_t>(SnapshotSection::kTriggerLine), false, false},
};

// The maximum number of sections in a stream, known and unknown.
inline constexpr size_t kSectionsMax = 64;

struct Section {
  uint16_t type;
  ByteSpan payload;
};

void AppendSection(CatalogSection type, ByteSpan payload, ByteWriter& out);
void AppendSection(SnapshotSection type, ByteSpan payload, ByteWriter& out);

// The sections whose types are among `known`, in the order of `bytes`, which come from an untrusted peer and must
// outlive the result. INVALID_ARGUMENT: a length beyond the end, a type twice, a required type that is absent, an
// unknown type that must be known, more than kSectionsMax sections.
absl::StatusOr<std::vector<Section>> SplitSections(ByteSpan bytes, std::span<const SectionRow> known);

// The payload of a section; nullptr if it is absent.
const ByteSpan* FindSection(const std::vector<Section>& sections, CatalogSection type);
const ByteSpan* FindSection(const std::vector<Section>& sections, SnapshotSection type);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_SECTIONS_H_
