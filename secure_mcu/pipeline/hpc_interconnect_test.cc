// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/hpc_interconnect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <vector>

namespace sideband::mcu {
namespace {

constexpr HpcManagerId kManager{.module = 3, .extend = 1};

HpcRequest RequestOf(uint64_t bitmap) { return {.manager = kManager, .bitmap = bitmap}; }

TEST(HpcInterconnectTest, GrantsAfterTheWay) {
  HpcInterconnect interconnect({.hop_cycles = 4}, 2);
  EXPECT_EQ(interconnect.NextGrant(), kNoCycle);
  interconnect.Send(1, RequestOf(0b1), 10);
  EXPECT_EQ(interconnect.NextGrant(), 14u);
  const HpcGrant grant = interconnect.Grant();
  EXPECT_EQ(grant.client, 1u);
  EXPECT_EQ(grant.cycle, 14u);
  EXPECT_EQ(interconnect.NextGrant(), kNoCycle);
}

TEST(HpcInterconnectTest, AGrantLastsTheWholeRequest) {
  HpcInterconnect interconnect({.hop_cycles = 1, .lookup_cycles = 3}, 2);
  interconnect.Send(0, RequestOf(0b111), 0);
  interconnect.Send(1, RequestOf(0), 0);  // a stamp only
  interconnect.Send(0, RequestOf(0b1), 0);
  EXPECT_EQ(interconnect.Grant().cycle, 1u);
  EXPECT_EQ(interconnect.Grant().cycle, 10u);
  EXPECT_EQ(interconnect.Grant().cycle, 11u);
}

TEST(HpcInterconnectTest, ManagersAreIndependent) {
  HpcInterconnect interconnect({.hop_cycles = 1, .lookup_cycles = 3}, 2);
  interconnect.Send(0, RequestOf(~uint64_t{0}), 0);
  interconnect.Send(1, {.manager = {.module = 4}, .bitmap = 1}, 0);
  EXPECT_EQ(interconnect.Grant().cycle, 1u);
  EXPECT_EQ(interconnect.Grant().cycle, 1u);
}

TEST(HpcInterconnectTest, AWithdrawalFreesTheManager) {
  HpcInterconnect interconnect({.hop_cycles = 1, .lookup_cycles = 10}, 2);
  interconnect.Send(0, RequestOf(0xFF), 0);
  interconnect.Send(0, RequestOf(0xFF), 0);
  interconnect.Grant();
  interconnect.Send(1, RequestOf(1), 1);
  interconnect.Withdraw(0, 5);
  EXPECT_EQ(interconnect.NextGrant(), 5u);
  EXPECT_EQ(interconnect.Grant().client, 1u);
  EXPECT_EQ(interconnect.NextGrant(), kNoCycle);
}

// A cancelled request may be answered longer than several others that the client made since.
TEST(HpcInterconnectTest, AWithdrawalFreesTheManagerOfAnOldAnswer) {
  HpcInterconnect interconnect({.hop_cycles = 1, .lookup_cycles = 10}, 2);
  interconnect.Send(0, RequestOf(0xFF), 0);
  interconnect.Grant();  // until cycle 81
  for (const uint16_t module : {4, 5}) {
    interconnect.Send(0, {.manager = {.module = module}, .bitmap = 1, .tag = 1}, 10u * module);
    interconnect.Grant();
  }
  interconnect.Send(1, RequestOf(1), 60);
  interconnect.Withdraw(0, 65);
  EXPECT_EQ(interconnect.NextGrant(), 65u);
}

TEST(HpcInterconnectTest, AWithdrawalLeavesTheAnswersOfOthers) {
  HpcInterconnect interconnect({.hop_cycles = 1, .lookup_cycles = 10}, 2);
  interconnect.Send(0, RequestOf(1), 0);
  interconnect.Grant();
  interconnect.Send(1, RequestOf(0xFF), 1);
  interconnect.Grant();  // from cycle 11 to 91
  interconnect.Send(0, RequestOf(1), 12);
  interconnect.Withdraw(0, 20);
  interconnect.Send(0, RequestOf(1), 20);
  EXPECT_EQ(interconnect.NextGrant(), 91u);
}

// Clients that ask at random: none waits longer for others than the bound, and a client that always asks has its turn
// after each of the others at most once.
TEST(HpcInterconnectTest, NobodyStarves) {
  std::mt19937 random(1);
  for (const uint32_t lookup : {1u, 2u, 16u}) {
    for (const size_t clients : {2u, 3u, 5u}) {
      const HpcTiming timing{.hop_cycles = 2, .lookup_cycles = lookup};
      HpcInterconnect interconnect(timing, clients);
      std::vector<uint64_t> asked(clients), grants(clients);
      const auto send = [&](size_t client, uint64_t cycle) {
        const uint64_t bitmap = client < 2 ? ~uint64_t{0} : uint64_t{random()} << 32 | random();
        interconnect.Send(client, RequestOf(bitmap), cycle);
        asked[client] = cycle;
      };
      for (size_t client = 0; client < clients; ++client) send(client, random() % 10);
      for (int i = 0; i < 3000; ++i) {
        const HpcGrant grant = interconnect.Grant();
        const uint64_t wait = grant.cycle - (asked[grant.client] + timing.hop_cycles);
        // Clients 0 and 1 ask again while they are answered, and so wait for themselves too.
        const size_t others = grant.client < 2 ? clients : clients - 1;
        ASSERT_LE(wait, others * (hpc::kCountersPerManager * lookup + 2 * timing.hop_cycles));
        ++grants[grant.client];
        const uint64_t end = grant.cycle + std::max<uint64_t>(1, std::popcount(grant.request.bitmap) * lookup);
        send(grant.client, grant.client < 2 ? grant.cycle : end + random() % 1000);
        ASSERT_LE(std::max(grants[0], grants[1]) - std::min(grants[0], grants[1]), 1u);
      }
    }
  }
}

void Triple(std::span<const uint16_t> events, std::span<uint64_t> counts) {
  for (size_t i = 0; i < events.size(); ++i) counts[i] += 3 * events[i];
}

TEST(HpcManagerTest, TakesTheSelectedEventsOfItsExtend) {
  const HpcRequest request{.manager = {.module = 1, .extend = 2}, .bitmap = uint64_t{1} << 63 | 0b101, .tag = 1};
  const HpcAnswer answer = AnswerOf(request, 100, {.hop_cycles = 2, .lookup_cycles = 5}, Triple);
  EXPECT_EQ(answer.tag, 1);
  EXPECT_EQ(answer.bitmap, request.bitmap);
  EXPECT_EQ(answer.values, (std::vector<uint64_t>{3 * 128, 3 * 130, 3 * 191}));
  EXPECT_EQ(answer.first_cycle, 107u);
  EXPECT_EQ(answer.interval, 5u);
  EXPECT_FALSE(answer.stamp);
}

TEST(HpcManagerTest, TheStampIsTheCycleOfTheGrant) {
  const HpcAnswer answer = AnswerOf({.stamp = true}, 100, {.hop_cycles = 2, .lookup_cycles = 5},
                                    [](std::span<const uint16_t>, std::span<uint64_t>) { FAIL(); });
  EXPECT_EQ(answer.stamp, 100u);
  EXPECT_EQ(answer.stamp_cycle, 102u);
  EXPECT_TRUE(answer.values.empty());
}

}  // namespace

}  // namespace sideband::mcu
