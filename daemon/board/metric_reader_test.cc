// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "daemon/board/fake_board.h"
#include "daemon/board/group_plans.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

using mailbox::MailboxStatus;
using mailbox::MetricId;

// A board whose decoders the test chooses: percentages by metric and number.
class DecoderReaderTest : public testing::Test {
 protected:
  DecoderReaderTest() {
    board_.lie = [this](const FakeBoard::Ran& ran) { return ReplyTo(ran); };
  }
  BoardReply ReplyTo(const FakeBoard::Ran& ran) const {
    const auto found = decoders_.find({static_cast<MetricId>(ran.word.arg1 & 0x3F), ran.data.value_or(0xFF)});
    BoardReply reply{.word = ran.word};
    reply.word.status = found == decoders_.end() ? MailboxStatus::kErrData : MailboxStatus::kSuccess;
    if (found != decoders_.end()) reply.data = found->second;
    return reply;
  }
  const DecoderReading& Decoders() { return runner_.Read(BoardGroup::kDecoders).decoders; }

  FakeBoard board_;
  RoundRunner runner_{board_};
  std::map<std::pair<MetricId, uint32_t>, uint32_t> decoders_;
};

TEST_F(DecoderReaderTest, EachIsAskedForUntilOneIsRefused) {
  decoders_ = {{{MetricId::kNvdecPerInstance, 0}, 25 << 8},
               {{MetricId::kNvdecPerInstance, 1}, 50 << 8},
               {{MetricId::kNvjpgPerInstance, 0}, 100 << 8}};
  const std::map<std::pair<MetricId, uint8_t>, double> expected = {{{MetricId::kNvdecPerInstance, 0}, 0.25},
                                                                   {{MetricId::kNvdecPerInstance, 1}, 0.5},
                                                                   {{MetricId::kNvjpgPerInstance, 0}, 1}};
  EXPECT_EQ(Decoders().ratios, expected);
  EXPECT_EQ(runner_.commands, 5u) << "the last of each kind is refused";
  EXPECT_TRUE(runner_.reports.empty()) << "to have no more decoders is no failure";
}

TEST_F(DecoderReaderTest, ABoardWithoutDecodersHasNone) {
  EXPECT_TRUE(Decoders().ratios.empty());
  EXPECT_EQ(runner_.commands, 2u);
}

TEST_F(DecoderReaderTest, AnImplausibleOneIsAbsentAndTheNextIsRead) {
  decoders_ = {{{MetricId::kNvdecPerInstance, 0}, 7000 << 8}, {{MetricId::kNvdecPerInstance, 1}, 0}};
  const std::map<std::pair<MetricId, uint8_t>, double> expected = {{{MetricId::kNvdecPerInstance, 1}, 0}};
  EXPECT_EQ(Decoders().ratios, expected);
  EXPECT_EQ(runner_.reports.size(), 1u);
}

TEST_F(DecoderReaderTest, ABoardThatNeverRefusesIsBounded) {
  for (uint32_t decoder = 0; decoder < 256; ++decoder) {
    decoders_[{MetricId::kNvdecPerInstance, decoder}] = 0;
    decoders_[{MetricId::kNvjpgPerInstance, decoder}] = 0;
  }
  EXPECT_EQ(Decoders().ratios.size(), 2u * kDecodersMax);
}

using mailbox::Opcode;

constexpr uint32_t Percent(double percent) { return static_cast<uint32_t>(static_cast<int32_t>(percent * 256)); }
const MetricScope kDevice, kTwo{.partition = 2}, kTwoOne{.partition = 2, .compute_instance = 1};

class MetricReaderTest : public testing::Test {
 protected:
  MetricReaderTest() { board_.Announce(mailbox::Capability::kPerformanceMonitoring); }
  const std::map<MetricScope, MetricValues>& Metrics() { return runner_.Read(BoardGroup::kMetrics).metrics.scopes; }
  const std::vector<MetricScope>& Partitions() { return runner_.Read(BoardGroup::kPartitions).partitions.scopes; }
  std::optional<double> Ratio(double percent) {
    board_.metrics[kDevice][MetricId::kSmActivity] = Percent(percent);
    const auto& scopes = Metrics();
    const auto found = scopes.find(kDevice);
    return found == scopes.end() ? std::nullopt : Find(found->second.ratios, MetricId::kSmActivity);
  }
  void AnnounceLinks() {
    board_.Announce(mailbox::Capability::kPcieLink);
    board_.Announce(mailbox::Capability::kNvlinkStateV2);
  }
  FakeBoard board_;
  RoundRunner runner_{board_};
};

TEST_F(MetricReaderTest, CapturesAndReadsTheWholeDevice) {
  EXPECT_EQ(Ratio(50.5), 0.505);
  EXPECT_EQ(board_.log[0].word.arg1, 0x80);
  EXPECT_EQ(board_.log[1].word.arg1, 0x40);
  EXPECT_EQ(board_.log[1].word.arg2, mailbox::kWholeDevice);
  EXPECT_EQ(board_.log[1].data, std::nullopt);
}

TEST_F(MetricReaderTest, ClampsALittleAboveAllAndDropsMore) {
  EXPECT_EQ(Ratio(0), 0);
  EXPECT_EQ(Ratio(-0.5), std::nullopt);
  EXPECT_EQ(Ratio(100), 1);
  EXPECT_EQ(Ratio(100.99), 1);
  EXPECT_EQ(Ratio(101), std::nullopt);
}

