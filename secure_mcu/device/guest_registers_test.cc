// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/guest_registers.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "secure_mcu/chip_file/chip_file.h"

namespace sideband::mcu {
namespace {

using Verdict = ThreadTurn::Verdict;
constexpr uint64_t kTurn = ThreadTurn::kTurnNs;

TEST(ThreadTurnTest, AThreadAloneGoesOnForEver) {
  ThreadTurn turn;
  EXPECT_EQ(turn.Ask(1, 0), Verdict::kBegins);
  for (const uint64_t now : {uint64_t{1}, kTurn - 1, kTurn, 10 * kTurn, 100 * kTurn}) {
    EXPECT_EQ(turn.Ask(1, now), Verdict::kGoesOn);
  }
}

TEST(ThreadTurnTest, AnotherWaitsForTheEndOfTheTurn) {
  ThreadTurn turn;
  turn.Ask(1, 0);
  EXPECT_EQ(turn.Ask(2, kTurn - 1), Verdict::kWaits);
  EXPECT_EQ(turn.Ask(1, kTurn - 1), Verdict::kGoesOn) << "who asks does not disturb";
  EXPECT_EQ(turn.Ask(2, kTurn), Verdict::kBegins);
  EXPECT_EQ(turn.Ask(1, kTurn + 1), Verdict::kWaits);
}

TEST(ThreadTurnTest, ATurnThatIsOverGoesToTheFirstWhoAsks) {
  ThreadTurn turn;
  turn.Ask(1, 0);
  EXPECT_EQ(turn.Ask(2, 5 * kTurn), Verdict::kBegins);
}

TEST(ThreadTurnTest, WhoAskedFirstIsNextAlsoIfOthersAskSooner) {
  ThreadTurn turn;
  turn.Ask(1, 0);
  turn.Ask(2, 5);
  turn.Ask(3, 6);
  EXPECT_EQ(turn.Ask(1, kTurn), Verdict::kWaits);
  EXPECT_EQ(turn.Ask(3, kTurn + 1), Verdict::kWaits);
  EXPECT_EQ(turn.Ask(2, kTurn + 2), Verdict::kBegins);
  EXPECT_EQ(turn.Ask(1, 2 * kTurn + 3), Verdict::kWaits);
  EXPECT_EQ(turn.Ask(3, 2 * kTurn + 4), Verdict::kBegins);
}

TEST(ThreadTurnTest, WhoDoesNotAskInTimeIsPassedOver) {
  ThreadTurn turn;
  turn.Ask(1, 0);
  turn.Ask(2, 5);
  EXPECT_EQ(turn.Ask(1, kTurn), Verdict::kWaits);
  EXPECT_EQ(turn.Ask(1, kTurn + ThreadTurn::kGraceNs - 1), Verdict::kWaits);
  EXPECT_EQ(turn.Ask(1, kTurn + ThreadTurn::kGraceNs), Verdict::kBegins) << "the other has gone away";
}

TEST(ThreadTurnTest, AThreadThatEndsLeavesAtOnce) {
  ThreadTurn turn;
  turn.Ask(1, 0);
  turn.End(2);
  EXPECT_EQ(turn.Ask(2, 1), Verdict::kWaits);
  turn.End(1);
  EXPECT_EQ(turn.Ask(2, 10 * kTurn), Verdict::kBegins);
  turn.Ask(3, 10 * kTurn + 1);
  turn.End(3);
  EXPECT_EQ(turn.Ask(2, 20 * kTurn), Verdict::kGoesOn) << "nobody waits any more";
}

// Beside threads that never pause, one that asks each millisecond begins as many turns as they.
TEST(ThreadTurnTest, FloodsStarveNobody) {
  for (const uint64_t floods : {1, 2, 3, 7}) {
    ThreadTurn turn;
    std::map<uint64_t, int> begun;
    for (uint64_t now = 0; now < 1000 * kTurn; now += kTurn / 100) {
      for (uint64_t thread = 1; thread <= floods; ++thread) {
        if (turn.Ask(thread, now) == Verdict::kBegins) ++begun[thread];
      }
      if (now % kTurn == 0 && turn.Ask(100, now) == Verdict::kBegins) ++begun[100];
    }
    EXPECT_GE(begun[100] + 1, begun[1]) << floods << " floods";
    EXPECT_GT(begun[100], 100) << floods << " floods";
  }
}

// Slice 0: a job of vm1 and one of vm2, by turns of 10 ms. Slice 1: vm1's second job, for ever.
constexpr char kGuestRegistersChip[] = R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
slices: 2
units: [{name: sm, events: [sm_active_cycles]}]
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    counting: {useren: true}
    contexts:
      - {name: job, slice: 0, seed: 1, phases: [{kind: gemm, time: 2ms}]}
      - {name: second, slice: 1, seed: 2, phases: [{kind: gemm, time: 2ms}]}
  - name: vm2
    uuid: 22222222-0000-4000-8000-000000000002
    contexts:
      - {name: job, slice: 0, seed: 3, phases: [{kind: gemm, time: 2ms}]}
  - name: vm3
    uuid: 33333333-0000-4000-8000-000000000003
quantum: 10ms
gap: 0s
)";

class GuestRegistersTest : public testing::Test {
 protected:
  enum Page : size_t { kVm1, kVm1Job, kVm1Second, kVm2, kVm2Job, kVm3 };
  static constexpr uint64_t kBitmap = 0b11;  // sm_active_cycles, resident_cycles
  static constexpr uint64_t kThread = 1, kOther = 2;

