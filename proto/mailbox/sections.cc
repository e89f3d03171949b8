// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/sections.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"

namespace sideband::mailbox {
namespace {

constexpr uint16_t kMustKnow = 1 << 0;

absl::Status MalformedSection(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("section ", what));
}

const SectionRow* FindRow(std::span<const SectionRow> rows, uint16_t type) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const SectionRow& r) { return r.type == type; });
  return row == rows.end() ? nullptr : &*row;
}

void Append(std::span<const SectionRow> rows, uint16_t type, ByteSpan payload, ByteWriter& out) {
  out.U16(type);
  out.U16(FindRow(rows, type)->must_know ? kMustKnow : 0);
  out.U32(static_cast<uint32_t>(payload.size()));
  out.Raw(payload);
}

const ByteSpan* Find(const std::vector<Section>& sections, uint16_t type) {
  const auto found =
      std::find_if(sections.begin(), sections.end(), [&](const Section& section) { return section.type == type; });
  return found == sections.end() ? nullptr : &found->payload;
}

absl::Status CheckRequired(const std::set<uint16_t>& types, std::span<const SectionRow> known) {
  for (const SectionRow& row : known) {
    if (row.required && !types.contains(row.type)) return MalformedSection(absl::StrCat(row.type, " is missing"));
  }
  return absl::OkStatus();
}

}  // namespace

void AppendSection(CatalogSection type, ByteSpan payload, ByteWriter& out) {
  Append(kCatalogSections, static_cast<uint16_t>(type), payload, out);
}

void AppendSection(SnapshotSection type, ByteSpan payload, ByteWriter& out) {
  Append(kSnapshotSections, static_cast<uint16_t>(type), payload, out);
}

absl::StatusOr<std::vector<Section>> SplitSections(ByteSpan bytes, std::span<const SectionRow> known) {
  std::vector<Section> sections;
  std::set<uint16_t> types;
  ByteReader in(bytes);
  while (in.remaining() > 0) {
    const uint16_t type = in.U16(), flags = in.U16();
    const ByteSpan payload = in.Raw(in.U32());
    if (!in.ok()) return MalformedSection(absl::StrCat(type, " is truncated"));
    if (!types.insert(type).second) return MalformedSection(absl::StrCat(type, " is there twice"));
    if (types.size() > kSectionsMax) return MalformedSection("count is too high");
    if (FindRow(known, type) != nullptr) {
      sections.push_back({type, payload});
    } else if ((flags & kMustKnow) != 0) {
      return MalformedSection(absl::StrCat(type, " is unknown, but must be known"));
    }
  }
  SIDEBAND_RETURN_IF_ERROR(CheckRequired(types, known));
  return sections;
}

const ByteSpan* FindSection(const std::vector<Section>& sections, CatalogSection type) {
  return Find(sections, static_cast<uint16_t>(type));
}

const ByteSpan* FindSection(const std::vector<Section>& sections, SnapshotSection type) {
  return Find(sections, static_cast<uint16_t>(type));
}

}  // namespace sideband::mailbox
