// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/sections.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/blocks.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

constexpr uint32_t kBookmarkCountBits = 16;
constexpr uint32_t kBlockBits = 16;
constexpr uint32_t kBookmarkBits = 32;

absl::Status MalformedBookmarks(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("bookmarks: ", what));
}

// The base has all bookmarks up to this number.
uint64_t NewestOf(const Snapshot* base) {
  return base == nullptr || base->bookmarks.empty() ? 0 : base->bookmarks.back().number;
}

void Write(const Snapshot& snapshot, const ServedBookmark& served, BitWriter& out) {
  out.Bits(served.block, kBlockBits);
  out.Bits(served.bookmark, kBookmarkBits);
  out.Number(snapshot.reference_time_ns - served.served_ns);
  out.Number(served.served_ns - served.asked_ns);
  const std::span<const uint64_t> now = snapshot.Counters(served.block);
  for (size_t i = 0; i < now.size(); ++i) out.Number(now[i] - served.counters[i]);
}

absl::Status Read(BitReader& in, const Snapshot& snapshot, ServedBookmark& served) {
  served.block = static_cast<uint16_t>(in.Bits(kBlockBits));
  if (served.block >= snapshot.blocks.size()) return MalformedBookmarks("one of an unknown block");
  served.bookmark = static_cast<uint32_t>(in.Bits(kBookmarkBits));
  const uint64_t since_served = in.Number(), waited = in.Number();
  if (since_served > snapshot.reference_time_ns || waited > snapshot.reference_time_ns - since_served) {
    return MalformedBookmarks("one from before the boot");
  }
  served.served_ns = snapshot.reference_time_ns - since_served;
  served.asked_ns = served.served_ns - waited;
  served.counters.reserve(snapshot.counters_per_block);
  for (const uint64_t now : snapshot.Counters(served.block)) {
    const uint64_t since = in.Number();
    if (since > now) return MalformedBookmarks("one with more counts than its block");
    served.counters.push_back(now - since);
  }
  return in.ok() ? absl::OkStatus() : MalformedBookmarks("truncated");
}

}  // namespace

Bytes EncodeBookmarks(const Snapshot& snapshot, const Snapshot* base, const std::set<uint16_t>& whole) {
  std::vector<const ServedBookmark*> fresh;
  for (const ServedBookmark& served : snapshot.bookmarks) {
    const bool is_hidden = IsWrittenWhole(snapshot.blocks[served.block], whole);
    if (served.number > NewestOf(base) && !is_hidden) fresh.push_back(&served);
  }
  if (fresh.empty()) return {};
  // The oldest are left out where a reader could not take all.
  const size_t most = std::min<size_t>(UINT16_MAX, kCountersMax / std::max<size_t>(1, snapshot.counters_per_block));
  if (fresh.size() > most) fresh.erase(fresh.begin(), fresh.end() - static_cast<ptrdiff_t>(most));
  BitWriter out;
  out.Bits(fresh.size(), kBookmarkCountBits);
  uint64_t before = 0;
  for (const ServedBookmark* const served : fresh) {
    out.Number(served->number - std::exchange(before, served->number));
    Write(snapshot, *served, out);
  }
  return std::move(out).Take();
}

absl::Status DecodeBookmarks(ByteSpan bits, Snapshot& snapshot) {
  BitReader in(bits);
  const size_t count = in.Bits(kBookmarkCountBits);
  if (count == 0) return MalformedBookmarks("none");
  if (count * snapshot.counters_per_block > kCountersMax) return MalformedBookmarks("too many");
  uint64_t before = 0;
  std::vector<uint8_t> of_block(snapshot.blocks.size());
  for (size_t i = 0; i < count; ++i) {
    ServedBookmark& served = snapshot.bookmarks.emplace_back();
    served.number = before + in.Number();
    if (served.number <= before) return MalformedBookmarks("numbers do not ascend");
    before = served.number;
    SIDEBAND_RETURN_IF_ERROR(Read(in, snapshot, served));
    if (++of_block[served.block] > kBookmarksKept) return MalformedBookmarks("more of a block than are kept");
  }
  return in.AtEnd() ? absl::OkStatus() : MalformedBookmarks("bits left over");
}

namespace {

// The expected clocks of a snapshot. Without a base, and where it has no such reading, all numbers are 0.
class ExpectedClocks {
 public:
  ExpectedClocks(const Snapshot& snapshot, const Snapshot* base, size_t domains)
      : base_(base != nullptr && base->clocks.size() == domains ? base : nullptr),
        time_ns_(snapshot.reference_time_ns) {}

