// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/core.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "sim/riscv/csr.h"

namespace sideband::riscv {
namespace {

constexpr uint64_t kAllOnes = ~uint64_t{0};
constexpr uint64_t kStatusBits = kMstatusMie | kMstatusMpie | kMstatusMpp;

TEST(CsrFileTest, OnlyBitsThatExistCanBeWritten) {
  const struct {
    uint16_t csr;
    uint64_t initial;
    uint64_t after_ones;
    uint64_t after_zeros;
  } kRows[] = {
      {kMstatus, kMstatusUxl64, kMstatusUxl64 | kStatusBits, kMstatusUxl64},
      {kMisa, 0x8000000000101100, 0x8000000000101100, 0x8000000000101100},
      {kMie, 0, kTimerInterrupt, 0},
      {kMip, 0, 0, 0},
      {kMtvec, 0, 0, 0},  // mode 3 does not exist: the value stays
      {kMcounteren, 7, 0xffffffff, 0},
      {kMscratch, 0, kAllOnes, 0},
      {kMepc, 0, kAllOnes - 3, 0},
      {kMcause, 0, kAllOnes, 0},
      {kMtval, 0, kAllOnes, 0},
      {kMtimecmp, kAllOnes, kAllOnes, 0},
      {kMhpmcounter3, 0, 0, 0},
      {kMhpmevent31, 0, 0, 0},
  };
  for (const auto& row : kRows) {
    CsrFile csrs(/*hart=*/0);
    EXPECT_EQ(csrs.Read(row.csr, {}), row.initial) << std::hex << row.csr;
    EXPECT_TRUE(csrs.Write(row.csr, kAllOnes, {})) << std::hex << row.csr;
    EXPECT_EQ(csrs.Read(row.csr, {}), row.after_ones) << std::hex << row.csr;
    EXPECT_TRUE(csrs.Write(row.csr, 0, {})) << std::hex << row.csr;
    EXPECT_EQ(csrs.Read(row.csr, {}), row.after_zeros) << std::hex << row.csr;
  }
}

TEST(CsrFileTest, LevelsThatDoNotExistAreNoPreviousLevels) {
  CsrFile csrs(/*hart=*/0);
  ASSERT_TRUE(csrs.Write(kMstatus, kMstatusMpp, {}));
  for (const uint64_t level : {1, 2}) {
    EXPECT_TRUE(csrs.Write(kMstatus, level << kMstatusMppShift, {}));
    EXPECT_EQ(csrs.Read(kMstatus, {}), kMstatusUxl64 | kMstatusMpp);
  }
}

TEST(CsrFileTest, VectorsHaveTwoModes) {
  CsrFile csrs(/*hart=*/0);
  for (const uint64_t vector : {0x10100, 0x10101}) {
    EXPECT_TRUE(csrs.Write(kMtvec, vector, {}));
    EXPECT_EQ(csrs.Read(kMtvec, {}), vector);
  }
  EXPECT_TRUE(csrs.Write(kMtvec, 0x20002, {}));
  EXPECT_EQ(csrs.Read(kMtvec, {}), 0x10101u);
  EXPECT_EQ(csrs.EnterTrap(kCauseTimer, 0, 0), 0x10100u + 4 * 7);
  EXPECT_EQ(csrs.EnterTrap(kCauseIllegal, 0, 0), 0x10100u);
}

TEST(CsrFileTest, ReadOnlyRegistersAreNotWritten) {
  CsrFile csrs(/*hart=*/5);
  for (const uint16_t csr : {kCycle, kTime, kInstret, kHpmcounter31, kMhartid, kMvendorid, kMarchid, kMimpid}) {
    EXPECT_TRUE(csrs.Read(csr, {}).has_value()) << std::hex << csr;
    EXPECT_FALSE(csrs.Write(csr, 0, {})) << std::hex << csr;
  }
  EXPECT_EQ(csrs.Read(kMhartid, {}), 5u);
}

TEST(CsrFileTest, OthersDoNotExist) {
  CsrFile csrs(/*hart=*/0);
  for (const uint16_t csr :
       {0x000, 0x100, 0x180, 0x302, 0x303, 0x345, 0x3A0, 0x7A0, 0xB01, 0xB20, 0xC20, 0xF10, 0xFFF}) {
    EXPECT_EQ(csrs.Read(csr, {}), std::nullopt) << std::hex << csr;
    EXPECT_FALSE(csrs.Write(csr, 0, {})) << std::hex << csr;
  }
}

TEST(CsrFileTest, ATrapAndItsReturnAreInverse) {
  for (const Privilege level : {Privilege::kUser, Privilege::kMachine}) {
    for (const bool enabled : {false, true}) {
      CsrFile csrs(/*hart=*/0);
      ASSERT_TRUE(csrs.Write(kMstatus, enabled ? kMstatusMie : 0, {}));
      csrs.set_level(level);
      csrs.EnterTrap(kCauseBreakpoint, 7, 0x10008);
      EXPECT_EQ(csrs.level(), Privilege::kMachine);
      EXPECT_EQ(csrs.Read(kMtval, {}), 7u);
      EXPECT_EQ(*csrs.Read(kMstatus, {}) & kMstatusMie, 0u);
      EXPECT_EQ(csrs.Return(), 0x10008u);
      EXPECT_EQ(csrs.level(), level);
      csrs.set_level(Privilege::kMachine);
      EXPECT_EQ(*csrs.Read(kMstatus, {}) & kMstatusMie, enabled ? kMstatusMie : 0);
      EXPECT_EQ(*csrs.Read(kMstatus, {}) & (kMstatusMpie | kMstatusMpp), kMstatusMpie);
    }
  }
}

TEST(CsrFileTest, TheInterruptNeedsItsBitAndItsLevel) {
  CsrFile csrs(/*hart=*/0);
  EXPECT_EQ(csrs.InterruptCycle(), CsrFile::kNever);
  ASSERT_TRUE(csrs.Write(kMtimecmp, 100, {}));
  EXPECT_EQ(csrs.InterruptCycle(), CsrFile::kNever);
  ASSERT_TRUE(csrs.Write(kMie, kTimerInterrupt, {}));
  EXPECT_EQ(csrs.InterruptCycle(), CsrFile::kNever) << "machine level without mstatus.MIE";
  csrs.set_level(Privilege::kUser);
  EXPECT_EQ(csrs.InterruptCycle(), 100u);
  csrs.set_level(Privilege::kMachine);
  ASSERT_TRUE(csrs.Write(kMstatus, kMstatusMie, {}));
  EXPECT_EQ(csrs.InterruptCycle(), 100u);
  EXPECT_EQ(csrs.Read(kMip, {.cycle = 99}), 0u);
  EXPECT_EQ(csrs.Read(kMip, {.cycle = 100}), kTimerInterrupt);
}

}  // namespace

}  // namespace sideband::riscv
