// SPDX-License-Identifier: Apache-2.0
//
// Control and status registers: their bits, levels and traps. Zicsr: which instruction reads, which one writes, and at
// which level; counters; the port of the registers hpcc, hpcm and hpcr. Exceptions, interrupts, levels, and the ends of
// programs.
#include "sim/riscv/core.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
      {as::Csrrs(0, kHpcr, 0), {"read cc0 machine 0"}},  // pops, although the value is dropped
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

constexpr uint64_t kHandler = kTestBase + 0x1000;
constexpr uint64_t kBody = kTestBase + 8;

// Two words that let traps go to kHandler, then `body` at kBody; it is reached after two steps.
std::vector<uint32_t> WithHandler(const std::vector<uint32_t>& body) {
  std::vector<uint32_t> words = {as::Auipc(31, 1), as::Csrrw(0, kMtvec, 31)};
  words.insert(words.end(), body.begin(), body.end());
  return words;
}

uint64_t Csr(TestCore& test, uint16_t csr) {
  return test.core().csrs().Read(csr, {test.core().cycle(), test.core().instructions()}).value_or(~uint64_t{0});
}

void ExpectTrap(TestCore& test, uint64_t cause, uint64_t value, uint64_t pc) {
  EXPECT_EQ(test.core().pc(), kHandler);
  EXPECT_EQ(Csr(test, kMcause), cause);
  EXPECT_EQ(Csr(test, kMtval), value);
  EXPECT_EQ(Csr(test, kMepc), pc);
  EXPECT_EQ(test.core().csrs().level(), Privilege::kMachine);
}

TEST(CoreTrapTest, IllegalInstructions) {
  constexpr uint32_t kWords[] = {
      0x00000000,                         // all zeros
      0xffffffff,                         // all ones
      0x00000001,                         // a compressed nop
      as::TypeI(0x03, 7, 1, 1, 0),        // a load of no size
      as::TypeS(4, 1, 1, 0),              // a store of no size
      as::TypeB(2, 1, 1, 8),              // no branch
      as::TypeB(3, 1, 1, 8),              //
      as::TypeI(0x67, 1, 1, 1, 0),        // jalr with a function
      as::TypeI(0x13, 1, 1, 1, 0x400),    // shifts with bits of no shift
      as::TypeI(0x13, 1, 1, 1, 0x040),    //
      as::TypeI(0x13, 5, 1, 1, 0x800),    //
      as::TypeI(0x13, 5, 1, 1, 0x200),    //
      as::TypeI(0x1b, 1, 1, 1, 32),       // a 32-bit shift by 32
      as::TypeI(0x1b, 5, 1, 1, 32),       // which is not a division either
      as::TypeI(0x1b, 2, 1, 1, 0),        // no 32-bit comparison
      as::TypeR(0x33, 0, 0x40, 1, 1, 1),  // no function
      as::TypeR(0x33, 1, 0x20, 1, 1, 1),  //
      as::TypeR(0x33, 0, 0x02, 1, 1, 1),  //
      as::TypeR(0x3b, 1, 0x01, 1, 1, 1),  // no 32-bit mulh
      as::TypeR(0x3b, 2, 0x00, 1, 1, 1),  // no 32-bit slt
      as::TypeR(0x3b, 7, 0x00, 1, 1, 1),  // no 32-bit and
      as::TypeR(0x2f, 2, 0x08, 1, 1, 1),  // A: amoswap.w
      as::TypeI(0x07, 2, 1, 1, 0),        // F: flw
      as::TypeI(0x0f, 2, 1, 1, 0),        // no fence
      0x10200073,                         // sret: there is no supervisor level
      0x00200073,                         // uret
      0x12000073,                         // sfence.vma
      as::TypeI(0x73, 4, 1, 1, 0x300),    // no CSR instruction
      as::kEcall | 1 << 7,                // ecall with a destination
      as::kMret | 1 << 15,                // mret with a source
  };
  for (const uint32_t word : kWords) {
    TestCore test(WithHandler({word}));
    test.core().set_x(1, kTestBase + 0x2000);
    test.Step(3);
    ExpectTrap(test, kCauseIllegal, word, kBody);
    EXPECT_EQ(test.core().instructions(), 2u) << std::hex << word;
    EXPECT_EQ(test.core().cycle(), 3u);
    EXPECT_EQ(test.core().x(1), kTestBase + 0x2000);
  }
}

