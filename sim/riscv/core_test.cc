// SPDX-License-Identifier: Apache-2.0
//
// Control and status registers: their bits, levels and traps. Zicsr: which instruction reads, which one writes, and at
// which level; counters; the port of the registers hpcc, hpcm and hpcr.
#include "sim/riscv/core.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/riscv/assembler.h"
#include "sim/riscv/csr.h"
#include "sim/riscv/program.h"
#include "sim/riscv/test_core.h"

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

// Writes down each access; reads give 0x100, 0x101, …
class LoggingPort final : public CsrPort {
 public:
  std::optional<uint64_t> Read(uint16_t csr, Privilege level, uint64_t cycle) override {
    Log("read", csr, level, cycle);
    if (refuses_reads) return std::nullopt;
    return next_++;
  }
  bool Write(uint16_t csr, uint64_t value, Privilege level, uint64_t cycle) override {
    Log("write", csr, level, cycle);
    written = value;
    return !refuses_writes;
  }

  std::vector<std::string> log;
  uint64_t written = 0;
  bool refuses_reads = false;
  bool refuses_writes = false;

 private:
  void Log(const std::string& what, uint16_t csr, Privilege level, uint64_t cycle) {
    char number[8];
    std::snprintf(number, sizeof(number), "%03x", csr);
    log.push_back(what + " " + number + (level == Privilege::kUser ? " user " : " machine ") + std::to_string(cycle));
  }
  uint64_t next_ = 0x100;
};

TEST(CoreCsrTest, TheSixInstructions) {
  const struct {
    uint32_t word;
    uint64_t left;  // in mscratch, before 0x3c; x1 is 0x0f
  } kRows[] = {
      {as::Csrrw(2, kMscratch, 1), 0x0f},   {as::Csrrs(2, kMscratch, 1), 0x3f},  {as::Csrrc(2, kMscratch, 1), 0x30},
      {as::Csrrwi(2, kMscratch, 17), 0x11}, {as::Csrrsi(2, kMscratch, 3), 0x3f}, {as::Csrrci(2, kMscratch, 12), 0x30},
      {as::Csrrs(2, kMscratch, 0), 0x3c},   {as::Csrrc(2, kMscratch, 0), 0x3c},  {as::Csrrsi(2, kMscratch, 0), 0x3c},
      {as::Csrrci(2, kMscratch, 0), 0x3c},  {as::Csrrw(2, kMscratch, 0), 0},     {as::Csrrwi(2, kMscratch, 0), 0},
  };
  for (const auto& row : kRows) {
    TestCore test(
        {as::Addi(3, 0, 0x3c), as::Csrrw(0, kMscratch, 3), as::Addi(1, 0, 0x0f), row.word, as::Csrrs(4, kMscratch, 0)});
    test.Step(5);
    EXPECT_EQ(test.core().x(2), 0x3cu) << std::hex << row.word;
    EXPECT_EQ(test.core().x(4), row.left) << std::hex << row.word;
  }
}

TEST(CoreCsrTest, TheSourceMayBeTheDestination) {
  TestCore test({as::Addi(1, 0, 5), as::Csrrw(1, kMscratch, 1), as::Csrrw(1, kMscratch, 1)});
  test.Step(2);
  EXPECT_EQ(test.core().x(1), 0u);
  test.Step();
  EXPECT_EQ(test.core().x(1), 5u);
}

TEST(CoreCsrTest, OnlyAccessesThatCountReachThePort) {
  const struct {
    uint32_t word;
    std::vector<std::string> log;
  } kRows[] = {
      {as::Csrrw(2, kHpcm, 1), {"read 801 machine 0", "write 801 machine 0"}},
      {as::Csrrw(0, kHpcm, 1), {"write 801 machine 0"}},
      {as::Csrrw(2, kHpcm, 0), {"read 801 machine 0", "write 801 machine 0"}},
      {as::Csrrwi(0, kHpcc, 0), {"write 800 machine 0"}},
      {as::Csrrs(2, kHpcr, 0), {"read cc0 machine 0"}},
      {as::Csrrs(0, kHpcr, 0), {"read cc0 machine 0"}},  // pops, although nobody gets the value
      {as::Csrrc(2, kHpcr, 0), {"read cc0 machine 0"}},
      {as::Csrrsi(2, kHpcr, 0), {"read cc0 machine 0"}},
      {as::Csrrci(2, kHpcr, 0), {"read cc0 machine 0"}},
      {as::Csrrs(2, kHpcc, 1), {"read 800 machine 0", "write 800 machine 0"}},
      {as::Csrrsi(0, kHpcc, 1), {"read 800 machine 0", "write 800 machine 0"}},
      {as::Csrrci(0, kHpcc, 1), {"read 800 machine 0", "write 800 machine 0"}},
      // hpcr is read-only: these trap, and pop nothing.
      {as::Csrrw(2, kHpcr, 1), {}},
      {as::Csrrw(0, kHpcr, 0), {}},
      {as::Csrrs(2, kHpcr, 1), {}},
      {as::Csrrci(2, kHpcr, 1), {}},
  };
  for (const auto& row : kRows) {
    LoggingPort port;
    TestCore test({row.word}, {.port = &port});
    test.Step();
    EXPECT_EQ(port.log, row.log) << std::hex << row.word;
    EXPECT_EQ(test.core().instructions(), row.log.empty() ? 0u : 1u) << std::hex << row.word;
  }
}

