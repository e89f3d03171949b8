// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/counter_groups.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "absl/numeric/int128.h"
#include "proto/base/bytes.h"

namespace sideband::mailbox {
namespace {

using Counters = std::span<const uint64_t>;

// The forms of increments (README.md, "Snapshot"): 0 to 4 are groups of 2^form.
constexpr uint32_t kFormBits = 3;
constexpr uint32_t kLogBits = 3;
constexpr uint32_t kLogMax = 4;
constexpr auto kAsBefore = static_cast<uint32_t>(Forms::kAsBefore);
constexpr auto kProportional = static_cast<uint32_t>(Forms::kProportional);
constexpr uint32_t kNarrowerBits = 8;
constexpr int kNarrowerMax = 64;

int BitWidth(uint64_t value) { return static_cast<int>(std::bit_width(value)); }

uint32_t WidthOf(Counters group) {
  uint64_t any = 0;
  for (const uint64_t counter : group) any |= counter;
  return static_cast<uint32_t>(std::bit_width(any));
}

// Calls `act` with the start and the size of each group of 2^log counters.
template <typename Act>
void ForEachGroup(size_t counters, uint32_t log, Act act) {
  const size_t size = size_t{1} << log;
  for (size_t at = 0; at < counters; at += size) act(at, std::min(size, counters - at));
}

size_t GroupsBits(Counters increments, uint32_t log) {
  size_t bits = 0;
  ForEachGroup(increments.size(), log, [&](size_t at, size_t size) {
    const uint32_t width = WidthOf(increments.subspan(at, size));
    bits += WidthBits(width) + width * size;
  });
  return bits;
}

// The smallest difference in width between a counter in the base and its increment, over all increments above 0.
int NarrowerBy(Counters increments, Counters before) {
  int narrower = kNarrowerMax;
  for (size_t i = 0; i < increments.size(); ++i) {
    if (increments[i] != 0) narrower = std::min(narrower, BitWidth(before[i]) - BitWidth(increments[i]));
  }
  return narrower;
}

uint32_t WidthAsBefore(uint64_t before, int narrower) {
  // Increments of 0 do not limit the difference, so the result may be out of range for their counters.
  return static_cast<uint32_t>(std::clamp(BitWidth(before) - narrower, 0, 64));
}

size_t AsBeforeBits(Counters increments, Counters before) {
  size_t bits = 0;
  ForEachGroup(increments.size(), kLogMax, [&](size_t at, size_t size) {
    const int narrower = NarrowerBy(increments.subspan(at, size), before.subspan(at, size));
    bits += kNarrowerBits;
    for (size_t i = at; i < at + size; ++i) bits += WidthAsBefore(before[i], narrower);
  });
  return bits;
}

// The increments that would be expected of counters that grow in proportion to their values.
class Proportion {
 public:
  // `total` is the sum of all increments. The values must not all be 0.
  Proportion(Counters before, uint64_t total)
      : total_(total), values_(std::accumulate(before.begin(), before.end(), absl::uint128())) {}

  // Not above the total, since no value is above the sum of the values.
  uint64_t Of(uint64_t value) const { return absl::Uint128Low64(absl::uint128(value) * total_ / values_); }

 private:
  const uint64_t total_;
  const absl::uint128 values_;
};

bool HasProportion(Counters before) {
  return std::any_of(before.begin(), before.end(), [](uint64_t value) { return value != 0; });
}

// The sum of the increments, and each one's difference from its share.
struct Shares {
  Shares(Counters increments, Counters before)
      : total(std::accumulate(increments.begin(), increments.end(), uint64_t{0})) {
    const Proportion expected(before, total);
    for (size_t i = 0; i < increments.size(); ++i)
      differences.push_back(WithSign(increments[i] - expected.Of(before[i])));
  }