TEST(CoreTrapTest, CallsAndBreakpoints) {
  TestCore call(WithHandler({as::kEcall}));
  call.Step(3);
  ExpectTrap(call, kCauseMachineCall, 0, kBody);
  TestCore breakpoint(WithHandler({as::kEbreak}));
  breakpoint.Step(3);
  ExpectTrap(breakpoint, kCauseBreakpoint, kBody, kBody);
}

TEST(CoreTrapTest, LoadsAndStores) {
  constexpr uint64_t kData = kTestBase + 0x2000;
  const struct {
    uint32_t word;  // at address x1, the value is x2
    uint64_t address;
    uint64_t cause;
  } kRows[] = {
      {as::Lh(3, 1, 0), kData + 1, kCauseLoadMisaligned},
      {as::Lhu(3, 1, 0), kData + 7, kCauseLoadMisaligned},
      {as::Lw(3, 1, 0), kData + 2, kCauseLoadMisaligned},
      {as::Lwu(3, 1, 0), kData + 1, kCauseLoadMisaligned},
      {as::Ld(3, 1, 0), kData + 4, kCauseLoadMisaligned},
      {as::Sh(2, 1, 0), kData + 1, kCauseStoreMisaligned},
      {as::Sw(2, 1, 0), kData + 3, kCauseStoreMisaligned},
      {as::Sd(2, 1, 0), kData + 4, kCauseStoreMisaligned},
      {as::Lb(3, 1, 0), kTestEnd, kCauseLoadAccess},
      {as::Lb(3, 1, 0), kTestBase - 1, kCauseLoadAccess},
      {as::Lbu(3, 1, 0), 0, kCauseLoadAccess},
      {as::Ld(3, 1, 0), kTestEnd, kCauseLoadAccess},
      {as::Ld(3, 1, 0), kTestBase - 8, kCauseLoadAccess},
      {as::Ld(3, 1, 0), ~uint64_t{7}, kCauseLoadAccess},
      {as::Ld(3, 1, 0), uint64_t{1} << 63, kCauseLoadAccess},
      {as::Sb(2, 1, 0), kTestEnd, kCauseStoreAccess},
      {as::Sd(2, 1, 0), kTestBase - 8, kCauseStoreAccess},
      {as::Sd(2, 1, 0), ~uint64_t{7}, kCauseStoreAccess},
      {as::Ld(3, 1, 0), kTestEnd - 4, kCauseLoadMisaligned},  // misaligned and outside
  };
  for (const auto& row : kRows) {
    TestCore test(WithHandler({row.word}));
    test.core().set_x(1, row.address);
    test.core().set_x(2, ~uint64_t{0});
    test.core().set_x(3, 77);
    test.Step(3);
    ExpectTrap(test, row.cause, row.address, kBody);
    EXPECT_EQ(test.core().x(3), 77u) << "nothing was loaded";
    for (uint64_t offset = 0; offset < 16; offset += 8) {
      EXPECT_EQ(test.memory().Load<uint64_t>(kData + offset), 0u) << "nothing was stored";
    }
  }
}

TEST(CoreTrapTest, MisalignedJumpsTrapWhereTheyAre) {
  const struct {
    uint32_t word;
    uint64_t target;
  } kRows[] = {
      {as::Jal(5, 6), kBody + 6},
      {as::Jalr(5, 1, 2), kTestBase + 2},
      {as::Jalr(5, 1, 3), kTestBase + 2},  // the lowest bit is cleared first
      {as::Beq(0, 0, 10), kBody + 10},
  };
  for (const auto& row : kRows) {
    TestCore test(WithHandler({row.word}));
    test.core().set_x(1, kTestBase);
    test.core().set_x(5, 77);
    test.Step(3);
    ExpectTrap(test, kCauseFetchMisaligned, row.target, kBody);
    EXPECT_EQ(test.core().x(5), 77u) << "no link";
  }
  TestCore not_taken(WithHandler({as::Bne(0, 0, 10)}));
  not_taken.Step(3);
  EXPECT_EQ(not_taken.core().pc(), kBody + 4);
}

