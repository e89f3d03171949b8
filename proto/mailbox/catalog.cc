// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/catalog.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/rotation.h"
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

// The head precedes the lists of version 1 and the sections of version 2.
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

namespace {

// Bits of an event's scope byte; unknown bits are ignored (stream_format.md).
constexpr uint8_t kDeviceScope = 1 << 0;
constexpr uint8_t kMasked = 1 << 1;

bool IsPrintable(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return absl::ascii_isprint(c); });
}

bool IsMetricName(const std::string& name) {
  const auto is_letter = [](unsigned char c) { return absl::ascii_islower(c) || c == '_'; };
  return !name.empty() && is_letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](unsigned char c) { return is_letter(c) || absl::ascii_isdigit(c); });
}

absl::Status CheckEvents(const Catalog& catalog) {
  std::set<std::string> names;
  for (const EventInfo& event : catalog.events) {
    // Event names become Prometheus metric names.
    if (!IsMetricName(event.name)) return MalformedCatalog("an event's name is not a metric name");
    if (!names.insert(event.name).second) return MalformedCatalog("an event is listed twice");
    if (!IsPrintable(event.unit) || !IsPrintable(event.description)) return MalformedCatalog("a text is not printable");
  }
  return absl::OkStatus();
}

// `slices` are those of the catalogue.
absl::Status CheckHostBlocks(const Catalog& catalog, const std::set<uint8_t>& slices) {
  std::set<uint8_t> without = slices;
  for (const HostBlockInfo& block : catalog.host_blocks) {
    if (!slices.contains(block.slice)) return MalformedCatalog("a host block belongs to an unknown slice");
    if (without.erase(block.slice) == 0) return MalformedCatalog("a host block is listed twice");
  }
  return absl::OkStatus();
}

absl::Status CheckScopes(const Catalog& catalog) {
  std::set<uint16_t> vms;
  std::set<Uuid> uuids;
  std::set<std::string> vm_names;
  for (const VmInfo& vm : catalog.vms) {
    if (vm.id == kHypervisorVm || vm.uuid.is_nil() || !IsName(vm.name)) return MalformedCatalog("a VM has no identity");
    if (!vms.insert(vm.id).second || !uuids.insert(vm.uuid).second || !vm_names.insert(vm.name).second) {
      return MalformedCatalog("a VM is listed twice");
    }
  }
  std::set<std::pair<uint16_t, uint16_t>> ids;
  std::set<std::pair<uint16_t, std::string>> context_names;
  for (const ContextInfo& context : catalog.contexts) {
    if (context.id == kNoContext || !IsName(context.name)) return MalformedCatalog("a context has no identity");
    if (!vms.contains(context.vm)) return MalformedCatalog("a context belongs to an unknown VM");
    if (!ids.emplace(context.vm, context.id).second || !context_names.emplace(context.vm, context.name).second) {
      return MalformedCatalog("a context is listed twice");
    }
  }
  std::set<uint8_t> slices;
  for (const SliceInfo& slice : catalog.slices) {
    if (slice.id == kAnySlice || !IsName(slice.name)) return MalformedCatalog("a slice has no identity");
    if (!slices.insert(slice.id).second) return MalformedCatalog("a slice is listed twice");
  }
  return CheckHostBlocks(catalog, slices);
}

}  // namespace

absl::Status MalformedCatalog(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("catalogue: ", what));
}

bool IsName(const std::string& name) { return !name.empty() && IsPrintable(name); }

void Encode(const EventInfo& event, ByteWriter& out) {
  out.String(event.name);
  out.String(event.unit);
  out.U8((event.scope == EventScope::kDevice ? kDeviceScope : 0) | (event.masked ? kMasked : 0));
  out.String(event.description);
}

void Encode(const SliceInfo& slice, ByteWriter& out) {
  out.U8(slice.id);
  out.String(slice.name);
}

void EncodeVms(const std::vector<VmInfo>& vms, uint8_t known, ByteWriter& out) {
  out.U16(static_cast<uint16_t>(vms.size()));
  for (const VmInfo& vm : vms) {
    out.U16(vm.id);
    out.Raw(vm.uuid.bytes);
    out.String(vm.name);
    out.U8(((vm.confidential ? kConfidentialVm : 0) | (vm.is_private ? kPrivateVm : 0)) & known);
    out.U8(vm.slice);
    out.U32(vm.generation);
  }
}

