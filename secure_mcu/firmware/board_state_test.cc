// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/board_state.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace sideband::mcu {
namespace {

TEST(DriverMessagesTest, OldestFirstAndOnce) {
  DriverMessages messages;
  messages.Append({.xid = 63, .text = "first"});
  messages.Append({.xid = 64, .text = "second"});
  EXPECT_EQ(messages.TakeOldest()->sequence, 1u);
  EXPECT_EQ(messages.TakeOldest()->text, "second");
  EXPECT_EQ(messages.TakeOldest(), std::nullopt);
}

TEST(DriverMessagesTest, FindsBySequenceAndTime) {
  DriverMessages messages;
  for (const uint32_t time : {10u, 20u, 30u}) messages.Append({.time_s = time});
  EXPECT_EQ(messages.FindFrom(0)->sequence, 1u);
  EXPECT_EQ(messages.FindFrom(3)->time_s, 30u);
  EXPECT_EQ(messages.FindFrom(4), std::nullopt);
  EXPECT_EQ(messages.FindSince(11)->sequence, 2u);
  EXPECT_EQ(messages.FindSince(31), std::nullopt);
}

TEST(DriverMessagesTest, AFullQueueSaysThatLaterOnesAreLost) {
  DriverMessages messages;
  for (size_t i = 0; i < DriverMessages::kKept + 3; ++i) messages.Append({});
  for (size_t i = 1; i < DriverMessages::kKept; ++i) EXPECT_FALSE(messages.TakeOldest()->later_lost) << i;
  EXPECT_TRUE(messages.TakeOldest()->later_lost);
  messages.Append({});
  EXPECT_EQ(messages.TakeOldest()->sequence, DriverMessages::kKept + 4) << "the gap is seen by the numbers";
}

constexpr PowerLimits kBoard = {.least_mw = 100'000, .most_mw = 400'000, .default_mw = 350'000};

TEST(PowerLimitsTest, TheModuleHasTheBoardsLimitsAndItsOverhead) {
  const auto limits = ModuleLimits({.power_limit = kBoard, .module_overhead_mw = 25'000.5});
  ASSERT_TRUE(limits);
  EXPECT_EQ(limits->least_mw, 125'001u);
  EXPECT_EQ(limits->most_mw, 425'001u);
  EXPECT_EQ(limits->default_mw, 375'001u);
}

TEST(PowerLimitsTest, AModuleNeedsBoth) {
  EXPECT_FALSE(ModuleLimits({}));
  EXPECT_FALSE(ModuleLimits({.power_limit = kBoard}));
  EXPECT_FALSE(ModuleLimits({.module_overhead_mw = 0.0}));
  EXPECT_TRUE(ModuleLimits({.power_limit = kBoard, .module_overhead_mw = 0.0}));
}

TEST(PowerLimitsTest, AnExtremeOverheadSaturates) {
  EXPECT_EQ(ModuleLimits({.power_limit = kBoard, .module_overhead_mw = 1e12})->least_mw, 0xFFFF'FFFEu);
  EXPECT_EQ(ModuleLimits({.power_limit = kBoard, .module_overhead_mw = -1e12})->most_mw, 0u);
}

TEST(PowerLimitsTest, WhatWasAskedForIsInForce) {
  EXPECT_EQ(InForceMw(kBoard, {}), 350'000u);
  EXPECT_EQ(InForceMw(kBoard, {.asked_mw = 120'000}), 120'000u);
}

using mailbox::BoardEvent;
using sim::BoardFault;
using sim::BoardFaultKind;

const BoardSpec kFull = {.ecc = EccGeneration::kV6,
                         .row_remapping = true,
                         .page_retirement = true,
                         .nvlink = NvlinkSpec{.count = 4},
                         .pcie = PcieSpec{},
                         .driver_events = true};

class BoardFaultsTest : public testing::Test {
 protected:
  void Strike(const BoardFault& fault) { Apply(fault, state_, 1000); }
  uint32_t raised(BoardEvent event) const { return state_.raised[static_cast<size_t>(event)]; }

  BoardState state_{kFull};
};

TEST_F(BoardFaultsTest, EccErrorsAreCountedByMemoryAndKind) {
  Strike({.kind = BoardFaultKind::kEcc});
  Strike({.kind = BoardFaultKind::kEcc, .uncorrected = true, .count = 2});
  Strike({.kind = BoardFaultKind::kEcc, .memory = mailbox::EccMemory::kSram, .count = 3});
  Strike({.kind = BoardFaultKind::kEcc, .memory = mailbox::EccMemory::kSram, .uncorrected = true, .count = 4});
  EXPECT_EQ(state_.dram.corrected, 1u);
  EXPECT_EQ(state_.dram.uncorrected, 2u);
  EXPECT_EQ(state_.sram.corrected, 3u);
  EXPECT_EQ(state_.sram.uncorrected, 4u);
  EXPECT_FALSE(state_.sram_threshold_exceeded);
  Strike({.kind = BoardFaultKind::kSramThreshold});
  EXPECT_TRUE(state_.sram_threshold_exceeded);
}

TEST_F(BoardFaultsTest, CountersStayAtTheirMaximum) {
  constexpr uint32_t kMax = std::numeric_limits<uint32_t>::max();
  Strike({.kind = BoardFaultKind::kEcc, .count = kMax - 1});
  EXPECT_EQ(state_.dram.corrected, kMax - 1);
  for (int i = 0; i < 2; ++i) {
    Strike({.kind = BoardFaultKind::kEcc});
    EXPECT_EQ(state_.dram.corrected, kMax);
  }
  Strike({.kind = BoardFaultKind::kPcieErrors, .count = 65534, .pcie_error = sim::PcieError::kCorrectable});
  EXPECT_EQ(state_.pcie.correctable, 65534);
  Strike({.kind = BoardFaultKind::kPcieErrors, .count = kMax, .pcie_error = sim::PcieError::kCorrectable});
  EXPECT_EQ(state_.pcie.correctable, 65535);
  for (int i = 0; i < 256; ++i) Strike({.kind = BoardFaultKind::kRetirePage});
  EXPECT_EQ(state_.pages.single_bit, 255);
}

TEST_F(BoardFaultsTest, ARowTakesASpareOfItsBank) {
  const uint16_t banks = state_.rows.banks.maximum;
  Strike({.kind = BoardFaultKind::kRowRemap});
  Strike({.kind = BoardFaultKind::kRowRemap, .uncorrected = true});
  EXPECT_EQ(state_.rows.corrected, 1u);
  EXPECT_EQ(state_.rows.uncorrected, 1u);
  EXPECT_TRUE(state_.rows.is_pending);
  EXPECT_FALSE(state_.rows.has_failed);
  EXPECT_EQ(state_.rows.banks.maximum, banks - 2);
  EXPECT_EQ(state_.rows.banks.high, 2);
}

TEST_F(BoardFaultsTest, BanksAreNotMadeUp) {
  const uint16_t banks = state_.rows.banks.maximum;
  for (int i = 0; i < banks + 1; ++i) Strike({.kind = BoardFaultKind::kRowRemap});
  EXPECT_EQ(state_.rows.banks, (mailbox::RemapHistogram{.high = banks}));
  EXPECT_EQ(state_.rows.corrected, banks + 1u);
}

TEST_F(BoardFaultsTest, AFailedRemapTakesNoSpare) {
  const mailbox::RemapHistogram banks = state_.rows.banks;
  Strike({.kind = BoardFaultKind::kRowRemap, .uncorrected = true, .failed = true});
  EXPECT_TRUE(state_.rows.has_failed);
  EXPECT_FALSE(state_.rows.is_pending);
  EXPECT_EQ(state_.rows.uncorrected, 0u);
  EXPECT_EQ(state_.rows.banks, banks);
}

TEST_F(BoardFaultsTest, PagesAreRetiredByKind) {
  Strike({.kind = BoardFaultKind::kRetirePage});
  for (int i = 0; i < 2; ++i) Strike({.kind = BoardFaultKind::kRetirePage, .uncorrected = true});
  EXPECT_EQ(state_.pages.single_bit, 1);
  EXPECT_EQ(state_.pages.double_bit, 2);
}

TEST_F(BoardFaultsTest, AnXidIsAMessageAndAnEvent) {
  Strike({.kind = BoardFaultKind::kXid, .xid = 63, .text = "Row remapping pending"});
  Strike({.kind = BoardFaultKind::kXid, .xid = 79});
  EXPECT_EQ(raised(BoardEvent::kNewDriverEvent), 2u);
  EXPECT_EQ(raised(BoardEvent::kOldestDriverEvent), 1u) << "the second message is not the oldest";
  EXPECT_EQ(state_.driver.TakeOldest(),
            (mailbox::DriverEvent{.xid = 63, .sequence = 1, .time_s = 1000, .text = "Row remapping pending"}));
  EXPECT_EQ(state_.driver.TakeOldest()->xid, 79);
  Strike({.kind = BoardFaultKind::kXid, .xid = 1});
  EXPECT_EQ(raised(BoardEvent::kOldestDriverEvent), 2u) << "the queue was empty again";
}

TEST_F(BoardFaultsTest, ALinkGoesDownAndUp) {
  Strike({.kind = BoardFaultKind::kNvlinkDown, .link = 3});
  EXPECT_FALSE(state_.nvlinks[3].is_up);
  EXPECT_TRUE(state_.nvlinks[3].has_runtime_error);
  EXPECT_TRUE(state_.nvlinks[2].is_up);
  Strike({.kind = BoardFaultKind::kNvlinkUp, .link = 3});
  EXPECT_TRUE(state_.nvlinks[3].is_up);
  EXPECT_FALSE(state_.nvlinks[3].has_runtime_error);
}

TEST_F(BoardFaultsTest, LinkErrorsAreCountedByLinkAndKind) {
  const auto strike = [&](sim::NvlinkError error, uint32_t count) {
    Strike({.kind = BoardFaultKind::kNvlinkErrors, .count = count, .link = 1, .nvlink_error = error});
  };
  strike(sim::NvlinkError::kReplay, 1);
  strike(sim::NvlinkError::kRecovery, 2);
  strike(sim::NvlinkError::kFlitCrc, 3);
  strike(sim::NvlinkError::kDataCrc, 4);
  const NvlinkErrors& link = state_.nvlinks[1];
  EXPECT_EQ(link.replays, 1u);
  EXPECT_EQ(link.recoveries, 2u);
  EXPECT_EQ(link.flit_crc, 3u);
  EXPECT_EQ(link.data_crc, 4u);
  EXPECT_EQ(state_.nvlinks[0].replays, 0u);
  EXPECT_TRUE(link.is_up);
}

TEST_F(BoardFaultsTest, OtherLinksAreIgnored) {
  for (const uint8_t link : {4, 31}) {
    for (const auto kind : {BoardFaultKind::kNvlinkDown, BoardFaultKind::kNvlinkUp, BoardFaultKind::kNvlinkErrors}) {
      Strike({.kind = kind, .link = link});
    }
  }
  ASSERT_EQ(state_.nvlinks.size(), 4u);
  for (const NvlinkErrors& link : state_.nvlinks) {
    EXPECT_TRUE(link.is_up);
    EXPECT_EQ(link.replays, 0u);
  }
}

TEST_F(BoardFaultsTest, PcieErrorsAreCountedByKind) {
  const auto strike = [&](sim::PcieError error, uint32_t count) {
    Strike({.kind = BoardFaultKind::kPcieErrors, .count = count, .pcie_error = error});
  };
  strike(sim::PcieError::kCorrectable, 1);
  strike(sim::PcieError::kNonFatal, 2);
  strike(sim::PcieError::kFatal, 3);
  strike(sim::PcieError::kUnsupported, 4);
  strike(sim::PcieError::kReplay, 5);
  EXPECT_EQ(state_.pcie.correctable, 1);
  EXPECT_EQ(state_.pcie.non_fatal, 2);
  EXPECT_EQ(state_.pcie.fatal, 3);
  EXPECT_EQ(state_.pcie.unsupported, 4);
  EXPECT_EQ(state_.pcie.replays, 5u);
}

TEST_F(BoardFaultsTest, StatesOfTheBoard) {
  Strike({.kind = BoardFaultKind::kPowerConnector});
  EXPECT_TRUE(state_.power_is_insufficient);
  Strike({.kind = BoardFaultKind::kDrain});
  EXPECT_TRUE(state_.drain_recommended);
  EXPECT_FALSE(state_.reset_required);
  EXPECT_EQ(raised(BoardEvent::kResetRequired), 0u);
  Strike({.kind = BoardFaultKind::kResetRequired});
  EXPECT_TRUE(state_.reset_required);
  EXPECT_EQ(raised(BoardEvent::kResetRequired), 1u);
}

TEST_F(BoardFaultsTest, CapabilitiesAreLostAndRegained) {
  for (int i = 0; i < 2; ++i)
    Strike({.kind = BoardFaultKind::kLoseCapability, .capability = mailbox::Capability::kClocks});
  Strike({.kind = BoardFaultKind::kLoseCapability, .capability = mailbox::Capability::kEnergy});
  EXPECT_EQ(state_.lost, (std::set{mailbox::Capability::kClocks, mailbox::Capability::kEnergy}));
  for (int i = 0; i < 2; ++i)
    Strike({.kind = BoardFaultKind::kRegainCapability, .capability = mailbox::Capability::kClocks});
  EXPECT_EQ(state_.lost, std::set{mailbox::Capability::kEnergy});
}

// Which faults need a part, each with a fault on a board that has them all.
TEST(BoardFaultsIsPossibleTest, ABoardWithoutThePartCannotFail) {
  for (const sim::BoardFaultRow& row : sim::kBoardFaults) {
    const bool needs_part = row.kind < BoardFaultKind::kPowerConnector;
    EXPECT_TRUE(IsPossible({.kind = row.kind}, kFull)) << row.name;
    EXPECT_EQ(IsPossible({.kind = row.kind}, {}), !needs_part) << row.name;
  }
}

TEST(BoardFaultsIsPossibleTest, LinksAreThoseOfTheBoard) {
  for (const auto kind : {BoardFaultKind::kNvlinkDown, BoardFaultKind::kNvlinkUp, BoardFaultKind::kNvlinkErrors}) {
    EXPECT_TRUE(IsPossible({.kind = kind, .link = 3}, kFull));
    EXPECT_FALSE(IsPossible({.kind = kind, .link = 4}, kFull));
  }
}

TEST(BoardFaultsIsPossibleTest, OnlyV6HasAThreshold) {
  const BoardSpec spec{.ecc = EccGeneration::kV5};
  EXPECT_FALSE(IsPossible({.kind = BoardFaultKind::kSramThreshold}, spec));
  EXPECT_TRUE(IsPossible({.kind = BoardFaultKind::kEcc}, spec));
}

}  // namespace
}  // namespace sideband::mcu