  // A clock goes on as it has gone since boot, which costs a third of its increment and is exact of a steady one.
  // Packets take about the same time from latch to latch.
  ClockReading Of(size_t domain) const {
    if (base_ == nullptr || !base_->clocks[domain]) return {};
    ClockReading expected = *base_->clocks[domain];
    const uint64_t before = expected.local_clock, before_ns = base_->reference_time_ns;
    if (before_ns == 0) return expected;
    expected.local_clock += absl::Uint128Low64(absl::uint128(before) * (time_ns_ - before_ns) / before_ns);
    return expected;
  }

 private:
  const Snapshot* const base_;
  const uint64_t time_ns_;
};

void Encode(const ClockReading& clock, const ClockReading& expected, BitWriter& out) {
  out.Number(WithSign(clock.local_clock - expected.local_clock));
  out.Number(clock.horizon_lag);
  out.Number(WithSign(clock.arrival - expected.arrival));
  out.Number(WithSign(uint64_t{clock.changes} - expected.changes));
}

absl::Status Decode(BitReader& in, const ClockReading& expected, ClockReading& clock) {
  clock.local_clock = expected.local_clock + WithoutSign(in.Number());
  clock.horizon_lag = in.Number();
  clock.arrival = expected.arrival + WithoutSign(in.Number());
  const uint64_t changes = expected.changes + WithoutSign(in.Number());
  if (changes > std::numeric_limits<uint32_t>::max()) return MalformedClocks("too many changes");
  clock.changes = static_cast<uint32_t>(changes);
  return absl::OkStatus();
}

}  // namespace

Bytes EncodeClocks(const Snapshot& snapshot, const Snapshot* base) {
  const size_t domains = snapshot.clocks.size();
  const bool is_as_before = base != nullptr && base->clocks.size() == domains;
  BitWriter out;
  out.Bit(is_as_before);
  if (!is_as_before) out.Bits(domains - 1, kDomainNumberBits);
  const ExpectedClocks expected(snapshot, base, domains);
  for (size_t domain = 0; domain < domains; ++domain) {
    const std::optional<ClockReading>& clock = snapshot.clocks[domain];
    out.Bit(clock.has_value());
    if (clock) Encode(*clock, expected.Of(domain), out);
  }
  return std::move(out).Take();
}

absl::Status DecodeClocks(ByteSpan bits, const Snapshot* base, Snapshot& snapshot) {
  BitReader in(bits);
  const bool is_as_before = in.Bit();
  if (is_as_before && (base == nullptr || base->clocks.empty())) return MalformedClocks("as many as in no snapshot");
  const size_t domains = is_as_before ? base->clocks.size() : in.Bits(kDomainNumberBits) + 1;
  const ExpectedClocks expected(snapshot, base, domains);
  for (size_t domain = 0; domain < domains; ++domain) {
    std::optional<ClockReading>& clock = snapshot.clocks.emplace_back();
    if (in.Bit()) SIDEBAND_RETURN_IF_ERROR(Decode(in, expected.Of(domain), clock.emplace()));
  }
  if (!in.ok()) return MalformedClocks("truncated");
  return in.AtEnd() ? absl::OkStatus() : MalformedClocks("bits left over");
}

Bytes EncodeLinePulse(const Snapshot& snapshot, const Snapshot* base) {
  const auto& pulse = snapshot.line_pulse;
  if (!pulse || (base != nullptr && base->line_pulse == pulse)) return {};
  ByteWriter out;
  out.U64(pulse->pulses);
  out.U64(pulse->reference_cycle);
  out.U8(pulse->is_own ? 1 : 0);
  return std::move(out).Take();
}

absl::Status DecodeLinePulse(const ByteSpan* payload, const Snapshot* base, Snapshot& snapshot) {
  if (payload == nullptr) {
    if (base != nullptr) snapshot.line_pulse = base->line_pulse;
    return absl::OkStatus();
  }
  ByteReader in(*payload);
  LinePulse pulse;
  pulse.pulses = in.U64();
  pulse.reference_cycle = in.U64();
  const uint8_t is_own = in.U8();
  pulse.is_own = is_own == 1;
  if (!in.ok() || in.remaining() != 0) return absl::InvalidArgumentError("trigger line: a pulse of a wrong length");
  if (pulse.pulses == 0 || is_own > 1) return absl::InvalidArgumentError("trigger line: a pulse that cannot be");
  snapshot.line_pulse = pulse;
  return absl::OkStatus();
}

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