void Encode(const ContextInfo& context, ByteWriter& out) {
  out.U16(context.vm);
  out.U16(context.id);
  out.String(context.name);
  out.U8(context.slice);
  out.U32(context.generation);
}

void Encode(const HostBlockInfo& block, ByteWriter& out) {
  out.U8(block.slice);
  out.U32(block.generation);
}

Uuid DecodeUuid(ByteReader& in) {
  Uuid uuid;
  const ByteSpan raw = in.Raw(uuid.bytes.size());
  std::copy(raw.begin(), raw.end(), uuid.bytes.begin());
  return uuid;
}

bool Decode(ByteReader& in, EventInfo& event) {
  event.name = in.String();
  event.unit = in.String();
  const uint8_t scope = in.U8();
  event.scope = (scope & kDeviceScope) != 0 ? EventScope::kDevice : EventScope::kContext;
  event.masked = (scope & kMasked) != 0;
  event.description = in.String();
  return true;
}

bool Decode(ByteReader& in, SliceInfo& slice) {
  slice.id = in.U8();
  slice.name = in.String();
  return true;
}

absl::Status DecodeVms(ByteReader& in, uint8_t known, std::vector<VmInfo>& vms) {
  const auto decode = [known](ByteReader& from, VmInfo& vm) {
    vm.id = from.U16();
    vm.uuid = DecodeUuid(from);
    vm.name = from.String();
    const uint8_t bits = from.U8();
    vm.confidential = (bits & kConfidentialVm) != 0;
    vm.is_private = (bits & kPrivateVm) != 0;
    vm.slice = from.U8();
    vm.generation = from.U32();
    // Other bits may change what may be shown.
    return (bits & ~known) == 0;
  };
  return DecodeListWith(in, kVmsMax, decode, vms);
}

bool Decode(ByteReader& in, ContextInfo& context) {
  context.vm = in.U16();
  context.id = in.U16();
  context.name = in.String();
  context.slice = in.U8();
  context.generation = in.U32();
  return true;
}

bool Decode(ByteReader& in, HostBlockInfo& block) {
  block.slice = in.U8();
  block.generation = in.U32();
  return true;
}

absl::Status CheckCatalog(const Catalog& catalog) {
  SIDEBAND_RETURN_IF_ERROR(CheckEvents(catalog));
  return CheckScopes(catalog);
}

