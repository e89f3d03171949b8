// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/bookmark_section.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/bit_stream.h"
#include "proto/mailbox/block_encoder.h"

namespace sideband::mailbox {
namespace {

constexpr uint32_t kBookmarkCountBits = 16;
constexpr uint32_t kBlockBits = 16;
constexpr uint32_t kBookmarkBits = 32;

absl::Status MalformedBookmarks(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("bookmarks: ", what));
}

// Of an earlier number the base has all that there were.
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

}  // namespace sideband::mailbox