TEST(CoreTrapTest, JumpsOutOfTheMemoryTrapWhereTheyGo) {
  const struct {
    uint32_t word;
    uint64_t target;
  } kRows[] = {
      {as::Jalr(5, 0, 0), 0},
      {as::Jalr(5, 1, 0), kTestEnd},
      {as::Jal(5, -0x1000), kBody - 0x1000},
      {as::Beq(0, 0, -16), kBody - 16},
  };
  for (const auto& row : kRows) {
    TestCore test(WithHandler({row.word}));
    test.core().set_x(1, kTestEnd);
    test.Step(4);
    ExpectTrap(test, kCauseFetchAccess, row.target, row.target);
    EXPECT_EQ(test.core().instructions(), 3u) << "the jump itself is retired";
  }
}

TEST(CoreTrapTest, AProgramThatRunsOffTheMemoryTraps) {
  TestCore test(WithHandler({as::Jalr(0, 1, -4)}));
  test.core().set_x(1, kTestEnd);
  test.memory().Store(kTestEnd - 4, as::kNop);
  test.Step(5);
  ExpectTrap(test, kCauseFetchAccess, kTestEnd, kTestEnd);
}

// mtvec, then mepc = where the user's words begin, then mret to the user's level.
std::vector<uint32_t> AtUserLevel(const std::vector<uint32_t>& body) {
  std::vector<uint32_t> words =
      WithHandler({as::Auipc(30, 0), as::Addi(30, 30, 16), as::Csrrw(0, kMepc, 30), as::kMret});
  words.insert(words.end(), body.begin(), body.end());
  return words;
}
constexpr uint64_t kUserBody = kTestBase + 24;
constexpr uint64_t kUserSteps = 6;

TEST(CoreTrapTest, UsersAreRefusedWhatIsNotTheirs) {
  for (const uint32_t word : {as::kMret, as::Csrrs(1, kMstatus, 0), as::Csrrwi(0, kMscratch, 0),
                              as::Csrrwi(0, kMexit, 0), as::Csrrs(1, kMhartid, 0), as::Csrrwi(0, kCycle, 0)}) {
    TestCore test(AtUserLevel({word}));
    test.Step(kUserSteps);
    EXPECT_EQ(test.core().csrs().level(), Privilege::kUser);
    test.Step();
    ExpectTrap(test, kCauseIllegal, word, kUserBody);
  }
}

TEST(CoreTrapTest, AUsersCallHasACauseOfItsOwn) {
  TestCore test(AtUserLevel({as::kEcall}));
  test.Step(kUserSteps + 1);
  ExpectTrap(test, kCauseUserCall, 0, kUserBody);
}

TEST(CoreTrapTest, StatusKeepsLevelAndInterruptsOverATrap) {
  TestCore test(AtUserLevel({as::kEcall}));
  test.Step(kUserSteps);
  // mret has set MPIE, and left MIE as MPIE was, which is 0.
  test.Step();
  EXPECT_EQ(Csr(test, kMstatus), kMstatusUxl64) << "MPP is the user's, MPIE what MIE was";
  test.memory().Store(kHandler, as::Csrrsi(0, kMstatus, 8));
  test.memory().Store(kHandler + 4, as::kEcall);
  test.Step();
  EXPECT_EQ(Csr(test, kMstatus), kMstatusUxl64 | kMstatusMie);
  test.Step();
  EXPECT_EQ(Csr(test, kMstatus), kMstatusUxl64 | kMstatusMpie | kMstatusMpp) << "from machine level";
}

