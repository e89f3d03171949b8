// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/nvlink_traffic.h"

#include <gtest/gtest.h>

#include "daemon/board/plausible.h"
#include "daemon/board/round_runner.h"
#include "proto/mailbox/link_info.h"

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

}  // namespace
}  // namespace sideband::daemon