  uint64_t total;
  std::vector<uint64_t, WipingAllocator<uint64_t>> differences;
};

struct Choice {
  uint32_t form;
  size_t bits;
};

// Of groups; the largest ones first: they win where another size is no shorter, which SnapshotStreamBytesMax() relies
// on.
Choice CheapestGroups(Counters increments) {
  Choice best{kLogMax, GroupsBits(increments, kLogMax)};
  for (uint32_t log = 0; log < kLogMax; ++log) {
    const size_t bits = GroupsBits(increments, log);
    if (bits < best.bits) best = {log, bits};
  }
  return best;
}

size_t NumberBits(uint64_t number) { return WidthBits(std::bit_width(number)) + std::bit_width(number); }

size_t SharesBits(const Shares& shares) {
  return kLogBits + NumberBits(shares.total) + CheapestGroups(shares.differences).bits;
}

Choice Cheapest(Counters increments, Counters before, Forms forms) {
  Choice best = CheapestGroups(increments);
  const auto consider = [&](uint32_t form, size_t bits) {
    if (bits < best.bits) best = {form, bits};
  };
  if (!before.empty()) consider(kAsBefore, AsBeforeBits(increments, before));
  if (forms >= Forms::kProportional && HasProportion(before)) {
    consider(kProportional, SharesBits(Shares(increments, before)));
  }
  return best;
}

void EncodeGroup(Counters group, BitWriter& out) {
  const uint32_t width = WidthOf(group);
  out.Width(width);
  for (const uint64_t counter : group) out.Bits(counter, width);
}

void EncodeAsBefore(Counters group, Counters before, BitWriter& out) {
  const int narrower = NarrowerBy(group, before);
  const int biased = narrower + kNarrowerMax;
  out.Bits(static_cast<uint64_t>(biased), kNarrowerBits);
  for (size_t i = 0; i < group.size(); ++i) out.Bits(group[i], WidthAsBefore(before[i], narrower));
}

void DecodeGroup(BitReader& in, std::span<uint64_t> group) {
  const uint32_t width = in.Width();
  for (uint64_t& counter : group) counter = in.Bits(width);
}

void DecodeAsBefore(BitReader& in, Counters before, std::span<uint64_t> group) {
  const int narrower = static_cast<int>(in.Bits(kNarrowerBits)) - kNarrowerMax;
  for (size_t i = 0; i < group.size(); ++i) group[i] = in.Bits(WidthAsBefore(before[i], narrower));
}

void EncodeGroups(Counters increments, uint32_t log, BitWriter& out) {
  ForEachGroup(increments.size(), log, [&](size_t at, size_t size) { EncodeGroup(increments.subspan(at, size), out); });
}

void EncodeShares(const Shares& shares, BitWriter& out) {
  const uint32_t log = CheapestGroups(shares.differences).form;
  out.Bits(log, kLogBits);
  out.Number(shares.total);
  EncodeGroups(shares.differences, log, out);
}

void DecodeGroups(BitReader& in, uint32_t log, std::span<uint64_t> increments) {
  ForEachGroup(increments.size(), log, [&](size_t at, size_t size) { DecodeGroup(in, increments.subspan(at, size)); });
}

bool DecodeShares(BitReader& in, Counters before, std::span<uint64_t> increments) {
  const auto log = static_cast<uint32_t>(in.Bits(kLogBits));
  if (log > kLogMax || before.size() != increments.size() || !HasProportion(before)) return false;
  const Proportion expected(before, in.Number());
  DecodeGroups(in, log, increments);
  for (size_t i = 0; i < increments.size(); ++i) increments[i] = expected.Of(before[i]) + WithoutSign(increments[i]);
  return true;
}

}  // namespace

void EncodeCounters(Counters increments, Counters before, Forms forms, BitWriter& out) {
  const uint32_t form = Cheapest(increments, before, forms).form;
  out.Bits(form, kFormBits);
  if (form == kProportional) return EncodeShares(Shares(increments, before), out);
  if (form != kAsBefore) return EncodeGroups(increments, form, out);
  ForEachGroup(increments.size(), kLogMax, [&](size_t at, size_t size) {
    EncodeAsBefore(increments.subspan(at, size), before.subspan(at, size), out);
  });
}

bool DecodeCounters(BitReader& in, Counters before, Forms forms, std::span<uint64_t> increments) {
  const auto form = static_cast<uint32_t>(in.Bits(kFormBits));
  if (form > static_cast<uint32_t>(forms)) return false;
  if (form == kProportional) return DecodeShares(in, before, increments);
  if (form != kAsBefore) {
    DecodeGroups(in, form, increments);
    return true;
  }
  if (before.size() != increments.size()) return false;
  ForEachGroup(increments.size(), kLogMax, [&](size_t at, size_t size) {
    DecodeAsBefore(in, before.subspan(at, size), increments.subspan(at, size));
  });
  return true;
}

size_t CountersBits(Counters increments, Counters before, Forms forms) {
  return kFormBits + Cheapest(increments, before, forms).bits;
}

}  // namespace sideband::mailbox
