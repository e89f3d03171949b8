// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/domain_router.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace sideband::mcu {
namespace {

TEST(DomainRouterTest, AddsUpTheCountsOfATrigger) {
  DomainRouter router(2, 1);
  const ClockPacket clock{.number = 5, .local_clock = 30'205};
  router.Add({.number = 5, .unit = 1, .counts = {{3, 20}, {1, 0}}});
  router.Add({.number = 6, .unit = 1, .counts = {{3, 1}}});
  router.Add({.number = 5, .unit = 0, .clock = clock});
  router.Add({.number = 5, .unit = 2, .counts = {{3, 5}, {0, 9}}});
  const AggregatePacket five{.channel = 2, .domain = 1, .number = 5, .clock = clock, .counts = {{0, 9}, {3, 25}}};
  const AggregatePacket six{.channel = 2, .domain = 1, .number = 6, .counts = {{3, 1}}};
  EXPECT_EQ(router.Take(), (std::vector<AggregatePacket>{five, six}));
  EXPECT_TRUE(router.Take().empty());
}

// Law 8. Units of one domain, whose packets of several triggers come in any order.
std::vector<ReturnPacket> FullPackets() {
  std::vector<ReturnPacket> packets;
  for (uint32_t number = 1; number <= 3; ++number) {
    for (uint16_t unit = 0; unit < 5; ++unit) {
      packets.push_back(
          {.number = number,
           .unit = unit,
           .clock = ClockPacket{.number = static_cast<uint16_t>(number), .local_clock = 100 * number + unit}});
      for (uint16_t event = 0; event < 4; ++event) {
        packets.back().counts.push_back({event, *rc::gen::inRange<uint64_t>(0, 1 << 28)});
      }
    }
  }
  return packets;
}

std::vector<AggregatePacket> Merge(std::vector<ReturnPacket> packets, const std::vector<uint32_t>& order) {
  DomainRouter router(0, 1);
  for (size_t i = packets.size(); i > 1; --i) std::swap(packets[i - 1], packets[order[i - 1] % i]);
  for (const ReturnPacket& packet : packets) router.Add(packet);
  return router.Take();
}

RC_GTEST_PROP(DomainRouterPropertyTest, TheAggregateIsTheSumAndTheSplitFormIsTheFullForm, ()) {
  const std::vector<ReturnPacket> full = FullPackets();
  std::vector<ReturnPacket> split;
  for (const ReturnPacket& packet : full) {
    split.push_back({.number = packet.number, .unit = packet.unit, .counts = packet.counts});
    if (packet.unit == 0) split.push_back({.number = packet.number, .unit = 0, .clock = packet.clock});
  }
  const auto order = *rc::gen::container<std::vector<uint32_t>>(2 * full.size(), rc::gen::arbitrary<uint32_t>());
  const std::vector<AggregatePacket> merged = Merge(full, order);
  RC_ASSERT(Merge(split, order) == merged);
  RC_ASSERT(merged.size() == 3u);
  for (const AggregatePacket& aggregate : merged) {
    RC_ASSERT(aggregate.clock->local_clock == 100 * aggregate.number);
    for (uint16_t event = 0; event < 4; ++event) {
      uint64_t sum = 0;
      for (const ReturnPacket& packet : full) sum += packet.number == aggregate.number ? packet.counts[event].count : 0;
      const auto found = std::ranges::find(aggregate.counts, event, &EventCount::event);
      RC_ASSERT((found == aggregate.counts.end() ? 0 : found->count) == sum);
    }
  }
}

}  // namespace
}  // namespace sideband::mcu
