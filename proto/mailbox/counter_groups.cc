// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/counter_groups.h"

#include <algorithm>
#include <bit>

namespace sideband::mailbox {
namespace {

using Counters = std::span<const uint64_t>;

// The forms of increments (README.md, "Snapshot"): 0 to 4 are groups of 2^form; form 5 takes the widths from the base's
// counters.
constexpr uint32_t kFormBits = 3;
constexpr uint32_t kLogMax = 4;
constexpr uint32_t kAsBefore = kLogMax + 1;
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

struct Choice {
  uint32_t form;
  size_t bits;
};

Choice Cheapest(Counters increments, Counters before) {
  // The largest groups first: they win where another form is no shorter, which SnapshotStreamBytesMax() relies on.
  Choice best{kLogMax, GroupsBits(increments, kLogMax)};
  const auto consider = [&](uint32_t form, size_t bits) {
    if (bits < best.bits) best = {form, bits};
  };
  for (uint32_t log = 0; log < kLogMax; ++log) consider(log, GroupsBits(increments, log));
  if (!before.empty()) consider(kAsBefore, AsBeforeBits(increments, before));
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

}  // namespace

void EncodeCounters(Counters increments, Counters before, BitWriter& out) {
  const uint32_t form = Cheapest(increments, before).form;
  out.Bits(form, kFormBits);
  ForEachGroup(increments.size(), std::min(form, kLogMax), [&](size_t at, size_t size) {
    const Counters group = increments.subspan(at, size);
    if (form == kAsBefore) return EncodeAsBefore(group, before.subspan(at, size), out);
    EncodeGroup(group, out);
  });
}

bool DecodeCounters(BitReader& in, Counters before, std::span<uint64_t> increments) {
  const auto form = static_cast<uint32_t>(in.Bits(kFormBits));
  if (form > kAsBefore || (form == kAsBefore && before.size() != increments.size())) return false;
  ForEachGroup(increments.size(), std::min(form, kLogMax), [&](size_t at, size_t size) {
    const auto group = increments.subspan(at, size);
    if (form == kAsBefore) return DecodeAsBefore(in, before.subspan(at, size), group);
    DecodeGroup(in, group);
  });
  return true;
}

size_t CountersBits(Counters increments, Counters before) { return kFormBits + Cheapest(increments, before).bits; }

}  // namespace sideband::mailbox