TEST(CoreTrapTest, MretReturnsToTheLevelOfTheTrap) {
  TestCore test(AtUserLevel({as::kEcall, as::kNop}));
  const uint32_t handler[] = {as::Csrrs(1, kMepc, 0), as::Addi(1, 1, 4), as::Csrrw(0, kMepc, 1), as::kMret};
  test.memory().Write(kHandler, handler);
  test.Step(kUserSteps + 1 + 4);
  EXPECT_EQ(test.core().pc(), kUserBody + 4);
  EXPECT_EQ(test.core().csrs().level(), Privilege::kUser);
}

// mstatus.MIE is for machine level only.
TEST(CoreTrapTest, TheTimerInterruptsUsersEveryTenCycles) {
  TestCore test(
      WithHandler({as::Addi(1, 0, 0x80), as::Csrrw(0, kMie, 1), as::Csrrwi(0, kMtimecmp, 30), as::Auipc(30, 0),
                   as::Addi(30, 30, 16), as::Csrrw(0, kMepc, 30), as::kMret, as::Addi(5, 5, 1), as::Jal(0, -4)}));
  const uint32_t handler[] = {as::Addi(6, 6, 1), as::Csrrs(7, kMtimecmp, 0), as::Addi(7, 7, 10),
                              as::Csrrw(0, kMtimecmp, 7), as::kMret};
  test.memory().Write(kHandler, handler);
  test.Step(200);
  EXPECT_EQ(test.core().x(6), 17u) << "at 30, 40, … 190";
  // 9 words before the loop, which has 21 steps before the first interrupt and 4 after each.
  EXPECT_EQ(test.core().x(5), (21u + 17 * 4 + 1) / 2);
}

TEST(CoreTrapTest, TheTimerInterruptsInItsCycleAndReturns) {
  const std::vector<uint32_t> words = {
      as::Auipc(31, 1),            // 0
      as::Csrrw(0, kMtvec, 31),    // 1
      as::Addi(1, 0, 20),          // 2
      as::Csrrw(0, kMtimecmp, 1),  // 3
      as::Addi(1, 0, 0x80),        // 4
      as::Csrrw(0, kMie, 1),       // 5
      as::Csrrsi(0, kMstatus, 8),  // 6
      as::Addi(5, 5, 1),           // 7, and each odd cycle
      as::Jal(0, -4),              // 8
  };
  TestCore test(words);
  const uint32_t handler[] = {as::Csrrs(6, kCycle, 0),    as::Csrrs(7, kMip, 0), as::Addi(8, 0, 2000),
                              as::Csrrw(0, kMtimecmp, 8), as::Csrrs(9, kMip, 0), as::kMret};
  test.memory().Write(kHandler, handler);
  test.Step(20);
  EXPECT_EQ(test.core().x(5), 7u);
  EXPECT_EQ(test.core().pc(), kTestBase + 32) << "the jump of cycle 20 waits";
  test.Step();
  ExpectTrap(test, kCauseTimer, 0, kTestBase + 32);
  EXPECT_EQ(test.core().instructions(), 20u) << "the interrupt takes a cycle";
  EXPECT_EQ(Csr(test, kMstatus) & (kMstatusMie | kMstatusMpie), kMstatusMpie);
  test.Step(6);
  EXPECT_EQ(test.core().x(6), 21u);
  EXPECT_EQ(test.core().x(7), kTimerInterrupt);
  EXPECT_EQ(test.core().x(9), 0u);
  EXPECT_EQ(test.core().pc(), kTestBase + 32);
  EXPECT_EQ(Csr(test, kMstatus) & (kMstatusMie | kMstatusMpie), kMstatusMie | kMstatusMpie);
  test.Step(100);
  EXPECT_EQ(test.core().x(5), 57u);
}

