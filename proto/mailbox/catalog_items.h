// SPDX-License-Identifier: Apache-2.0
//
// The lists of a catalogue, which both versions of the catalogue contain (README.md, "Catalogue").
//   EncodeList(catalog.events, out);
//   SIDEBAND_RETURN_IF_ERROR(DecodeList(in, kEventsMax, catalog.events));
//   SIDEBAND_RETURN_IF_ERROR(CheckCatalog(catalog));
#ifndef SIDEBAND_PROTO_MAILBOX_CATALOG_ITEMS_H_
#define SIDEBAND_PROTO_MAILBOX_CATALOG_ITEMS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"
#include "proto/mailbox/catalog.h"

namespace sideband::mailbox {

// "catalogue: WHAT".
absl::Status MalformedCatalog(absl::string_view what);

Uuid DecodeUuid(ByteReader& in);

void Encode(const EventInfo& event, ByteWriter& out);
void Encode(const SliceInfo& slice, ByteWriter& out);
void Encode(const ContextInfo& context, ByteWriter& out);
void Encode(const HostBlockInfo& block, ByteWriter& out);
// A read past the end of `in` leaves it not ok. Returns false for a value that this version does not know.
bool Decode(ByteReader& in, EventInfo& event);
bool Decode(ByteReader& in, SliceInfo& slice);
bool Decode(ByteReader& in, ContextInfo& context);
bool Decode(ByteReader& in, HostBlockInfo& block);

template <typename T>
void EncodeList(const std::vector<T>& items, ByteWriter& out) {
  out.U16(static_cast<uint16_t>(items.size()));
  for (const T& item : items) Encode(item, out);
}

template <typename T, typename DecodeItem>
absl::Status DecodeListWith(ByteReader& in, size_t size_max, const DecodeItem& decode, std::vector<T>& items) {
  const size_t size = in.U16();
  if (size > size_max) return MalformedCatalog("a list is too long");
  // The size is untrusted: the loop also ends with the input.
  for (size_t i = 0; i < size && in.ok(); ++i) {
    if (!decode(in, items.emplace_back())) return MalformedCatalog("an entry has an unknown property");
  }
  return in.ok() ? absl::OkStatus() : MalformedCatalog("truncated");
}

template <typename T>
absl::Status DecodeList(ByteReader& in, size_t size_max, std::vector<T>& items) {
  return DecodeListWith(
      in, size_max, [](ByteReader& from, T& item) { return Decode(from, item); }, items);
}

// The list of VMs, whose bits differ by the version: those of `known` are written, and others refused.
inline constexpr uint8_t kConfidentialVm = 1 << 0;
inline constexpr uint8_t kPrivateVm = 1 << 1;
void EncodeVms(const std::vector<VmInfo>& vms, uint8_t known, ByteWriter& out);
absl::Status DecodeVms(ByteReader& in, uint8_t known, std::vector<VmInfo>& vms);

// Whether a text is one or more printable characters.
bool IsName(const std::string& name);
// Whether names are valid, and identities unique and complete.
absl::Status CheckCatalog(const Catalog& catalog);
// Whether gate groups have names of their own, and refer to events as these refer to them.
absl::Status CheckGateGroups(const Catalog& catalog);
// Whether selections have names of their own, and selectable events are those of slices whose groups tell their
// coverage.
absl::Status CheckSelections(const Catalog& catalog);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_CATALOG_ITEMS_H_
