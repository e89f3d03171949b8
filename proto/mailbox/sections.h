// SPDX-License-Identifier: Apache-2.0
//
// The sections of a catalogue or snapshot of version 2 (mailbox.md, "Sections"): u16 type, u16 flags, u32 length,
// payload. A reader skips a section of an unknown type, unless the section is marked as one that it must know.
//   AppendSection(CatalogSection::kEvents, events, out);
//   SIDEBAND_ASSIGN_OR_RETURN(const auto sections, SplitSections(bytes, kCatalogSections));
//   const ByteSpan events_of_peer = sections[0].payload;
#ifndef SIDEBAND_PROTO_MAILBOX_SECTIONS_H_
#define SIDEBAND_PROTO_MAILBOX_SECTIONS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"

namespace sideband::mailbox {

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