TEST(CoreTrapTest, InterruptsHaveAnEntryOfTheirOwnIfVectored) {
  const std::vector<uint32_t> words = {as::Auipc(31, 1),
                                       as::Addi(31, 31, 1),
                                       as::Csrrw(0, kMtvec, 31),
                                       as::Addi(1, 0, 0x80),
                                       as::Csrrw(0, kMie, 1),
                                       as::Csrrwi(0, kMtimecmp, 9),
                                       as::Csrrsi(0, kMstatus, 8),
                                       as::kNop,
                                       as::kNop,
                                       as::kNop};
  TestCore test(words);
  test.Step(10);
  EXPECT_EQ(test.core().pc(), kHandler + 4 * 7);
  TestCore exception({as::Auipc(31, 1), as::Addi(31, 31, 1), as::Csrrw(0, kMtvec, 31), as::kEcall});
  exception.Step(4);
  EXPECT_EQ(exception.core().pc(), kHandler);
}

TEST(CoreTrapTest, AtMachineLevelTheTimerWaitsForMie) {
  TestCore test(WithHandler({as::Addi(1, 0, 0x80), as::Csrrw(0, kMie, 1), as::Csrrwi(0, kMtimecmp, 3), as::kNop,
                             as::Csrrs(2, kMip, 0), as::Csrrsi(0, kMstatus, 8), as::kNop}));
  test.Step(8);
  EXPECT_EQ(test.core().x(2), kTimerInterrupt) << "pending";
  EXPECT_EQ(test.core().instructions(), 8u);
  test.Step();
  ExpectTrap(test, kCauseTimer, 0, kBody + 24);
}

// --- The ends of programs -------------------------------------------------------------------------------------------

TEST(CoreTrapTest, AUserProgramsExceptionHaltsIt) {
  LinuxCalls calls;
  TestCore test({as::kNop, as::Ld(1, 0, 0), as::kNop}, {.environment = &calls});
  test.Step(100);
  ASSERT_TRUE(test.core().halt());
  EXPECT_EQ(*test.core().halt(), (Halt{Halt::Reason::kFault, kCauseLoadAccess, kTestBase + 4}));
  EXPECT_EQ(test.core().cycle(), 2u);
}

TEST(CoreTrapTest, AUserProgramWritesAndExits) {
  LinuxCalls calls;
  TestCore test({as::Addi(10, 0, 1), as::Auipc(11, 1), as::Addi(12, 0, 3), as::Addi(17, 0, 64), as::kEcall,
                 as::Addi(5, 10, 0), as::Addi(10, 0, 300), as::Addi(17, 0, 93), as::kEcall, as::kNop},
                {.environment = &calls});
  test.memory().Store(kTestBase + 4 + 0x1000, 0x0a6b6f);
  test.Step(100);
  EXPECT_EQ(calls.output(), "ok\n");
  EXPECT_EQ(test.core().x(5), 3u);
  ASSERT_TRUE(test.core().halt());
  EXPECT_EQ(*test.core().halt(), (Halt{Halt::Reason::kExited, 300 & 0xff, kTestBase + 32}));
  EXPECT_EQ(test.core().cycle(), 9u);
  EXPECT_EQ(test.core().instructions(), 7u) << "a call is not retired";
}

TEST(CoreTrapTest, TheCoreHaltsAfterItsInstructions) {
  for (const uint64_t limit : {0, 1, 2, 3, 100}) {
    TestCore test({as::Addi(5, 5, 1), as::Jal(0, -4)}, {.instructions_max = limit});
    test.Step(1000);
    ASSERT_TRUE(test.core().halt());
    EXPECT_EQ(test.core().halt()->reason, Halt::Reason::kInstructions);
    EXPECT_EQ(test.core().instructions(), limit);
    EXPECT_EQ(test.core().x(5), (limit + 1) / 2);
  }
}

TEST(CoreTrapTest, WithoutAHandlerTrapsGoRound) {
  TestCore test({as::kIllegal});
  test.Step(1000);
  EXPECT_FALSE(test.core().halt());
  EXPECT_EQ(test.core().cycle(), 1000u);
  EXPECT_EQ(test.core().instructions(), 0u);
}

}  // namespace
}  // namespace sideband::riscv
