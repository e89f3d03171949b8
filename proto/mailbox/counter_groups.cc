// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/counter_groups.h"

#include <algorithm>
#include <bit>

namespace sideband::mailbox {
namespace {

constexpr uint32_t kLogBits = 3;
constexpr uint32_t kLogMax = 4;

uint32_t WidthOf(std::span<const uint64_t> group) {
  uint64_t any = 0;
  for (const uint64_t counter : group) any |= counter;
  return static_cast<uint32_t>(std::bit_width(any));
}

// Calls `act` with each group of 2^log counters.
template <typename Span, typename Act>
void ForEachGroup(Span counters, uint32_t log, Act act) {
  const size_t size = size_t{1} << log;
  for (size_t at = 0; at < counters.size(); at += size) act(counters.subspan(at, std::min(size, counters.size() - at)));
}

size_t GroupsBits(std::span<const uint64_t> counters, uint32_t log) {
  size_t bits = 0;
  ForEachGroup(counters, log, [&](std::span<const uint64_t> group) {
    const uint32_t width = WidthOf(group);
    bits += WidthBits(width) + width * group.size();
  });
  return bits;
}

struct Choice {
  uint32_t log;
  size_t bits;
};

Choice Cheapest(std::span<const uint64_t> counters) {
  Choice best{kLogMax, GroupsBits(counters, kLogMax)};
  for (uint32_t log = 0; log < kLogMax; ++log) {
    const size_t bits = GroupsBits(counters, log);
    if (bits < best.bits) best = {log, bits};
  }
  return best;
}

}  // namespace

void EncodeCounters(std::span<const uint64_t> counters, BitWriter& out) {
  const uint32_t log = Cheapest(counters).log;
  out.Bits(log, kLogBits);
  ForEachGroup(counters, log, [&](std::span<const uint64_t> group) {
    const uint32_t width = WidthOf(group);
    out.Width(width);
    for (const uint64_t counter : group) out.Bits(counter, width);
  });
}

bool DecodeCounters(BitReader& in, std::span<uint64_t> counters) {
  const auto log = static_cast<uint32_t>(in.Bits(kLogBits));
  if (log > kLogMax) return false;
  ForEachGroup(counters, log, [&](std::span<uint64_t> group) {
    const uint32_t width = in.Width();
    for (uint64_t& counter : group) counter = in.Bits(width);
  });
  return true;
}

size_t CountersBits(std::span<const uint64_t> counters) { return kLogBits + Cheapest(counters).bits; }

}  // namespace sideband::mailbox
