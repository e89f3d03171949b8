// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/catalog_items.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::mailbox {
namespace {

// Bits of an event's scope byte; unknown bits are ignored (README.md).
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

}  // namespace sideband::mailbox
