// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/sealed_section.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog.h"

namespace sideband::mailbox {
namespace {

constexpr size_t kGroupBytes = 8;
constexpr size_t kGroups = kSealedPrefixBytes / kGroupBytes;

absl::Status MalformedRecords(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("sealed records: ", what));
}

// The base's record of the same VM, and of the same place among that VM's records; empty if there is none.
ByteSpan BaseOf(const std::vector<SealedBlocks>& sealed, size_t record, const std::vector<SealedBlocks>& base) {
  const uint16_t vm = sealed[record].vm;
  size_t place = 0;
  while (place < record && sealed[record - 1 - place].vm == vm) ++place;
  for (const SealedBlocks& of : base) {
    if (of.vm == vm && place-- == 0) return of.record;
  }
  return {};
}

ByteSpan GroupOf(ByteSpan bytes, size_t group) { return bytes.subspan(group * kGroupBytes, kGroupBytes); }

size_t WholeGroups(ByteSpan bytes) { return std::min(bytes.size() / kGroupBytes, kGroups); }

// Bit i: the i-th eight bytes are the base's.
uint16_t CommonGroups(ByteSpan record, ByteSpan base) {
  uint16_t common = 0;
  for (size_t group = 0; group < std::min(WholeGroups(record), WholeGroups(base)); ++group) {
    if (std::ranges::equal(GroupOf(record, group), GroupOf(base, group))) common |= 1 << group;
  }
  return common;
}

bool IsCommon(uint16_t common, size_t group) { return group < kGroups && (common >> group & 1) != 0; }

absl::StatusOr<Bytes> Assemble(size_t size, uint16_t common, ByteSpan base, ByteReader& in) {
  // Checked before memory is allocated.
  if (size == 0 || size > in.remaining() + kSealedPrefixBytes)
    return MalformedRecords("a record of an impossible length");
  Bytes record(size);
  for (size_t at = 0, group = 0; at < size; at += kGroupBytes, ++group) {
    const size_t width = std::min(kGroupBytes, size - at);
    const bool is_common = IsCommon(common, group);
    if (is_common && (width < kGroupBytes || group >= WholeGroups(base)))
      return MalformedRecords("the base has no such bytes");
    std::ranges::copy(is_common ? GroupOf(base, group) : in.Raw(width), record.begin() + static_cast<ptrdiff_t>(at));
  }
  if (size < kSealedPrefixBytes && common >> size / kGroupBytes != 0) return MalformedRecords("bytes beyond a record");
  return record;
}

}  // namespace

Bytes EncodeSealed(const std::vector<SealedBlocks>& sealed, const std::vector<SealedBlocks>& base) {
  ByteWriter out;
  for (size_t i = 0; i < sealed.size(); ++i) {
    const ByteSpan record = sealed[i].record;
    const uint16_t common = CommonGroups(record, BaseOf(sealed, i, base));
    out.U16(sealed[i].vm);
    out.U32(static_cast<uint32_t>(record.size()));
    out.U16(common);
    for (size_t at = 0, group = 0; at < record.size(); at += kGroupBytes, ++group) {
      if (!IsCommon(common, group)) out.Raw(record.subspan(at, std::min(kGroupBytes, record.size() - at)));
    }
  }
  return std::move(out).Take();
}

absl::StatusOr<std::vector<SealedBlocks>> DecodeSealed(ByteSpan payload, const std::vector<SealedBlocks>& base) {
  std::vector<SealedBlocks> sealed;
  for (ByteReader in(payload); in.remaining() != 0;) {
    const uint16_t vm = in.U16();
    const uint32_t size = in.U32();
    const uint16_t common = in.U16();
    if (!in.ok()) return MalformedRecords("truncated");
    if (vm == kHypervisorVm) return MalformedRecords("a record of no VM");
    if (!sealed.empty() && vm < sealed.back().vm) return MalformedRecords("VMs that do not ascend");
    sealed.push_back({vm, {}});
    SIDEBAND_ASSIGN_OR_RETURN(sealed.back().record,
                              Assemble(size, common, BaseOf(sealed, sealed.size() - 1, base), in));
    if (!in.ok()) return MalformedRecords("truncated");
  }
  return sealed;
}

}  // namespace sideband::mailbox
