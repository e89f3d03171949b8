// SPDX-License-Identifier: Apache-2.0
//
// A hostile clock: limits, packets and hulls. Bounds have their order and fit in their memory, and the hulls of an
// accepted strip give its fit again.
#include <algorithm>
#include <cstring>

#include "proto/clocks/clock_strip.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

using clocks::ClockBound;
using clocks::ClockLimits;
using clocks::ClockPacket;
using clocks::ClockStrip;
using clocks::Instant;
using clocks::StripHulls;

// Numbers from bytes; zeros after their end.
class Numbers {
 public:
  explicit Numbers(ByteSpan bytes) : bytes_(bytes) {}
  bool AtEnd() const { return bytes_.empty(); }
  template <typename T>
  T Next() {
    T value{};
    const size_t size = std::min(sizeof(T), bytes_.size());
    if (size > 0) std::memcpy(&value, bytes_.data(), size);  // no bytes may be at null
    bytes_ = bytes_.subspan(size);
    return value;
  }
  // Mostly small, sometimes anything.
  int64_t Any() {
    const auto kind = Next<uint8_t>();
    return kind % 4 == 0 ? Next<int64_t>() : kind % 4 == 1 ? Next<int32_t>() : Next<uint16_t>();
  }

 private:
  ByteSpan bytes_;
};

ClockLimits LimitsOf(Numbers& numbers) {
  ClockLimits limits{.period_shortest = static_cast<uint64_t>(numbers.Any())};
  const int64_t more = numbers.Any();
  limits.period_longest = more == 0 ? 0 : limits.period_shortest + static_cast<uint64_t>(more);
  limits.bar_low = numbers.Any();
  limits.bar_high = numbers.Any();
  limits.wander = static_cast<uint32_t>(numbers.Any());
  limits.announces = numbers.Next<uint8_t>() % 2 == 0;
  return limits;
}

ClockPacket PacketAfter(const ClockPacket& before, Numbers& numbers) {
  const auto flags = numbers.Next<uint8_t>();
  ClockPacket packet{.trigger = before.trigger + (flags & 3)};
  packet.edge = before.edge + static_cast<uint64_t>(numbers.Any());
  packet.reference = before.reference + (absl::int128(numbers.Any()) << (flags & 64 ? 40 : 0));
  if (flags & 4) packet.arrival = packet.reference + numbers.Any();
  packet.changed = (flags & 56) == 8;
  return packet;
}

void CheckBound(const ClockBound& bound) {
  FUZZ_CHECK(bound.range.low <= bound.range.high);
  if (bound.fit.has_value()) FUZZ_CHECK(bound.fit->low <= bound.fit->high);
}

void CheckHulls(const ClockStrip& strip) {
  const auto hulls = strip.Hulls();
  if (!hulls.ok()) return;
  const auto again = ClockStrip::OfHulls(strip.limits(), {}, *hulls);
  FUZZ_CHECK(again.ok() && *again->Hulls() == *hulls && again->Period() == strip.Period());
  for (const uint64_t x : {uint64_t{0}, uint64_t{1}, uint64_t{1000}}) {
    FUZZ_CHECK(again->BoundAt(*strip.newest_edge() + x).fit == strip.BoundAt(*strip.newest_edge() + x).fit);
  }
}

void CheckStrip(const ClockStrip& strip, Numbers& numbers) {
  FUZZ_CHECK(sizeof(strip) + strip.heap_bytes() <= 4096);
  const uint64_t newest = strip.newest_edge().value_or(0);
  for (const uint64_t edge : {newest, newest - 1, newest / 2, uint64_t{0}, ~uint64_t{0}, newest - numbers.Any()}) {
    CheckBound(strip.BoundAt(edge));
  }
  const Instant start = strip.BoundAt(newest / 2).range.low;
  const auto edges = strip.EdgesOf(start, start + numbers.Next<uint32_t>());
  FUZZ_CHECK(edges.ok() && edges->maybe.begin <= edges->surely.begin && edges->surely.end <= edges->maybe.end);
  clocks::CountsWithin(*edges, {{0, newest, newest}, {newest, newest / 2, 1}, {newest / 2, newest, ~uint64_t{0}}});
}

