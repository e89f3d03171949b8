// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/system_info.h"

#include <gtest/gtest.h>

#include <string>

#include "secure_mcu/firmware/fake_device.h"
#include "secure_mcu/firmware/fake_gpu.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;

TEST(PersonaTest, HasAVendorId) {
  EXPECT_EQ(VendorId(*ParsePersona("sideband")), 0x4253) << "SB";
  EXPECT_EQ(VendorId(*ParsePersona("nvidia")), 0x10DE);
}

TEST(PersonaTest, NobodyElse) {
  EXPECT_EQ(std::string(ParsePersona("nvida").status().message()),
            "unknown persona 'nvida', must be sideband or nvidia (did you mean 'nvidia'?)");
  EXPECT_FALSE(ParsePersona("").ok());
}

class IdentityItemsTest : public testing::Test {
 protected:
  FakeDevice device_;
  IdentityItems items_{device_.identity(), Persona::kSideband};
};

TEST_F(IdentityItemsTest, ComeInDwords) {
  EXPECT_EQ(items_.Get(0x02, 0).data, 0x49524553u) << "SERI";
  EXPECT_EQ(items_.Get(0x02, 1).data, 0x312D4C41u) << "AL-1";
  EXPECT_EQ(items_.Get(0x02, 3).data, 0u) << "padding";
  EXPECT_EQ(items_.Get(0x02, 4).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(items_.Get(0x08, 0).data, 0x2E302E31u) << "1.0.";
  EXPECT_EQ(items_.Get(0x08, 3).status, MailboxStatus::kSuccess) << "the last two of fourteen bytes";
  EXPECT_EQ(items_.Get(0x0D, 0).data, 0x520A1C6Fu) << "the UUID's first bytes";
  EXPECT_EQ(items_.Get(0x0D, 4).status, MailboxStatus::kErrArg2);
}

TEST_F(IdentityItemsTest, TheVendorIsThePersonas) {
  EXPECT_EQ(items_.Get(0x09, 0).data, 0x4253u);
  EXPECT_EQ(items_.Get(0x09, 1).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(IdentityItems(device_.identity(), Persona::kNvidia).Get(0x09, 0).data, 0x10DEu);
}

TEST_F(IdentityItemsTest, TheMemoryIsServedWhereItIsKnown) {
  DeviceIdentity identity = device_.identity();
  identity.memory_mib = 81920;
  const IdentityItems items(identity, Persona::kSideband);
  EXPECT_EQ(items.Get(0x17, 0).data, 81920u);
  EXPECT_EQ(items.Get(0x17, 1).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(items.served(), 0x00802705u);
}

TEST_F(IdentityItemsTest, TheNameIsServedWhereThereIsOne) {
  EXPECT_EQ(items_.Get(0x03, 0).status, MailboxStatus::kErrNotSupported);
  DeviceIdentity identity = device_.identity();
  identity.name = "A name of 24 characters!";
  const IdentityItems items(identity, Persona::kSideband);
  EXPECT_EQ(items.Get(0x03, 0).data, 0x616E2041u) << "A na";
  EXPECT_EQ(items.Get(0x03, 5).data, 0x21737265u) << "ers!";
  EXPECT_EQ(items.Get(0x03, 6).status, MailboxStatus::kErrArg2);
}

TEST_F(IdentityItemsTest, WhatIsNotServed) {
  EXPECT_EQ(items_.Get(0x06, 0).status, MailboxStatus::kErrNotSupported) << "memory part number";
  EXPECT_EQ(items_.Get(0x17, 0).status, MailboxStatus::kErrNotSupported)
      << "MAX_DRAM_CAPACITY, the last that SMBPBI knows";
  EXPECT_EQ(items_.Get(0x18, 0).status, MailboxStatus::kErrArg1);
  EXPECT_EQ(items_.served(), 0x2705u);
}

constexpr uint8_t kGet = 0, kSet = 1;
constexpr uint8_t kDisabled = 0x5A, kEnabled = 0xA5;

class BoardFlagsTest : public testing::Test {
 protected:
  BoardSpec spec_ = {.power_connector = true, .write_protection = true};
  BoardState state_{spec_};
  BoardFlags flags_{spec_, state_};
};

TEST_F(BoardFlagsTest, PowerConnector) {
  EXPECT_EQ(flags_.GetPowerConnector(0).data, 0u);
  state_.power_is_insufficient = true;
  EXPECT_EQ(flags_.GetPowerConnector(0).data, 1u);
  EXPECT_EQ(flags_.GetPowerConnector(1).status, MailboxStatus::kErrArg1);
}

TEST_F(BoardFlagsTest, WriteProtection) {
  EXPECT_EQ(flags_.AccessWriteProtect(kGet, 0).data, kDisabled) << "at first";
  EXPECT_EQ(flags_.AccessWriteProtect(kSet, kEnabled).status, MailboxStatus::kSuccess);
  EXPECT_EQ(flags_.AccessWriteProtect(kGet, 0).data, kEnabled);
  EXPECT_TRUE(state_.is_write_protected);
  EXPECT_EQ(flags_.AccessWriteProtect(kSet, kDisabled).status, MailboxStatus::kSuccess);
  EXPECT_EQ(flags_.AccessWriteProtect(kGet, 0).data, kDisabled);
}

struct RefusedCase {
  uint8_t arg1, arg2;
  MailboxStatus status;
};
constexpr RefusedCase kRefused[] = {
    {kGet, 1, MailboxStatus::kErrArg2},
    {kGet, kEnabled, MailboxStatus::kErrArg2},
    {kSet, 0, MailboxStatus::kErrArg2},
    {kSet, kDisabled - 1, MailboxStatus::kErrArg2},
    {kSet, kDisabled + 1, MailboxStatus::kErrArg2},
    {kSet, kEnabled + 1, MailboxStatus::kErrArg2},
    {2, kDisabled, MailboxStatus::kErrArg1},
    {0xFF, 0xFF, MailboxStatus::kErrArg1},
};

TEST_F(BoardFlagsTest, ARefusedCommandChangesNothing) {
  state_.is_write_protected = true;
  for (const RefusedCase& row : kRefused) {
    EXPECT_EQ(flags_.AccessWriteProtect(row.arg1, row.arg2).status, row.status)
        << int{row.arg1} << ", " << int{row.arg2};
    EXPECT_TRUE(state_.is_write_protected) << int{row.arg1} << ", " << int{row.arg2};
  }
}

TEST_F(BoardFlagsTest, ABoardWithoutThem) {
  spec_.power_connector = spec_.write_protection = false;
  for (const uint8_t arg1 : {0, 1, 2}) {
    EXPECT_EQ(flags_.GetPowerConnector(arg1).status, MailboxStatus::kErrNotSupported) << int{arg1};
    EXPECT_EQ(flags_.AccessWriteProtect(arg1, kEnabled).status, MailboxStatus::kErrNotSupported) << int{arg1};
  }
  EXPECT_FALSE(state_.is_write_protected);
}

constexpr uint8_t kClocks = 0, kTemperature = 1, kProfiles = 2;

class PowerHintsTest : public testing::Test {
 protected:
  PowerHintsTest() {
    gpu_.clock = WorkloadClock{.levels = {499'500'000, 1'000'000'000, 1'409'499'999}, .hz = 1'000'000'000};
    spec_.thermal = ThermalLimits{.shutdown_c = 97.9};
  }

  FakeGpu gpu_;
  BoardSpec spec_;
  PowerHints hints_{gpu_, spec_};
};

TEST_F(PowerHintsTest, EachRangeHasItsLeastAndItsMost) {
  EXPECT_EQ(hints_.Get(kClocks, 0).data, 500u | 1409u << 16) << "rounded to MHz";
  EXPECT_EQ(hints_.Get(kTemperature, 0).data, 97u << 16) << "rounded down: the board is never hotter";
}

TEST_F(PowerHintsTest, ThereAreNoProfiles) {
  for (const uint8_t page : {0, 1, 2, 3}) {
    const Reply reply = hints_.Get(kProfiles, page);
    EXPECT_EQ(reply.status, MailboxStatus::kSuccess) << int{page};
    EXPECT_EQ(reply.data, 0u) << int{page};
    EXPECT_EQ(reply.extended_data, 0u) << int{page};
  }
}

TEST_F(PowerHintsTest, ExtremesSaturate) {
  gpu_.clock = WorkloadClock{.levels = {1, ~uint64_t{0} / 2}, .hz = 1};
  EXPECT_EQ(hints_.Get(kClocks, 0).data, 0xFFFEu << 16);
  spec_.thermal->shutdown_c = 1e9;
  EXPECT_EQ(hints_.Get(kTemperature, 0).data, 0x7FFFu << 16);
  spec_.thermal->shutdown_c = -1;
  EXPECT_EQ(hints_.Get(kTemperature, 0).data, 0u);
}

TEST_F(PowerHintsTest, WhatTheBoardLacks) {
  gpu_.clock.reset();
  spec_.thermal.reset();
  EXPECT_EQ(hints_.Get(kClocks, 0).status, MailboxStatus::kErrNotSupported);
  EXPECT_EQ(hints_.Get(kTemperature, 0).status, MailboxStatus::kErrNotSupported);
  EXPECT_EQ(hints_.Get(kTemperature, 1).status, MailboxStatus::kErrArg2) << "an undefined value on every board";
}

TEST_F(PowerHintsTest, WhatIsNotDefined) {
  struct Row {
    uint8_t item, which;
    MailboxStatus status;
  };
  const Row rows[] = {
      {kClocks, 1, MailboxStatus::kErrNotSupported},  // the memory clock
      {kClocks, 2, MailboxStatus::kErrArg2},          //
      {kTemperature, 1, MailboxStatus::kErrArg2},     //
      {kProfiles, 4, MailboxStatus::kErrArg2},        // the first page that does not exist
      {3, 0, MailboxStatus::kErrArg1},                //
      {3, 9, MailboxStatus::kErrArg1},                // the first argument is judged first
      {0xFF, 0, MailboxStatus::kErrArg1},             //
  };
  for (const Row& row : rows) EXPECT_EQ(hints_.Get(row.item, row.which).status, row.status) << int{row.item};
}

class SystemInfoTest : public testing::Test {
 protected:
  FakeGpu gpu_;
  BoardUnit board_{gpu_, PowerModel({})};
  SystemInfo info_{gpu_, board_};
};

TEST_F(SystemInfoTest, SlicesArePartitions) {
  EXPECT_EQ(info_.GetFlags(0).data, 0x78u);
  gpu_.catalog().slices.pop_back();
  EXPECT_EQ(info_.GetFlags(0).data, 0x40u) << "the driver runs";
  EXPECT_EQ(info_.GetFlags(1).data, 0u);
  EXPECT_EQ(info_.GetFlags(1).status, MailboxStatus::kSuccess);
  EXPECT_EQ(info_.GetFlags(2).status, MailboxStatus::kErrArg1);
}

TEST_F(SystemInfoTest, TheGraphicsClockIsTheReferenceClock) {
  gpu_.catalog().reference_clock_hz = 1'409'500'000;
  for (const uint8_t which : {0, 1, 2}) EXPECT_EQ(info_.GetClock(which, 0).data, 1410u) << int{which};
  EXPECT_EQ(info_.GetClock(0, 1).status, MailboxStatus::kErrNotSupported);
  EXPECT_EQ(info_.GetClock(0, 2).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(info_.GetClock(3, 0).status, MailboxStatus::kErrNotSupported) << "P-state";
  EXPECT_EQ(info_.GetClock(5, 0).status, MailboxStatus::kErrNotSupported) << "throttle reasons";
  EXPECT_EQ(info_.GetClock(6, 0).status, MailboxStatus::kErrArg1);
}

TEST_F(SystemInfoTest, TheCurrentClockCanBeWithheld) {
  SystemInfo info(gpu_, board_, Complement::kWithhold);
  EXPECT_EQ(info.GetClock(0, 0).status, MailboxStatus::kSuccess) << "there is no confidential VM";
  gpu_.catalog().vms[1].confidential = true;
  EXPECT_EQ(info.GetClock(0, 0).status, MailboxStatus::kErrNotAvailable);
  for (const uint8_t which : {1, 2}) EXPECT_EQ(info.GetClock(which, 0).data, 1000u) << "limits are constant";
  EXPECT_EQ(info_.GetClock(0, 0).data, 1000u);
}

TEST_F(SystemInfoTest, AWorkloadClock) {
  const BoardUnit board(gpu_, PowerModel({}), {.thermal = ThermalLimits{}, .power_limit = PowerLimits{}});
  const SystemInfo info(gpu_, board);
  gpu_.clock = WorkloadClock{.levels = {300'000'000, 600'000'000, 900'000'000}, .hz = 600'000'000};
  EXPECT_EQ(info.GetClock(0, 0).data, 600u);
  EXPECT_EQ(info.GetClock(1, 0).data, 300u);
  EXPECT_EQ(info.GetClock(2, 0).data, 900u);
  EXPECT_EQ(info.GetClock(3, 0).data, 1u) << "one below the highest";
  EXPECT_EQ(info.GetClock(4, 0).data, 0b100111u);
  EXPECT_EQ(info.GetClock(5, 0).data, 0u);
  EXPECT_EQ(info.GetClock(3, 1).status, MailboxStatus::kErrNotSupported);
  EXPECT_EQ(info.GetClock(5, 2).status, MailboxStatus::kErrArg2);
}

TEST_F(SystemInfoTest, AWorkloadClockIsHiddenBesideConfidentialVms) {
  gpu_.clock = WorkloadClock{.levels = {300'000'000, 900'000'000}, .hz = 300'000'000};
  gpu_.catalog().vms[1].confidential = true;
  for (const uint8_t item : {0, 3, 5}) {
    EXPECT_EQ(info_.GetClock(item, 0).status, MailboxStatus::kErrNotAvailable) << int{item};
  }
  EXPECT_EQ(info_.GetClock(2, 0).data, 900u) << "a constant";
  EXPECT_EQ(SystemInfo(gpu_, board_, Complement::kAllow).GetClock(0, 0).data, 300u);
}

TEST_F(SystemInfoTest, FlagsOfTheBoard) {
  BoardUnit board(gpu_, PowerModel({}), {.ecc = EccGeneration::kV6});
  const SystemInfo info(gpu_, board);
  EXPECT_EQ(info.GetFlags(0).data, 0x7Fu);
  board.state.reset_required = true;
  EXPECT_EQ(info.GetFlags(1).data, 1u);
  board.state.drain_recommended = true;
  EXPECT_EQ(info.GetFlags(1).data, 3u);
}

TEST_F(SystemInfoTest, TheVersionIsAText) {
  std::string text;
  for (uint8_t dword = 0; dword < 16; ++dword) {
    const uint32_t characters = info_.GetVersion(0, dword).data;
    for (int i = 0; i < 4; ++i) text += static_cast<char>(characters >> 8 * i);
  }
  EXPECT_EQ(text.substr(0, 13), "sideband-mcu ");
  EXPECT_EQ(text[63], '\0');
  EXPECT_EQ(info_.GetVersion(0, 16).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(info_.GetVersion(1, 0).status, MailboxStatus::kErrArg1);
}

}  // namespace

}  // namespace sideband::mcu
