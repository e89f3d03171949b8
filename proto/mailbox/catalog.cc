// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/catalog.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"

namespace sideband::mailbox {
namespace {

constexpr uint8_t kHasHadConfidentialVm = 1 << 0;

absl::Status Malformed(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("catalogue: ", what)); }

bool IsPrintable(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return absl::ascii_isprint(c); });
}

bool IsMetricName(const std::string& name) {
  const auto is_letter = [](unsigned char c) { return absl::ascii_islower(c) || c == '_'; };
  return !name.empty() && is_letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](unsigned char c) { return is_letter(c) || absl::ascii_isdigit(c); });
}

void Encode(const EventInfo& event, ByteWriter& out) {
  out.String(event.name);
  out.String(event.unit);
  out.U8(static_cast<uint8_t>(event.scope));
  out.String(event.description);
}

void Encode(const SliceInfo& slice, ByteWriter& out) {
  out.U8(slice.id);
  out.String(slice.name);
}

void Encode(const VmInfo& vm, ByteWriter& out) {
  out.U16(vm.id);
  out.Raw(vm.uuid.bytes);
  out.String(vm.name);
  out.U8(vm.confidential ? 1 : 0);
  out.U8(vm.slice);
  out.U32(vm.generation);
}

void Encode(const ContextInfo& context, ByteWriter& out) {
  out.U16(context.vm);
  out.U16(context.id);
  out.String(context.name);
  out.U8(context.slice);
  out.U32(context.generation);
}

Uuid DecodeUuid(ByteReader& in) {
  Uuid uuid;
  const ByteSpan raw = in.Raw(uuid.bytes.size());
  std::copy(raw.begin(), raw.end(), uuid.bytes.begin());
  return uuid;
}

void Decode(ByteReader& in, EventInfo& event) {
  event.name = in.String();
  event.unit = in.String();
  event.scope = in.U8() == static_cast<uint8_t>(EventScope::kDevice) ? EventScope::kDevice : EventScope::kContext;
  event.description = in.String();
}

void Decode(ByteReader& in, SliceInfo& slice) {
  slice.id = in.U8();
  slice.name = in.String();
}

void Decode(ByteReader& in, VmInfo& vm) {
  vm.id = in.U16();
  vm.uuid = DecodeUuid(in);
  vm.name = in.String();
  vm.confidential = in.U8() != 0;
  vm.slice = in.U8();
  vm.generation = in.U32();
}

void Decode(ByteReader& in, ContextInfo& context) {
  context.vm = in.U16();
  context.id = in.U16();
  context.name = in.String();
  context.slice = in.U8();
  context.generation = in.U32();
}

template <typename T>
void EncodeList(const std::vector<T>& items, ByteWriter& out) {
  out.U16(static_cast<uint16_t>(items.size()));
  for (const T& item : items) Encode(item, out);
}

template <typename T>
absl::Status DecodeList(ByteReader& in, size_t size_max, std::vector<T>& items) {
  const size_t size = in.U16();
  if (size > size_max) return Malformed("a list is too long");
  for (size_t i = 0; i < size && in.ok(); ++i) Decode(in, items.emplace_back());
  return in.ok() ? absl::OkStatus() : Malformed("truncated");
}

absl::Status CheckEvents(const Catalog& catalog) {
  std::set<std::string> names;
  for (const EventInfo& event : catalog.events) {
    if (!IsMetricName(event.name)) return Malformed("an event's name is not a metric name");
    if (!names.insert(event.name).second) return Malformed("an event is listed twice");
    if (!IsPrintable(event.unit) || !IsPrintable(event.description)) return Malformed("a text is not printable");
  }
  return absl::OkStatus();
}

bool IsName(const std::string& name) { return !name.empty() && IsPrintable(name); }

absl::Status CheckScopes(const Catalog& catalog) {
  std::set<uint16_t> vms;
  std::set<Uuid> uuids;
  std::set<std::string> vm_names;
  for (const VmInfo& vm : catalog.vms) {
    if (vm.id == kHypervisorVm || vm.uuid.is_nil() || !IsName(vm.name)) return Malformed("a VM has no identity");
    if (!vms.insert(vm.id).second || !uuids.insert(vm.uuid).second || !vm_names.insert(vm.name).second) {
      return Malformed("a VM is listed twice");
    }
  }
  std::set<std::pair<uint16_t, uint16_t>> ids;
  std::set<std::pair<uint16_t, std::string>> context_names;
  for (const ContextInfo& context : catalog.contexts) {
    if (context.id == kNoContext || !IsName(context.name)) return Malformed("a context has no identity");
    if (!vms.contains(context.vm)) return Malformed("a context belongs to an unknown VM");
    if (!ids.emplace(context.vm, context.id).second || !context_names.emplace(context.vm, context.name).second) {
      return Malformed("a context is listed twice");
    }
  }
  for (const SliceInfo& slice : catalog.slices) {
    if (!IsName(slice.name)) return Malformed("a slice has no name");
  }
  return absl::OkStatus();
}

}  // namespace

Bytes EncodeCatalog(const Catalog& catalog) {
  ByteWriter out;
  out.Raw(catalog.device.bytes);
  out.U64(catalog.reference_clock_hz);
  out.U8(catalog.has_had_confidential_vm ? kHasHadConfidentialVm : 0);
  EncodeList(catalog.events, out);
  EncodeList(catalog.slices, out);
  EncodeList(catalog.vms, out);
  EncodeList(catalog.contexts, out);
  return std::move(out).Take();
}

absl::StatusOr<Catalog> DecodeCatalog(ByteSpan payload) {
  ByteReader in(payload);
  Catalog catalog;
  catalog.device = DecodeUuid(in);
  catalog.reference_clock_hz = in.U64();
  const uint8_t properties = in.U8();
  if ((properties & ~kHasHadConfidentialVm) != 0) return Malformed("unknown property");
  catalog.has_had_confidential_vm = properties != 0;
  SIDEBAND_RETURN_IF_ERROR(DecodeList(in, kEventsMax, catalog.events));
  SIDEBAND_RETURN_IF_ERROR(DecodeList(in, kSlicesMax, catalog.slices));
  SIDEBAND_RETURN_IF_ERROR(DecodeList(in, kVmsMax, catalog.vms));
  SIDEBAND_RETURN_IF_ERROR(DecodeList(in, kContextsMax, catalog.contexts));
  if (in.remaining() != 0) return Malformed("bytes after the end");
  SIDEBAND_RETURN_IF_ERROR(CheckEvents(catalog));
  SIDEBAND_RETURN_IF_ERROR(CheckScopes(catalog));
  return catalog;
}

uint32_t CatalogHash(ByteSpan payload) { return Crc32c(payload); }

}  // namespace sideband::mailbox
