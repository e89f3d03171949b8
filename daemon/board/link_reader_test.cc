// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/link_reader.h"

#include <gtest/gtest.h>

#include "daemon/board/plausible.h"
#include "daemon/board/round_runner.h"
#include "proto/mailbox/link_info.h"

namespace sideband::daemon {
namespace {

using mailbox::Capability;
using mailbox::Opcode;
using mailbox::PcieLink;

class LinkReaderTest : public testing::Test {
 protected:
  void SetLink(const PcieLink& link, uint32_t correctable = 0) {
    board_.Set(Opcode::kGetPcieLink, 0, 0, link.Encode(), correctable);
  }
  const PcieReading& Pcie() { return runner_.Read(BoardGroup::kPcie).pcie; }
  const std::vector<NvlinkStatus>& Nvlinks() { return runner_.Read(BoardGroup::kNvlink).nvlink.links; }
  FakeBoard board_;
  RoundRunner runner_{board_};
};

TEST_F(LinkReaderTest, ReadsThePcieLink) {
  board_.Announce(Capability::kPcieTargetSpeed);
  SetLink({.speed = 5, .width = 5, .non_fatal = 1, .fatal = 2, .unsupported = 3}, 0x1234);
  board_.Set(Opcode::kGetPcieLink, 1, 0, 10, 11);
  board_.Set(Opcode::kGetPcieLink, 2, 0, 0x0005'0004, 6);
  board_.Set(Opcode::kGetPcieLink, 3, 0, 4);
  const PcieReading& pcie = Pcie();
  EXPECT_EQ(pcie.generation, 5);
  EXPECT_EQ(pcie.lanes, 16);
  EXPECT_EQ(pcie.target_generation, 4);
  EXPECT_EQ(pcie.non_fatal->value, 1u);
  EXPECT_EQ(pcie.fatal->value, 2u);
  EXPECT_EQ(pcie.unsupported->value, 3u);
  EXPECT_EQ(pcie.correctable->value, 0x1234u);
  EXPECT_EQ(pcie.recoveries->value, 10u);
  EXPECT_EQ(pcie.replays->value, 11u);
  EXPECT_EQ(pcie.replay_rollovers->value, 4u);
  EXPECT_EQ(pcie.naks_received->value, 5u);
  EXPECT_EQ(pcie.naks_sent->value, 6u);
}

TEST_F(LinkReaderTest, UnknownAndUndefinedCodesAreAbsent) {
  SetLink({.speed = 0, .width = 0});
  EXPECT_EQ(Pcie().generation, std::nullopt);
  EXPECT_EQ(runner_.reading.pcie.lanes, std::nullopt);
  EXPECT_TRUE(runner_.reports.empty());
  SetLink({.speed = 6, .width = 7});
  EXPECT_EQ(Pcie().generation, std::nullopt);
  EXPECT_EQ(runner_.reading.pcie.lanes, std::nullopt);
  EXPECT_EQ(runner_.reports.size(), 2u);
}

TEST_F(LinkReaderTest, NarrowCountersWrap) {
  SetLink({.fatal = 250}, 0xFFFF);
  Pcie();
  SetLink({.fatal = 4}, 1);
  EXPECT_EQ(Pcie().fatal->value, 260u);
  EXPECT_EQ(runner_.reading.pcie.correctable->value, 0x1'0001u);
}

TEST_F(LinkReaderTest, ReadsNvlinks) {
  board_.Announce(Capability::kNvlinkStateV2);
  board_.Announce(Capability::kNvlinkErrors);
  board_.Announce(Capability::kNvlinkRuntimeError);
  board_.Set(Opcode::kGetNvlinkInfo, 0, 0, 18);
  board_.Set(Opcode::kGetNvlinkInfo, 7, 0, 0x5432'1022, 0x2222'2222);
  board_.Set(Opcode::kGetNvlinkInfo, 7, 1, 0x0000'00F4);
  board_.Set(Opcode::kGetNvlinkInfo, 0xE, 0, 1 << 17);
  board_.Set(Opcode::kGetNvlinkInfo, 2, 0, 53'125);
  board_.Set(Opcode::kGetNvlinkInfo, 2, 1, mailbox::kNvlinkBandwidthInvalid);
  board_.Set(Opcode::kGetNvlinkInfo, 2, 2, kNvlinkMbpsMax);
  board_.Set(Opcode::kGetNvlinkInfo, 2, 3, kNvlinkMbpsMax + 1);
  board_.Set(Opcode::kGetNvlinkInfo, 3, 17, 5);
  board_.Set(Opcode::kGetNvlinkInfo, 6, 17, 6);
  const auto& links = Nvlinks();
  ASSERT_EQ(links.size(), 18u);
  EXPECT_EQ(links[0].is_up, true);
  EXPECT_EQ(links[2].is_up, false);
  EXPECT_EQ(links[2].state, mailbox::NvlinkState::kOff);
  EXPECT_EQ(links[5].state, mailbox::NvlinkState::kError);
  EXPECT_EQ(links[15].is_up, true);
  EXPECT_EQ(links[16].state, mailbox::NvlinkState::kLowPower);
  EXPECT_EQ(links[16].is_up, true);
  EXPECT_EQ(links[17].is_up, std::nullopt);  // an undefined state
  EXPECT_EQ(links[17].has_runtime_error, true);
  EXPECT_EQ(links[16].has_runtime_error, false);
  EXPECT_EQ(links[17].replays->value, 5u);
  EXPECT_EQ(links[17].data_crc->value, 6u);
  EXPECT_EQ(links[17].recoveries, std::nullopt);
  EXPECT_EQ(links[0].bits_per_second, 53'125'000'000u);
  EXPECT_EQ(links[1].bits_per_second, std::nullopt);
  EXPECT_EQ(links[2].bits_per_second, 1'000'000'000'000u);
  EXPECT_EQ(links[3].bits_per_second, std::nullopt);
}

TEST_F(LinkReaderTest, TheOlderStateIsUpOrDown) {
  board_.Announce(Capability::kNvlinkStateV1);
  board_.Set(Opcode::kGetNvlinkInfo, 0, 0, 32);
  board_.Set(Opcode::kGetNvlinkInfo, 1, 0, 0x8000'0001);
  const auto& links = Nvlinks();
  ASSERT_EQ(links.size(), 32u);
  EXPECT_EQ(links[0].is_up, true);
  EXPECT_EQ(links[30].is_up, false);
  EXPECT_EQ(links[31].is_up, true);
}

TEST_F(LinkReaderTest, MoreLinksThanThereCanBeAreNone) {
  board_.Set(Opcode::kGetNvlinkInfo, 0, 0, 33);
  EXPECT_TRUE(Nvlinks().empty());
  EXPECT_EQ(runner_.commands, 1u);
  EXPECT_EQ(runner_.reports.size(), 1u);
}

TEST_F(LinkReaderTest, AllLinksFitIntoTheBoundOfARound) {
  for (const auto capability :
       {Capability::kNvlinkStateV2, Capability::kNvlinkErrors, Capability::kNvlinkTrainingError,
        Capability::kNvlinkRuntimeError, Capability::kNvlinkThroughput, Capability::kPerformanceMonitoring}) {
    board_.Announce(capability);
  }
  board_.lie = [](const FakeBoard::Ran& ran) {
    BoardReply reply{.word = ran.word, .data = 32};
    reply.word.status = mailbox::MailboxStatus::kSuccess;
    return std::optional(reply);
  };
  EXPECT_TRUE(Nvlinks().back().raw_rx_rate.has_value());
  EXPECT_LT(runner_.commands, RowOf(BoardGroup::kNvlink).commands_max);
}

}  // namespace
}  // namespace sideband::daemon