  void SetUp() override {
    const std::string path = testing::TempDir() + "guest_registers.yaml";
    std::ofstream(path) << kGuestRegistersChip;
    device_ = *LiveDevice::Create(*LoadChipFile(path), 42, [this] { return elapsed_; });
    registers_ = std::make_unique<GuestRegisters>(*device_);
    elapsed_ = absl::Milliseconds(1);
  }

  // One cycle passes with each access.
  std::optional<uint64_t> Access(Page page, const hpc::PageAccess& access, uint64_t thread = kThread) {
    elapsed_ += absl::Microseconds(1);
    return registers_->Access(page, thread, access);
  }
  std::optional<uint64_t> Read(Page page, uint16_t offset, uint64_t thread = kThread) {
    return Access(page, hpc::ReadOf(offset, 8), thread);
  }
  bool Write(Page page, uint16_t offset, uint64_t value, uint64_t thread = kThread) {
    return Access(page, hpc::WriteOf(offset, 8, value), thread).has_value();
  }
  bool Has(Page page, uint64_t field, uint64_t thread = kThread) {
    return (*Read(page, hpc::kHpccOffset, thread) & field) != 0;
  }
  // Asks the module for both events; returns whether it was not refused.
  bool Trigger(Page page, uint64_t module, uint64_t more = 0) {
    EXPECT_TRUE(Write(page, hpc::kHpcmOffset, kBitmap));
    EXPECT_TRUE(Write(page, hpc::kHpccOffset, module << hpc::kHpccModuleLsb | hpc::kHpccTrigger | more));
    elapsed_ += absl::Microseconds(20);
    return !Has(page, hpc::kHpccRefused);
  }
  // Until vm2's job is resident on slice 0.
  void AwaitSwitch() { elapsed_ = absl::Milliseconds(11); }

