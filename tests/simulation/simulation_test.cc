// SPDX-License-Identifier: Apache-2.0
//
// Thousands of snapshots from devices that change, restart and are polled by another controller, over wires with every
// legal fault; SIDEBAND_SIMULATION_SEED (--test_env) repeats one seed. Each kind of fault alone: permanently, and once
// at every transaction of a few collections.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"
#include "tests/simulation/rig.h"

namespace sideband::tests {
namespace {

using absl::StatusCode;
using mailbox::MailboxStatus;
using sim::FaultKind;
using sim::FaultRule;

// --- All faults at random ---

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

// --- Each kind alone ---

constexpr auto kReads = FaultRule::Only::kReads;
constexpr auto kWrites = FaultRule::Only::kWrites;

SimulatedDevice::Options SmallDevice(uint64_t seed) {
  return {.seed = seed,
          .vms_max = 2,
          .contexts_max = 4,
          .events_max = 4,
          .extension = seed % 2 == 0 ? mailbox::ExtensionVersion::kOne : mailbox::ExtensionVersion::kTwo,
          .retires_one_in = 3};
}

sim::FaultPlan Once(FaultKind kind, uint64_t at, uint64_t seed) {
  FaultRule rule{.kind = kind, .from = at, .to = at, .time = absl::Milliseconds(1)};
  return {.seed = seed, .rules = {rule}};
}

// A permanent fault: the collector's status, and the outcome that the metrics report.
struct Forever {
  const char* name;
  FaultRule rule;
  StatusCode code;
  const char* outcome;
};

class FaultForeverTest : public testing::TestWithParam<Forever> {};

TEST_P(FaultForeverTest, IsAnErrorOfItsOwn) {
  const Forever& test = GetParam();
  Rig rig(SmallDevice(1), {.rules = {test.rule}});
  EXPECT_EQ(rig.CollectOnce().code(), test.code);
  EXPECT_GT(rig.outcomes().contains(test.outcome) ? rig.outcomes().at(test.outcome) : 0, 0u) << test.outcome;
  EXPECT_EQ(rig.accepted(), 0u);
  EXPECT_LE(rig.transactions(), rig.transactions_max());
  rig.SetPlan({});
  EXPECT_TRUE(rig.CollectOnce().ok()) << "when it has ended";
  EXPECT_EQ(rig.wrong(), "");
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, FaultForeverTest,
    testing::Values(
        Forever{"AddressNack", {.kind = FaultKind::kAddressNack}, StatusCode::kUnavailable, "address_nack"},
        Forever{"DataNack", {.kind = FaultKind::kDataNack}, StatusCode::kUnavailable, "data_nack"},
        Forever{"ArbitrationLost", {.kind = FaultKind::kArbitrationLost}, StatusCode::kAborted, "arbitration_lost"},
        Forever{"BusBusy", {.kind = FaultKind::kBusBusy}, StatusCode::kAborted, "arbitration_lost"},
        Forever{"StuckClock", {.kind = FaultKind::kStuckClock}, StatusCode::kDeadlineExceeded, "timeout"},
        Forever{"BitFlipInWhatIsRead",
                {.kind = FaultKind::kBitFlip, .only = kReads, .byte = 5},
                StatusCode::kDataLoss,
                "bad_pec"},
        Forever{"BitFlipInTheAddress",
                {.kind = FaultKind::kBitFlip, .byte = 0, .bit = 4},
                StatusCode::kUnavailable,
                "address_nack"},
        Forever{"BitFlipInTheDirection",
                {.kind = FaultKind::kBitFlip, .only = kWrites, .byte = 0, .bit = 0},
                StatusCode::kAborted,
                "arbitration_lost"},
        Forever{"BadPecOfWhatIsRead", {.kind = FaultKind::kBadPec, .only = kReads}, StatusCode::kDataLoss, "bad_pec"},
        Forever{"ShortBlock", {.kind = FaultKind::kShortBlock, .length = 3}, StatusCode::kDataLoss, "bad_length"},
        Forever{"EmptyBlock", {.kind = FaultKind::kShortBlock, .length = 0}, StatusCode::kDataLoss, "bad_length"},
        Forever{"LongBlock", {.kind = FaultKind::kLongBlock}, StatusCode::kDataLoss, "bad_length"},
        Forever{"BadPecOfAWindow",
                {.kind = FaultKind::kBadPec, .command = mailbox::kWindowFirst},
                StatusCode::kDataLoss,
                "bad_pec"},
        Forever{"ShortWindow",
                {.kind = FaultKind::kShortBlock, .command = mailbox::kWindowFirst},
                StatusCode::kDataLoss,
                "bad_length"},
        Forever{"BusyForever", {.kind = FaultKind::kBusyForever}, StatusCode::kDeadlineExceeded, "ok"},
        Forever{"Die", {.kind = FaultKind::kDie}, StatusCode::kUnavailable, "bus_error"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(FaultStatusTest, EveryStatusHasItsCode) {
  const struct {
    MailboxStatus status;
    StatusCode code;
  } kRows[] = {
      {MailboxStatus::kNull, StatusCode::kDeadlineExceeded},  // status of a pending request: polled until it changes
      {MailboxStatus::kErrRequest, StatusCode::kInvalidArgument},
      {MailboxStatus::kErrOpcode, StatusCode::kUnimplemented},
      {MailboxStatus::kErrArg1, StatusCode::kInvalidArgument},
      {MailboxStatus::kErrArg2, StatusCode::kInvalidArgument},
      {MailboxStatus::kErrData, StatusCode::kInvalidArgument},
      {MailboxStatus::kErrMisc, StatusCode::kInternal},
      {MailboxStatus::kErrI2cAccess, StatusCode::kInternal},
      {MailboxStatus::kErrNotSupported, StatusCode::kUnimplemented},
      {MailboxStatus::kErrNotAvailable, StatusCode::kUnavailable},
      {MailboxStatus::kErrBusy, StatusCode::kUnavailable},
      {MailboxStatus::kErrAgain, StatusCode::kAborted},
      {MailboxStatus::kErrSensorData, StatusCode::kInternal},
      {MailboxStatus::kErrDisposition, StatusCode::kInternal},
      {static_cast<MailboxStatus>(0x0E), StatusCode::kInternal},  // 0x0E to 0x1A have no name
      {static_cast<MailboxStatus>(0x1A), StatusCode::kInternal},
      {MailboxStatus::kPartialFailure, StatusCode::kInternal},
      {MailboxStatus::kAccepted, StatusCode::kInternal},
      {MailboxStatus::kInactive, StatusCode::kUnavailable},
      {MailboxStatus::kReady, StatusCode::kUnavailable},
      {MailboxStatus::kSuccess, StatusCode::kOk},
  };
  for (const auto& row : kRows) {
    SCOPED_TRACE(std::string(mailbox::StatusName(row.status)));
    Rig rig(SmallDevice(1), {.rules = {{.kind = FaultKind::kStatus, .status = row.status}}});
    EXPECT_EQ(rig.CollectOnce().code(), row.code);
    EXPECT_EQ(rig.wrong(), "");
    rig.SetPlan({});
    EXPECT_TRUE(rig.CollectOnce().ok());
  }
}

// The number of transactions of a few collections of this device without faults: the possible places of a fault.
constexpr int kCollections = 4;
uint64_t QuietTransactions(uint64_t seed) {
  Rig rig(SmallDevice(seed), {});
  for (int i = 0; i < kCollections; ++i) EXPECT_TRUE(rig.CollectOnce().ok());
  EXPECT_EQ(rig.wrong(), "");
  return rig.bus().transactions();
}

class FaultOnceTest : public testing::TestWithParam<FaultKind> {};

TEST_P(FaultOnceTest, CostsAnAttemptAtMostWhereverItIs) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const uint64_t places = QuietTransactions(seed);
    for (uint64_t at = 1; at <= places; ++at) {
      SCOPED_TRACE(testing::Message() << "device " << seed << ", transaction " << at);
      Rig rig(SmallDevice(seed), Once(GetParam(), at, seed * 1000 + at));
      int failed = 0;
      for (int i = 0; i < kCollections + 1; ++i) failed += rig.CollectOnce().ok() ? 0 : 1;
      ASSERT_LE(failed, 1);
      ASSERT_GE(rig.accepted(), uint64_t{kCollections});
      ASSERT_EQ(rig.wrong(), "");
      ASSERT_LE(rig.transactions(), rig.transactions_max());
      ASSERT_EQ(rig.boot_id(), GetParam() == FaultKind::kReset ? 2u : 1u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, FaultOnceTest,
                         testing::Values(FaultKind::kAddressNack, FaultKind::kDataNack, FaultKind::kArbitrationLost,
                                         FaultKind::kBusBusy, FaultKind::kStuckClock, FaultKind::kBitFlip,
                                         FaultKind::kBadPec, FaultKind::kShortBlock, FaultKind::kLongBlock,
                                         FaultKind::kBusyForever, FaultKind::kStatus, FaultKind::kDie,
                                         FaultKind::kReset, FaultKind::kSupersede, FaultKind::kChangeCatalog,
                                         FaultKind::kDelay),
                         [](const auto& info) { return std::string(sim::FaultName(info.param)); });

// The device processes the bytes that it received before the controller died; the next session starts from that state.
TEST(DyingControllerTest, TheNextSessionWorksWhereverItDied) {
  constexpr uint32_t kBytes = 10;  // more than any transaction here, so that the controller also dies after the STOP
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const uint64_t places = QuietTransactions(seed);
    for (uint64_t at = 1; at <= places; ++at) {
      for (uint32_t byte = 0; byte <= kBytes; ++byte) {
        SCOPED_TRACE(testing::Message() << "device " << seed << ", transaction " << at << ", byte " << byte);
        sim::FaultPlan plan = Once(FaultKind::kDie, at, seed);
        plan.rules[0].byte = byte;
        Rig rig(SmallDevice(seed), plan);
        while (rig.bus().count(FaultKind::kDie) == 0) static_cast<void>(rig.CollectOnce());
        rig.RestartController();
        ASSERT_TRUE(rig.CollectOnce().ok());
        ASSERT_TRUE(rig.CollectOnce().ok());
        ASSERT_EQ(rig.wrong(), "");
      }
    }
  }
}

// After a restart of the device another controller latches until the newest snapshot has the id of the one that this
// controller holds from the previous boot: naming the held snapshot must not acknowledge the new one.
TEST(RestartTest, SnapshotsOfTwoBootsAreNotTakenForEachOther) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    for (int id = 1; id <= 3; ++id) {
      Rig rig(SmallDevice(seed), {});
      for (int i = 0; i < id; ++i) ASSERT_TRUE(rig.CollectOnce().ok());
      rig.RestartDevice();
      for (int i = 0; i < id; ++i) rig.LatchByAnother();
      for (int i = 0; i < 3; ++i) ASSERT_TRUE(rig.CollectOnce().ok());
      ASSERT_EQ(rig.wrong(), "") << "device " << seed << ", snapshot " << id;
    }
  }
}

// The controller may also be replaced by one without state while the device continues.
TEST(DyingControllerTest, ANewControllerSeesTheSameDevice) {
  Rig rig(SmallDevice(2), {});
  for (int i = 0; i < 50; ++i) {
    if (i % 7 == 0) rig.RestartController();
    if (i % 11 == 0) rig.RestartDevice();
    ASSERT_TRUE(rig.CollectOnce().ok());
    ASSERT_EQ(rig.wrong(), "");
  }
  EXPECT_EQ(rig.accepted(), 50u);
}

}  // namespace
}  // namespace sideband::tests
