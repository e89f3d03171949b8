// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "daemon/board/fake_board.h"
#include "daemon/board/group_plans.h"
#include "daemon/board/group_round.h"
#include "proto/mailbox/memory_links.h"

namespace sideband::daemon {
namespace {

using mailbox::Capability;
using mailbox::NvlinkDelta;
using mailbox::NvlinkItem;
using mailbox::Opcode;

// A board with one link, whose replies about traffic the test chooses.
class NvlinkTrafficTest : public testing::Test {
 protected:
  NvlinkTrafficTest() {
    board_.Announce(Capability::kNvlinkStateV2);
    board_.Set(Opcode::kGetNvlinkInfo, 0, 0, 1);
    board_.Set(Opcode::kGetNvlinkInfo, 7, 0, 2);
    board_.lie = [this](const FakeBoard::Ran& ran) { return ReplyTo(ran); };
  }
  std::optional<BoardReply> ReplyTo(const FakeBoard::Ran& ran) const {
    const bool is_delta = ran.word.opcode == Opcode::kGetNvlinkInfo && ran.word.arg1 >= 9 && ran.word.arg1 <= 0xC;
    if (!is_delta && ran.word.opcode != Opcode::kPerformanceMonitoring) return std::nullopt;
    BoardReply reply{.word = mailbox::CommandWord::Decode(is_delta ? delta_.Encode() : granularity_), .data = 3};
    reply.word.status = mailbox::MailboxStatus::kSuccess;
    return reply;
  }
  const NvlinkStatus& Link() { return runner_.Read(BoardGroup::kNvlink).nvlink.links.at(0); }
  const NvlinkStatus& LinkAfter(const NvlinkDelta& delta) {
    delta_ = delta;
    return Link();
  }

  FakeBoard board_;
  RoundRunner runner_{board_};
  NvlinkDelta delta_{.is_new = true, .delta = 5};
  uint32_t granularity_ = 0x28;  // the echo of the opcode, with bytes
};

TEST_F(NvlinkTrafficTest, NothingIsAskedForThatIsNotAnnounced) {
  const NvlinkStatus link = Link();
  EXPECT_FALSE(link.data_tx);
  EXPECT_FALSE(link.data_tx_rate);
  EXPECT_EQ(runner_.commands, 3u) << "the number, the states, the bandwidth";
}

TEST_F(NvlinkTrafficTest, BytesAddUpInTheUnitOfEach) {
  board_.Announce(Capability::kNvlinkThroughput);
  EXPECT_EQ(Link().data_tx->value, 0u) << "carried in an unknown time";
  const absl::Time created = runner_.now.wall;
  EXPECT_EQ(LinkAfter({.is_new = true, .delta = 5}).data_tx->value, 5u << 10);
  EXPECT_EQ(LinkAfter({.granularity = 1, .is_new = true, .delta = 1}).data_tx->value, (5u << 10) + (1u << 20));
  EXPECT_EQ(LinkAfter({.granularity = 3, .is_new = true, .delta = 1}).raw_rx->value,
            (5u << 10) + (1u << 20) + (uint64_t{1} << 40));
  EXPECT_EQ(Link().data_rx->created, created);
}

TEST_F(NvlinkTrafficTest, ASampleThatWasReadCountsOnce) {
  board_.Announce(Capability::kNvlinkThroughput);
  Link();
  Link();
  EXPECT_EQ(LinkAfter({.is_new = false, .delta = 5}).raw_tx->value, 5u << 10);
}

TEST_F(NvlinkTrafficTest, AfterAnInvalidOneTheCountBeginsAnew) {
  board_.Announce(Capability::kNvlinkThroughput);
  Link();
  Link();
  EXPECT_FALSE(LinkAfter({.is_new = true, .is_invalid = true, .delta = 5}).raw_tx);
  const auto again = LinkAfter({.is_new = true, .delta = 5}).raw_tx;
  EXPECT_EQ(again, (RunningCount{0, runner_.now.wall}));
  EXPECT_TRUE(runner_.reports.empty());
}

TEST_F(NvlinkTrafficTest, MoreThanALinkCarriesIsNotCounted) {
  board_.Announce(Capability::kNvlinkThroughput);
  Link();
  static_assert(kNvlinkGainMax == uint64_t{1024} << 40);
  EXPECT_EQ(LinkAfter({.granularity = 3, .is_new = true, .delta = 1024}).data_tx->value, kNvlinkGainMax);
  EXPECT_FALSE(LinkAfter({.granularity = 3, .is_new = true, .delta = 1025}).data_tx);
  EXPECT_EQ(runner_.reports.size(), 4u) << "each kind once";
}

TEST_F(NvlinkTrafficTest, RatesHaveAUnitAndNameTheLink) {
  board_.Announce(Capability::kPerformanceMonitoring);
  EXPECT_EQ(Link().raw_tx_rate, 3);
  EXPECT_EQ(board_.log.back().data, 0u);
  EXPECT_EQ(board_.log.back().word.arg1, 0x40 | 0x14);
  granularity_ = 0x2A;
  EXPECT_EQ(Link().data_rx_rate, 3 << 20);
  granularity_ = 0x2C;
  EXPECT_FALSE(Link().data_rx_rate);
}

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
