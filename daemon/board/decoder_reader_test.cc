// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/decoder_reader.h"

#include <gtest/gtest.h>

#include <map>

#include "daemon/board/round_runner.h"
#include "proto/mailbox/performance_metric.h"

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

}  // namespace
}  // namespace sideband::daemon
