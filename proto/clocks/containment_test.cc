// SPDX-License-Identifier: Apache-2.0
//
// Law 3 of clocks.md, section 7, at length.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "proto/clocks/clock_strip.h"
#include "proto/clocks/test_clock.h"

namespace sideband::clocks {
namespace {

constexpr int kCases = 2000, kPackets = 200, kChecksPerPacket = 25;

// The number of edges whose instant is outside its bound, after each packet.
int Outside(const ClockCase& drawn, std::mt19937_64& draws) {
  auto strip = ClockStrip::Create(drawn.limits, {});
  if (!strip.ok()) return 1;
  const uint64_t span = drawn.packets.back().edge + 1000;
  int outside = 0;
  for (const ClockPacket& packet : drawn.packets) {
    outside += strip->Add(packet).ok() ? 0 : 1;
    for (int i = 0; i < kChecksPerPacket; ++i) {
      const uint64_t edge = draws() % span;
      outside += Contains(strip->BoundAt(edge).range, drawn.clock.At(edge)) ? 0 : 1;
    }
  }
  return outside;
}

TEST(ContainmentTest, OfTenMillionEdges) {
  static_assert(kCases * kPackets * kChecksPerPacket == 10'000'000);
  std::mt19937_64 draws(1);
  for (uint64_t seed = 0; seed < kCases; ++seed) {
    const CaseOptions options{
        .kind = static_cast<ClockKind>(seed % 4), .packets = kPackets, .lost_percent = seed % 3 == 0 ? 50 : 0};
    ASSERT_EQ(Outside(DrawCase(options, seed), draws), 0) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sideband::clocks