TEST_F(MetricReaderTest, AsksOnceForWhatIsNotThere) {
  Ratio(1);
  const uint32_t first = runner_.commands;
  Ratio(1);
  EXPECT_EQ(first, 1u + 15);  // the capture; percentages
  EXPECT_EQ(runner_.commands, 2u);
}

TEST_F(MetricReaderTest, BandwidthsAreThoseOfLinks) {
  const auto asked = [this](int metric) {
    return std::ranges::count_if(board_.log, [&](const auto& ran) { return (ran.word.arg1 & 0x3F) == metric; });
  };
  Ratio(1);
  EXPECT_EQ(asked(0x08), 0);
  EXPECT_EQ(asked(0x0B), 0);
  AnnounceLinks();
  Ratio(1);
  EXPECT_EQ(asked(0x08), 1);
  EXPECT_EQ(asked(0x0B), 1);
}

TEST_F(MetricReaderTest, BandwidthsHaveAUnit) {
  AnnounceLinks();
  board_.lie = [](const FakeBoard::Ran& ran) -> std::optional<BoardReply> {
    BoardReply reply{.word = {.status = mailbox::MailboxStatus::kSuccess}, .data = 3};
    const int metric = ran.word.arg1 & 0x3F;
    // By the metric's number, with and without the rest of the echo.
    if (metric == 0x08) reply.word.opcode = static_cast<Opcode>(0x28);
    if (metric == 0x09) reply.word.opcode = static_cast<Opcode>(0x2A);
    if (metric == 0x0A) reply.word.opcode = static_cast<Opcode>(0x03);
    if (metric == 0x0B) reply.word.opcode = static_cast<Opcode>(0x04);
    return reply;
  };
  const auto& rates = Metrics().at(kDevice).bytes_per_second;
  EXPECT_EQ(rates.at(MetricId::kPcieTx), 3);
  EXPECT_EQ(rates.at(MetricId::kPcieRx), 3 << 20);
  EXPECT_EQ(rates.at(MetricId::kNvlinkRawTx), 3.0 * (1 << 30));
  EXPECT_FALSE(rates.contains(MetricId::kNvlinkDataTx));
}

TEST_F(MetricReaderTest, FindsPartitionsAndComputeInstances) {
  for (const MetricScope& scope : {kDevice, kTwo, kTwoOne}) board_.metrics[scope][MetricId::kSmActivity] = 0;
  EXPECT_EQ(Partitions(), (std::vector<MetricScope>{kTwo, kTwoOne}));
  // Engine activity is not there, so SM activity is asked for; 64 partitions; 8 compute instances.
  EXPECT_EQ(runner_.commands, 2u + 64 + 8);
  board_.metrics[kTwo][MetricId::kSmActivity] = Percent(25);
  board_.metrics[kTwoOne][MetricId::kSmActivity] = Percent(12.5);
  const auto& scopes = Metrics();
  EXPECT_EQ(scopes.at(kTwo).ratios.at(MetricId::kSmActivity), 0.25);
  EXPECT_EQ(scopes.at(kTwoOne).ratios.at(MetricId::kSmActivity), 0.125);
  EXPECT_EQ(board_.log.back().data, 0x100u);
}

TEST_F(MetricReaderTest, APartitionThatIsNotAvailableExists) {
  board_.metrics[kDevice][MetricId::kEngineActive] = 0;
  board_.lie = [](const FakeBoard::Ran& ran) -> std::optional<BoardReply> {
    if (ran.word.arg2 != 5) return std::nullopt;
    return BoardReply{.word = {.status = mailbox::MailboxStatus::kErrNotAvailable}};
  };
  EXPECT_EQ(Partitions(), (std::vector<MetricScope>{{.partition = 5}}));
}

TEST_F(MetricReaderTest, APartitionThatHasEndedIsNoFailure) {
  board_.metrics[{}][MetricId::kSmActivity] = 0;
  board_.metrics[{.partition = 1}][MetricId::kSmActivity] = 0;
  runner_.Read(BoardGroup::kPartitions);
  board_.metrics.erase({.partition = 1});
  EXPECT_FALSE(runner_.Read(BoardGroup::kMetrics).metrics.scopes.contains({.partition = 1}));
  EXPECT_TRUE(runner_.reports.empty());
}

TEST_F(MetricReaderTest, WithoutMigThereAreNone) {
  board_.metrics[kDevice][MetricId::kEngineActive] = 0;
  runner_.reading.flags.flags[mailbox::MiscFlag::kMigCurrent] = false;
  Partitions();
  EXPECT_EQ(runner_.commands, 0u);
}

TEST_F(MetricReaderTest, ScopesAreBounded) {
  board_.lie = [](const FakeBoard::Ran&) {
    return std::optional(BoardReply{.word = {.status = mailbox::MailboxStatus::kSuccess}});
  };
  EXPECT_EQ(Partitions().size(), PartitionReading::kScopesMax);
  EXPECT_LE(runner_.commands, RowOf(BoardGroup::kPartitions).commands_max);
  EXPECT_EQ(Metrics().size(), 1 + PartitionReading::kScopesMax);
  EXPECT_LT(runner_.commands, RowOf(BoardGroup::kMetrics).commands_max);
}

}  // namespace

}  // namespace sideband::daemon