void AddPackets(ClockStrip& strip, Numbers& numbers) {
  ClockPacket newest;
  while (!numbers.AtEnd()) {
    const ClockPacket packet = PacketAfter(newest, numbers);
    const uint64_t segments = strip.counts().segments;
    const auto result = strip.Add(packet);
    if (result.ok()) newest = packet;
    FUZZ_CHECK(strip.counts().segments <= segments + 1);
  }
}

StripHulls HullsOf(Numbers& numbers) {
  StripHulls hulls{.edge = static_cast<uint64_t>(numbers.Any()), .origin = Instant(numbers.Any())};
  hulls.first_high = numbers.Any();
  hulls.packets = numbers.Next<uint8_t>();
  for (auto* hull : {&hulls.upper, &hulls.negated_lower}) {
    const size_t vertices = numbers.Next<uint8_t>() % 80;
    clocks::Vertex vertex;
    for (size_t i = 0; i < vertices && !numbers.AtEnd(); ++i) {
      vertex.x = static_cast<int64_t>(static_cast<uint64_t>(vertex.x) + static_cast<uint64_t>(numbers.Any()));
      vertex.y = static_cast<int64_t>(static_cast<uint64_t>(vertex.y) + static_cast<uint64_t>(numbers.Any()));
      hull->push_back(vertex);
    }
  }
  return hulls;
}

class Bytewise {
 public:
  template <typename T>
  Bytewise& Put(T value) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof(T));
    return *this;
  }
  // In the form that Numbers::Any reads.
  Bytewise& Any(int64_t value) { return Put<uint8_t>(0).Put(value); }
  Bytes Take() { return bytes_; }

 private:
  Bytes bytes_;
};

Bytewise WithLimits(uint8_t kind, int64_t more) {
  Bytewise bytes;
  bytes.Put(kind).Any(32'000).Any(more).Any(0).Any(200'000).Any(1000).Put<uint8_t>(0);
  return bytes;
}

std::vector<Bytes> Seeds() {
  std::vector<Bytes> seeds;
  for (const int64_t more : {0, 1'000}) {
    Bytewise bytes = WithLimits(0, more);
    for (int i = 0; i < 20; ++i)
      bytes.Put<uint8_t>(i % 8 == 7 ? 13 : 5).Any(1000).Any(32'500'000 + i * i * 100).Any(150'000);
    seeds.push_back(bytes.Take());
  }
  Bytewise hulls = WithLimits(1, 1'000);
  hulls.Any(500).Any(1000).Any(200'000).Put<uint8_t>(9);
  hulls.Put<uint8_t>(2).Any(0).Any(201'000).Any(1000).Any(32'500'000);
  hulls.Put<uint8_t>(2).Any(0).Any(1'000).Any(1000).Any(-32'500'000);
  seeds.push_back(hulls.Take());
  return seeds;
}

int RunInput(const uint8_t* data, size_t size) {
  Numbers numbers(ByteSpan(data, size));
  const bool from_hulls = numbers.Next<uint8_t>() % 2 == 1;
  const clocks::ClockLimits limits = LimitsOf(numbers);
  auto strip =
      from_hulls ? clocks::ClockStrip::OfHulls(limits, {}, HullsOf(numbers)) : clocks::ClockStrip::Create(limits, {});
  if (!strip.ok()) return 0;
  CheckStrip(*strip, numbers);
  AddPackets(*strip, numbers);
  CheckStrip(*strip, numbers);
  CheckHulls(*strip);
  return 0;
}

FUZZ_TARGET(clock_strip_fuzz);

}  // namespace
}  // namespace sideband::fuzz