  absl::Duration elapsed_;
  std::unique_ptr<LiveDevice> device_;
  std::unique_ptr<GuestRegisters> registers_;
};

TEST_F(GuestRegistersTest, APageForEachVmAndContext) {
  ASSERT_EQ(registers_->pages(), kVm3 + size_t{1});
  EXPECT_EQ(registers_->tenant(kVm1Second).context, "second");
  EXPECT_EQ(registers_->tenant(kVm2).context, "");
}

TEST_F(GuestRegistersTest, AContextReadsItsCounts) {
  ASSERT_TRUE(Trigger(kVm1Job, hpc::kModuleContext));
  const uint64_t now = device_->chip().now();
  EXPECT_GT(*Read(kVm1Job, hpc::kHpcrOffset), 0u);
  const uint64_t resident = *Read(kVm1Job, hpc::kHpcrOffset);
  EXPECT_GT(resident, now - 40);
  EXPECT_LT(resident, now) << "resident since cycle 0";
  EXPECT_FALSE(Has(kVm1Job, hpc::kHpccReaderror));
}

TEST_F(GuestRegistersTest, OnlyWhoIsResidentCanAccess) {
  EXPECT_TRUE(Read(kVm1Job, hpc::kHpccOffset));
  EXPECT_TRUE(Read(kVm1, hpc::kHpccOffset)) << "its VM is, too";
  EXPECT_FALSE(Read(kVm2Job, hpc::kHpccOffset));
  EXPECT_FALSE(Write(kVm2, hpc::kHpccOffset, hpc::kHpccUseren));
  AwaitSwitch();
  EXPECT_TRUE(Read(kVm2Job, hpc::kHpccOffset));
  EXPECT_FALSE(Read(kVm1Job, hpc::kHpccOffset));
  EXPECT_FALSE(Read(kVm1, hpc::kHpccOffset)) << "vm1 runs on slice 1 only, but its page is that of slice 0";
  EXPECT_TRUE(Read(kVm1Second, hpc::kHpccOffset));
  EXPECT_FALSE(Read(kVm3, hpc::kHpccOffset)) << "it has no turns";
}

TEST_F(GuestRegistersTest, WhoMayReadWhat) {
  EXPECT_TRUE(Trigger(kVm1Job, hpc::kModuleContext));
  EXPECT_FALSE(Trigger(kVm1Job, hpc::kModuleContext + 1)) << "another slice";
  EXPECT_FALSE(Trigger(kVm1Job, hpc::kModuleVm)) << "for supervisors";
  EXPECT_FALSE(Trigger(kVm1Job, hpc::kModuleDevice));
  EXPECT_TRUE(Trigger(kVm1Second, hpc::kModuleContext + 1));
  registers_->EndThread(kThread);
  EXPECT_TRUE(Trigger(kVm1, hpc::kModuleVm, hpc::kHpccUseren));
  EXPECT_FALSE(Trigger(kVm1, hpc::kModuleVm + 1, hpc::kHpccUseren));
  EXPECT_FALSE(Trigger(kVm1, hpc::kModuleDevice, hpc::kHpccUseren));
}

TEST_F(GuestRegistersTest, UserenStaysOverSwitches) {
  AwaitSwitch();
  EXPECT_FALSE(Trigger(kVm2Job, hpc::kModuleContext)) << "not enabled";
  EXPECT_TRUE(Write(kVm2Job, hpc::kHpccOffset, hpc::kHpccUseren));
  EXPECT_FALSE(Has(kVm2Job, hpc::kHpccUseren)) << "a user cannot enable itself";
  EXPECT_TRUE(Write(kVm2, hpc::kHpccOffset, hpc::kHpccUseren));
  EXPECT_TRUE(Trigger(kVm2Job, hpc::kModuleContext));
  elapsed_ = absl::Milliseconds(15);
  device_->CatchUp();
  elapsed_ = absl::Milliseconds(21);
  EXPECT_TRUE(Has(kVm1Job, hpc::kHpccUseren)) << "vm1's own, by its chip file";
  elapsed_ = absl::Milliseconds(31);
  EXPECT_TRUE(Has(kVm2Job, hpc::kHpccUseren));
  EXPECT_TRUE(Write(kVm2, hpc::kHpccOffset, 0));
  elapsed_ = absl::Milliseconds(51);
  EXPECT_FALSE(Has(kVm2Job, hpc::kHpccUseren));
}

// R7: what vm1's threads do shortly before a switch is nothing to vm2's, nor the reverse.
TEST_F(GuestRegistersTest, TurnsAreOfOneResident) {
  elapsed_ = absl::Microseconds(9990);
  EXPECT_TRUE(Read(kVm1Job, hpc::kHpccOffset, kThread));
  EXPECT_FALSE(Read(kVm1Job, hpc::kHpccOffset, kOther));
  elapsed_ = absl::Microseconds(10010);
  for (uint64_t thread = 10; thread < 13; ++thread) {
    EXPECT_EQ(Read(kVm2Job, hpc::kHpccOffset, thread).has_value(), thread == 10) << "the first who asks";
  }
  elapsed_ = absl::Microseconds(20010);
  EXPECT_TRUE(Read(kVm1Job, hpc::kHpccOffset, kOther)) << "it was the next";
}

TEST_F(GuestRegistersTest, AThreadGetsNothingOfTheOneBefore) {
  ASSERT_TRUE(Trigger(kVm1Job, hpc::kModuleContext));
  EXPECT_FALSE(Read(kVm1Job, hpc::kHpccOffset, kOther)) << "the first has its turn";
  elapsed_ += absl::Milliseconds(2);
  const uint64_t hpcc = *Read(kVm1Job, hpc::kHpccOffset, kOther);
  EXPECT_EQ(hpcc, hpc::kHpccInterrupted | hpc::kHpccEmpty | hpc::kHpccUseren);
  EXPECT_EQ(*Read(kVm1Job, hpc::kHpcrOffset, kOther), 0u);
  registers_->EndThread(kOther);
  EXPECT_TRUE(Has(kVm1Job, hpc::kHpccInterrupted)) << "the first sees that it was interrupted";
  EXPECT_FALSE(Has(kVm1Job, hpc::kHpccReaderror)) << "the other's";
}

TEST_F(GuestRegistersTest, ElsewhereThePageReadsNothing) {
  for (const uint16_t offset : {uint16_t{0x18}, uint16_t{0x40}, uint16_t{hpc::kPageBytes - 8}}) {
    EXPECT_TRUE(Write(kVm1Job, offset, ~uint64_t{0}));
    EXPECT_EQ(Read(kVm1Job, offset), 0u);
  }
}

TEST_F(GuestRegistersTest, Halves) {
  ASSERT_TRUE(Access(kVm1Job, hpc::WriteOf(hpc::kHpcmOffset, 4, 0b11)));
  ASSERT_TRUE(Access(kVm1Job, hpc::WriteOf(hpc::kHpcmOffset + 4, 4, 0xF00000005)));
  EXPECT_EQ(*Read(kVm1Job, hpc::kHpcmOffset), 0x500000003u) << "what is above four bytes is ignored";
  EXPECT_EQ(*Access(kVm1Job, hpc::ReadOf(hpc::kHpcmOffset + 4, 4)), 5u);
}

}  // namespace

}  // namespace sideband::mcu
