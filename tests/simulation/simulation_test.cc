// SPDX-License-Identifier: Apache-2.0
//
// Thousands of snapshots from devices that change, restart and are polled by another controller, over wires with every
// legal fault. SIDEBAND_SIMULATION_SEED (--test_env) repeats one seed.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tests/simulation/rig.h"

namespace sideband::tests {
namespace {

using sim::FaultKind;

constexpr uint64_t kAcceptedPerSeed = 2100;

// The fixed seeds, so that consecutive changes are tested with the same cases, and one new seed each time.
std::vector<uint64_t> Seeds() {
  if (const char* const seed = std::getenv("SIDEBAND_SIMULATION_SEED")) return {std::strtoull(seed, nullptr, 0)};
  std::random_device random;
  return {1, 2, 3, 4, 5, uint64_t{random()} << 32 | random()};
}

SimulatedDevice::Options DrawDevice(uint64_t seed) {
  std::mt19937_64 random(seed);
  constexpr uint16_t kVms[] = {1, 4, 5};
  constexpr uint16_t kContexts[] = {2, 8, 8};
  constexpr uint16_t kEvents[] = {2, 32, 64};
  return {.seed = seed,
          .vms_max = kVms[random() % 3],
          .contexts_max = kContexts[random() % 3],
          .events_max = kEvents[random() % 3],
          .extension = seed / 2 % 2 == 0 ? mailbox::ExtensionVersion::kOne : mailbox::ExtensionVersion::kTwo};
}

// A plan with every kind of fault, each with a rate between never and often.
sim::FaultPlan DrawPlan(uint64_t seed) {
  std::mt19937_64 random(seed ^ 0x5EED);
  sim::FaultPlan plan{.seed = seed};
  for (size_t i = 0; i < sim::kFaultKinds; ++i) {
    sim::FaultRule rule{.kind = static_cast<FaultKind>(i),
                        .probability = 0.03 * static_cast<double>(random() % 1000) / 1000};
    if (!sim::IsWireFault(rule.kind) || rule.kind == FaultKind::kDie) rule.probability /= 4;
    if (rule.kind == FaultKind::kDelay) rule.time = absl::Milliseconds(20);
    if (rule.kind == FaultKind::kBitFlip) rule.bits = static_cast<uint8_t>(1 + random() % sim::FaultPlan::kBitsMax);
    if (rule.kind == FaultKind::kStatus) rule.status = static_cast<mailbox::MailboxStatus>(random() % 32);
    plan.rules.push_back(rule);
  }
  return plan;
}

std::string FaultCounts(const sim::FaultyBus& bus) {
  std::string text;
  for (size_t i = 0; i < sim::kFaultKinds; ++i) {
    const auto kind = static_cast<FaultKind>(i);
    text += " " + std::string(sim::FaultName(kind)) + "=" + std::to_string(bus.count(kind));
  }
  return text;
}

class SimulationTest : public testing::TestWithParam<uint64_t> {};

TEST_P(SimulationTest, NeverAWrongCount) {
  const uint64_t seed = GetParam();
  SCOPED_TRACE("SIDEBAND_SIMULATION_SEED=" + std::to_string(seed));
  // Odd seeds use an adapter that supports only SMBus 2.
  Rig rig(DrawDevice(seed), DrawPlan(seed), seed % 2 == 0 ? smbus::kBlockBytesMax : 32);
  uint64_t attempts = 0, failed = 0, transactions_most = 0;
  while (rig.accepted() < kAcceptedPerSeed) {
    ASSERT_LT(++attempts, 4 * kAcceptedPerSeed) << "most snapshots should come through";
    if (!rig.CollectOnce().ok()) ++failed;
    ASSERT_EQ(rig.wrong(), "");
    ASSERT_LE(rig.transactions(), rig.transactions_max());
    transactions_most = std::max(transactions_most, rig.transactions());
  }
  std::printf(
      "seed %llu: %llu snapshots in %llu attempts, %llu of them failed, %llu boots, at most %llu transactions;%s\n",
      static_cast<unsigned long long>(seed), static_cast<unsigned long long>(rig.accepted()),
      static_cast<unsigned long long>(attempts), static_cast<unsigned long long>(failed),
      static_cast<unsigned long long>(rig.boot_id()), static_cast<unsigned long long>(transactions_most),
      FaultCounts(rig.bus()).c_str());
  // On a bus without faults the next collection succeeds, regardless of the previous faults.
  rig.SetPlan({});
  const uint64_t before = rig.accepted();
  EXPECT_TRUE(rig.CollectOnce().ok());
  EXPECT_EQ(rig.accepted(), before + 1);
  EXPECT_EQ(rig.wrong(), "");
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimulationTest, testing::ValuesIn(Seeds()),
                         [](const auto& info) { return "Seed" + std::to_string(info.index); });

}  // namespace
}  // namespace sideband::tests