absl::Status CheckGateGroups(const Catalog& catalog) {
  std::set<std::string> names;
  for (const GateGroupInfo& group : catalog.gate_groups) {
    if (!IsName(group.name) || !names.insert(group.name).second) {
      return MalformedCatalog("a gate group has no identity");
    }
    if (group.running_event >= catalog.events.size()) return MalformedCatalog("a gate group has no running cycles");
  }
  for (const EventInfo& event : catalog.events) {
    const uint8_t group = event.details.gate_group;
    if (group != kNoGateGroup && group >= catalog.gate_groups.size()) {
      return MalformedCatalog("an event is of a gate group that does not exist");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSelections(const Catalog& catalog) {
  std::set<std::string> names;
  for (const SelectionInfo& selection : catalog.selections) {
    if (!IsName(selection.name) || !names.insert(selection.name).second) {
      return MalformedCatalog("a selection has no identity");
    }
  }
  for (const EventInfo& event : catalog.events) {
    if (!event.details.selectable) continue;
    if (event.masked || event.scope == EventScope::kDevice) {
      return MalformedCatalog("a selectable event is not counted for VMs");
    }
    if (event.details.gate_group == kNoGateGroup) return MalformedCatalog("a selectable event has no gate group");
  }
  return absl::OkStatus();
}

namespace {

constexpr uint8_t kOfDevice = 1 << 0;
constexpr uint8_t kAnnounces = 1 << 1;

void Encode(const ClockDomain& domain, ByteWriter& out) {
  out.String(domain.name);
  out.U64(domain.nominal_hz);
  out.U64(domain.period_min);
  out.U64(domain.period_max);
  out.U64(static_cast<uint64_t>(domain.bar_low));
  out.U64(static_cast<uint64_t>(domain.bar_high));
  out.U32(domain.wander);
  out.U8((domain.slice ? 0 : kOfDevice) | (domain.announces ? kAnnounces : 0));
  if (domain.slice) out.U8(*domain.slice);
}

absl::Status Decode(ByteReader& in, ClockDomain& domain) {
  domain.name = in.String();
  domain.nominal_hz = in.U64();
  domain.period_min = in.U64();
  domain.period_max = in.U64();
  domain.bar_low = static_cast<int64_t>(in.U64());
  domain.bar_high = static_cast<int64_t>(in.U64());
  domain.wander = in.U32();
  const uint8_t flags = in.U8();
  // A flag may qualify the limits, on which all bounds depend.
  if ((flags & ~(kOfDevice | kAnnounces)) != 0) return MalformedClocks("a domain has an unknown flag");
  if ((flags & kOfDevice) == 0) domain.slice = in.U8();
  domain.announces = (flags & kAnnounces) != 0;
  return in.ok() ? absl::OkStatus() : MalformedClocks("truncated domains");
}

absl::Status CheckLimits(const ClockDomain& domain) {
  if (domain.nominal_hz == 0) return MalformedClocks("a domain has no frequency");
  if (domain.period_min == 0) return MalformedClocks("a domain has no shortest period");
  if (!domain.MayStop() && domain.period_max < domain.period_min) {
    return MalformedClocks("a domain's longest period is shorter than its shortest");
  }
  if (domain.bar_low > domain.bar_high) return MalformedClocks("a domain's bar ends before it begins");
  return absl::OkStatus();
}

bool HasSlice(const Catalog& catalog, uint8_t id) {
  return std::any_of(catalog.slices.begin(), catalog.slices.end(),
                     [id](const SliceInfo& slice) { return slice.id == id; });
}

}  // namespace

Bytes EncodeClockDomains(const std::vector<ClockDomain>& domains) {
  ByteWriter out;
  out.U8(static_cast<uint8_t>(domains.size()));
  for (const ClockDomain& domain : domains) Encode(domain, out);
  return std::move(out).Take();
}

absl::Status DecodeClockDomains(ByteSpan payload, std::vector<ClockDomain>& domains) {
  ByteReader in(payload);
  const size_t size = in.U8();
  if (size == 0 || size > kClockDomainsMax) return MalformedClocks("no domains, or too many");
  for (size_t i = 0; i < size; ++i) SIDEBAND_RETURN_IF_ERROR(Decode(in, domains.emplace_back()));
  return in.remaining() == 0 ? absl::OkStatus() : MalformedClocks("bytes after the domains");
}

absl::Status CheckClockDomains(const Catalog& catalog) {
  std::set<std::pair<std::optional<uint8_t>, std::string>> names;
  for (const ClockDomain& domain : catalog.clock_domains) {
    if (!IsName(domain.name) || !names.emplace(domain.slice, domain.name).second) {
      return MalformedClocks("a domain has no identity");
    }
    if (domain.slice && !HasSlice(catalog, *domain.slice)) return MalformedClocks("a domain is of an unknown slice");
    SIDEBAND_RETURN_IF_ERROR(CheckLimits(domain));
  }
  // Without domains the numbers have no meaning.
  if (catalog.clock_domains.empty()) return absl::OkStatus();
  for (const EventInfo& event : catalog.events) {
    if (event.details.clock_domain > catalog.clock_domains.size()) {
      return MalformedClocks("an event is of an unknown domain");
    }
  }
  return absl::OkStatus();
}

namespace {

uint64_t SetsOf(const RotationPlan& plan, size_t event) {
  uint64_t sets = 0;
  for (size_t set = 0; set < plan.sets.size() && set < kRotationSetsMax; ++set) {
    if (Includes(plan.sets[set], event)) sets |= uint64_t{1} << set;
  }
  return sets;
}

}  // namespace

std::vector<uint16_t> RotatedEvents(const Catalog& catalog) {
  std::vector<uint16_t> events;
  for (size_t event = 0; event < catalog.events.size(); ++event) {
    if (catalog.events[event].details.counting != Counting::kFixed) events.push_back(static_cast<uint16_t>(event));
  }
  return events;
}

RotationLayout LayoutOf(const Catalog& catalog) {
  RotationLayout layout;
  for (const uint16_t event : RotatedEvents(catalog)) {
    layout.events.push_back({event, catalog.events[event].details.gate_group});
  }
  for (const RotationPlan& plan : catalog.plans) {
    RotationLayout::Plan& entry = layout.plans.emplace_back();
    entry.number = plan.number;
    for (const auto& [event, group] : layout.events) entry.sets_of.push_back(SetsOf(plan, event));
  }
  return layout;
}

}  // namespace sideband::mailbox