TEST(CoreCsrTest, ThePortsValuesArriveAndAreChanged) {
  LoggingPort port;
  TestCore test({as::Csrrsi(2, kHpcc, 3), as::kNop, as::Csrrs(3, kHpcr, 0)}, {.port = &port});
  test.Step(3);
  EXPECT_EQ(test.core().x(2), 0x100u);
  EXPECT_EQ(port.written, 0x103u);
  EXPECT_EQ(test.core().x(3), 0x101u);
  EXPECT_EQ(port.log.back(), "read cc0 machine 2");
}

TEST(CoreCsrTest, WhatThePortRefusesIsAnIllegalInstruction) {
  for (const bool reads : {true, false}) {
    LoggingPort port;
    port.refuses_reads = reads;
    port.refuses_writes = !reads;
    TestCore test({as::Auipc(1, 1), as::Csrrw(0, kMtvec, 1), as::Csrrw(2, kHpcm, 1)}, {.port = &port});
    test.Step(3);
    EXPECT_EQ(test.core().pc(), kTestBase + 0x1000);
    EXPECT_EQ(test.core().csrs().Read(kMcause, {}), kCauseIllegal);
    EXPECT_EQ(test.core().csrs().Read(kMepc, {}), kTestBase + 8);
    EXPECT_EQ(test.core().csrs().Read(kMtval, {}), uint64_t{as::Csrrw(2, kHpcm, 1)});
    EXPECT_EQ(test.core().x(2), 0u);
    EXPECT_EQ(port.log.size(), reads ? 1u : 2u);
  }
}

TEST(CoreCsrTest, WithoutAPortItsRegistersDoNotExist) {
  for (const uint16_t csr : {kHpcc, kHpcm, kHpcr}) {
    TestCore test({as::Csrrs(2, csr, 0)});
    test.Step();
    EXPECT_EQ(test.core().csrs().Read(kMcause, {}), kCauseIllegal);
    EXPECT_EQ(test.core().instructions(), 0u);
  }
}

// Every number of a register, read and written at both levels: an access either works or traps.
TEST(CoreCsrTest, UsersReachUserRegistersOnly) {
  LinuxCalls calls;
  LoggingPort port;
  for (uint32_t csr = 0; csr < kCsrsMax; ++csr) {
    const bool is_user = csr == kHpcc || csr == kHpcm || csr == kHpcr || (csr >= kCycle && csr <= kInstret);
    TestCore user({as::Csrrs(2, csr, 0)}, {.port = &port, .environment = &calls});
    user.Step();
    EXPECT_EQ(user.core().instructions(), is_user ? 1u : 0u) << std::hex << csr;
    TestCore machine({as::Csrrs(2, csr, 0)}, {.port = &port});
    machine.Step();
    EXPECT_GE(machine.core().instructions(), user.core().instructions()) << std::hex << csr;

    TestCore writer({as::Csrrw(0, csr, 0)}, {.port = &port});
    writer.Step();
    EXPECT_EQ(writer.core().instructions(), machine.core().instructions() == 1 && csr >> 10 != 3 ? 1u : 0u)
        << std::hex << csr;
  }
}

TEST(CoreCsrTest, CountersCountCyclesAndInstructions) {
  TestCore test({as::kNop, as::Csrrs(1, kCycle, 0), as::Csrrs(2, kInstret, 0), as::Csrrs(3, kMcycle, 0),
                 as::Csrrs(4, kMinstret, 0), as::Csrrs(5, kTime, 0)});
  test.Step(6);
  for (const auto& [reg, value] : {std::pair(1, 1), {2, 2}, {3, 3}, {4, 4}, {5, 5}}) {
    EXPECT_EQ(test.core().x(static_cast<size_t>(reg)), static_cast<uint64_t>(value));
  }
}

TEST(CoreCsrTest, AWriteOfACounterTakesThePlaceOfItsIncrement) {
  TestCore test({as::Addi(1, 0, 100), as::Csrrw(0, kMinstret, 1), as::Csrrs(2, kInstret, 0), as::Csrrw(0, kMcycle, 1),
                 as::Csrrs(3, kCycle, 0), as::Csrrs(4, kTime, 0)});
  test.Step(6);
  EXPECT_EQ(test.core().x(2), 100u);
  EXPECT_EQ(test.core().x(3), 100u);
  EXPECT_EQ(test.core().x(4), 5u) << "time goes on";
}

TEST(CoreCsrTest, MachineLevelSaysWhichCountersUsersRead) {
  for (const uint32_t enabled : {0u, 1u, 4u, 7u}) {
    for (const uint16_t csr : {kCycle, kTime, kInstret}) {
      TestCore test({as::Csrrwi(0, kMcounteren, enabled), as::Auipc(1, 0), as::Addi(1, 1, 16), as::Csrrw(0, kMepc, 1),
                     as::kMret, as::Csrrs(2, csr, 0)});
      test.Step(6);
      // mepc is the word after mret, and mstatus.MPP is the user's at the start.
      const bool is_enabled = (enabled >> (csr - kCycle) & 1) != 0;
      EXPECT_EQ(test.core().instructions(), is_enabled ? 6u : 5u) << enabled << " " << csr;
    }
  }
}

TEST(CoreCsrTest, IdentityAndExtensions) {
  TestCore test({as::Csrrs(1, kMhartid, 0), as::Csrrs(2, kMisa, 0)}, {.hart = 3});
  test.Step(2);
  EXPECT_EQ(test.core().x(1), 3u);
  EXPECT_EQ(test.core().x(2), 0x8000000000101100u) << "64 bits, I, M, U";
}

}  // namespace
}  // namespace sideband::riscv
