// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/catalog.h"

#include <utility>

#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog_clocks.h"
#include "proto/mailbox/catalog_items.h"
#include "proto/mailbox/gate_controls.h"
#include "proto/mailbox/rotation_items.h"
#include "proto/mailbox/sections.h"

namespace sideband::mailbox {
namespace {

constexpr uint8_t kHasHadConfidentialVm = 1 << 0;
constexpr uint8_t kTheyWerePrivate = 1 << 1;
constexpr size_t kWordEvents = 64;

// The bits of properties and VMs that each version has.
struct KnownBits {
  uint8_t properties;
  uint8_t vm;
};
constexpr KnownBits kVersion1 = {kHasHadConfidentialVm, kConfidentialVm};
constexpr KnownBits kVersion2 = {kHasHadConfidentialVm | kTheyWerePrivate, kConfidentialVm | kPrivateVm};

// What precedes the lists of version 1 and the sections of version 2.
void EncodeHead(const Catalog& catalog, const KnownBits& known, ByteWriter& out) {
  out.Raw(catalog.device.bytes);
  out.U64(catalog.reference_clock_hz);
  out.U8(((catalog.has_had_confidential_vm ? kHasHadConfidentialVm : 0) |
          (catalog.confidential_vms_were_private ? kTheyWerePrivate : 0)) &
         known.properties);
}

absl::Status DecodeHead(ByteReader& in, const KnownBits& known, Catalog& catalog) {
  catalog.device = DecodeUuid(in);
  catalog.reference_clock_hz = in.U64();
  const uint8_t properties = in.U8();
  // The second bit is about the VMs of the first.
  if ((properties & ~known.properties) != 0 || properties == kTheyWerePrivate) {
    return MalformedCatalog("unknown property");
  }
  catalog.has_had_confidential_vm = (properties & kHasHadConfidentialVm) != 0;
  catalog.confidential_vms_were_private = (properties & kTheyWerePrivate) != 0;
  return absl::OkStatus();
}

void EncodeDetails(const EventDetails& details, ByteWriter& out) {
  const std::vector<SliceRate> rates = details.slices.empty() ? std::vector<SliceRate>(1) : details.slices;
  out.U8(static_cast<uint8_t>(rates.size()));
  for (const SliceRate& rate : rates) {
    out.U64(rate.capacity_q32);
    out.U64(rate.gain_q32);
  }
  out.U8(details.clock_domain);
  out.U8(static_cast<uint8_t>(details.counting));
  out.U8(details.gate_group);
}

// `slices` is the number of slices of the catalogue.
absl::Status DecodeDetails(ByteReader& in, size_t slices, EventInfo& event) {
  EventDetails& details = event.details;
  const size_t rates = in.U8();
  const bool has_slices = event.scope == EventScope::kContext;
  if (rates != 1 && (rates == 0 || rates != slices || !has_slices))
    return MalformedCatalog("an event has a capacity for some slices only");
  for (size_t i = 0; i < rates; ++i) {
    const SliceRate rate = {.capacity_q32 = in.U64(), .gain_q32 = in.U64()};
    if (rate.capacity_q32 > kRateQ32Max || rate.gain_q32 > kRateQ32Max) {
      return MalformedCatalog("an event's capacity is beyond reason");
    }
    details.slices.push_back(rate);
  }
  if (details.slices == std::vector<SliceRate>(1)) details.slices.clear();  // unknown
  details.clock_domain = in.U8();
  const uint8_t counting = in.U8();
  if (counting > static_cast<uint8_t>(Counting::kDerived))
    return MalformedCatalog("an event is counted in no known way");
  details.counting = static_cast<Counting>(counting);
  details.gate_group = in.U8();
  return in.ok() ? absl::OkStatus() : MalformedCatalog("truncated");
}

absl::Status DecodeAllDetails(ByteSpan payload, Catalog& catalog) {
  ByteReader in(payload);
  for (EventInfo& event : catalog.events) {
    SIDEBAND_RETURN_IF_ERROR(DecodeDetails(in, catalog.slices.size(), event));
  }
  return in.remaining() == 0 ? absl::OkStatus() : MalformedCatalog("details of more events than there are");
}

absl::Status DecodeEvents(ByteSpan payload, Catalog& catalog) {
  ByteReader in(payload);
  SIDEBAND_RETURN_IF_ERROR(DecodeList(in, kEventsMax, catalog.events));
  return in.remaining() == 0 ? absl::OkStatus() : MalformedCatalog("bytes after the events");
}

absl::Status DecodeScopes(ByteSpan payload, Catalog& catalog) {
  ByteReader in(payload);
  SIDEBAND_RETURN_IF_ERROR(DecodeList(in, kSlicesMax, catalog.slices));
  SIDEBAND_RETURN_IF_ERROR(DecodeVms(in, kVersion2.vm, catalog.vms));
  SIDEBAND_RETURN_IF_ERROR(DecodeList(in, kContextsMax, catalog.contexts));
  SIDEBAND_RETURN_IF_ERROR(DecodeList(in, kSlicesMax, catalog.host_blocks));
  return in.remaining() == 0 ? absl::OkStatus() : MalformedCatalog("bytes after the scopes");
}

// Nothing follows the number of selections if that is 0.
void EncodeSelections(const Catalog& catalog, ByteWriter& out) {
  out.U8(static_cast<uint8_t>(catalog.selections.size()));
  if (catalog.selections.empty()) return;
  for (const SelectionInfo& selection : catalog.selections) out.String(selection.name);
  std::vector<uint64_t> selectable((catalog.events.size() + kWordEvents - 1) / kWordEvents);
  for (size_t event = 0; event < catalog.events.size(); ++event) {
    const uint64_t bit = catalog.events[event].details.selectable ? 1 : 0;
    selectable[event / kWordEvents] |= bit << event % kWordEvents;
  }
  for (const uint64_t word : selectable) out.U64(word);
}

void EncodeGateGroups(const Catalog& catalog, ByteWriter& out) {
  ByteWriter groups;
  groups.U8(static_cast<uint8_t>(catalog.gate_groups.size()));
  for (const GateGroupInfo& group : catalog.gate_groups) {
    groups.String(group.name);
    groups.U16(group.running_event);
  }
  EncodeSelections(catalog, groups);
  AppendSection(CatalogSection::kGateGroups, groups.written(), out);
}

absl::Status DecodeSelections(ByteReader& in, Catalog& catalog) {
  const size_t selections = in.U8();
  if (selections > kSelectionsMax) return MalformedCatalog("too many selections");
  for (size_t i = 0; i < selections; ++i) catalog.selections.push_back({in.String()});
  if (selections == 0) return absl::OkStatus();
  for (size_t first = 0; first < catalog.events.size(); first += kWordEvents) {
    const uint64_t word = in.U64();
    for (size_t bit = 0; bit < kWordEvents; ++bit) {
      if ((word >> bit & 1) == 0) continue;
      if (first + bit >= catalog.events.size()) return MalformedCatalog("a selectable event does not exist");
      catalog.events[first + bit].details.selectable = true;
    }
  }
  return absl::OkStatus();
}

absl::Status DecodeGateGroups(ByteSpan payload, Catalog& catalog) {
  ByteReader in(payload);
  const size_t groups = in.U8();
  if (groups > kGateGroupsMax) return MalformedCatalog("too many gate groups");
  for (size_t g = 0; g < groups; ++g) {
    std::string name = in.String();
    catalog.gate_groups.push_back({std::move(name), in.U16()});
  }
  SIDEBAND_RETURN_IF_ERROR(DecodeSelections(in, catalog));
  if (!in.ok()) return MalformedCatalog("truncated");
  return in.remaining() == 0 ? absl::OkStatus() : MalformedCatalog("bytes after the gate groups");
}

}  // namespace

Bytes EncodeCatalog(const Catalog& catalog) {
  ByteWriter out;
  EncodeHead(catalog, kVersion1, out);
  EncodeList(catalog.events, out);
  EncodeList(catalog.slices, out);
  EncodeVms(catalog.vms, kVersion1.vm, out);
  EncodeList(catalog.contexts, out);
  return std::move(out).Take();
}

absl::StatusOr<Catalog> DecodeCatalog(ByteSpan payload) {
  ByteReader in(payload);
  Catalog catalog;
  SIDEBAND_RETURN_IF_ERROR(DecodeHead(in, kVersion1, catalog));
  SIDEBAND_RETURN_IF_ERROR(DecodeList(in, kEventsMax, catalog.events));
  SIDEBAND_RETURN_IF_ERROR(DecodeList(in, kSlicesMax, catalog.slices));
  SIDEBAND_RETURN_IF_ERROR(DecodeVms(in, kVersion1.vm, catalog.vms));
  SIDEBAND_RETURN_IF_ERROR(DecodeList(in, kContextsMax, catalog.contexts));
  if (in.remaining() != 0) return MalformedCatalog("bytes after the end");
  SIDEBAND_RETURN_IF_ERROR(CheckCatalog(catalog));
  return catalog;
}

Bytes EncodeCatalogSections(const Catalog& catalog) {
  ByteWriter out, events, details, scopes;
  EncodeHead(catalog, kVersion2, out);
  EncodeList(catalog.events, events);
  for (const EventInfo& event : catalog.events) EncodeDetails(event.details, details);
  EncodeList(catalog.slices, scopes);
  EncodeVms(catalog.vms, kVersion2.vm, scopes);
  EncodeList(catalog.contexts, scopes);
  EncodeList(catalog.host_blocks, scopes);
  AppendSection(CatalogSection::kEvents, events.written(), out);
  AppendSection(CatalogSection::kEventDetails, details.written(), out);
  AppendSection(CatalogSection::kScopes, scopes.written(), out);
  if (!catalog.clock_domains.empty()) {
    AppendSection(CatalogSection::kClockDomains, EncodeClockDomains(catalog.clock_domains), out);
  }
  if (!catalog.relations.empty() || !catalog.plans.empty()) {
    AppendSection(CatalogSection::kRotation, EncodeRotations(catalog.relations, catalog.plans), out);
  }
  if (!catalog.gate_groups.empty() || !catalog.selections.empty()) EncodeGateGroups(catalog, out);
  return std::move(out).Take();
}

absl::StatusOr<Catalog> DecodeCatalogSections(ByteSpan payload) {
  ByteReader in(payload);
  Catalog catalog;
  SIDEBAND_RETURN_IF_ERROR(DecodeHead(in, kVersion2, catalog));
  if (!in.ok()) return MalformedCatalog("truncated");
  SIDEBAND_ASSIGN_OR_RETURN(const auto sections, SplitSections(in.Raw(in.remaining()), kCatalogSections));
  SIDEBAND_RETURN_IF_ERROR(DecodeEvents(*FindSection(sections, CatalogSection::kEvents), catalog));
  SIDEBAND_RETURN_IF_ERROR(DecodeScopes(*FindSection(sections, CatalogSection::kScopes), catalog));
  // Last: the number of rates of an event depends on the number of slices.
  if (const ByteSpan* const details = FindSection(sections, CatalogSection::kEventDetails)) {
    SIDEBAND_RETURN_IF_ERROR(DecodeAllDetails(*details, catalog));
  }
  if (const ByteSpan* const groups = FindSection(sections, CatalogSection::kGateGroups)) {
    SIDEBAND_RETURN_IF_ERROR(DecodeGateGroups(*groups, catalog));
  }
  if (const ByteSpan* const rotation = FindSection(sections, CatalogSection::kRotation)) {
    SIDEBAND_RETURN_IF_ERROR(DecodeRotations(*rotation, catalog.events.size(), catalog.relations, catalog.plans));
  }
  if (const ByteSpan* const domains = FindSection(sections, CatalogSection::kClockDomains)) {
    SIDEBAND_RETURN_IF_ERROR(DecodeClockDomains(*domains, catalog.clock_domains));
  }
  SIDEBAND_RETURN_IF_ERROR(CheckCatalog(catalog));
  SIDEBAND_RETURN_IF_ERROR(CheckGateGroups(catalog));
  SIDEBAND_RETURN_IF_ERROR(CheckSelections(catalog));
  SIDEBAND_RETURN_IF_ERROR(CheckClockDomains(catalog));
  return catalog;
}

uint32_t CatalogHash(ByteSpan payload) { return Crc32c(payload); }

}  // namespace sideband::mailbox
