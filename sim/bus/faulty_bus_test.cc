// SPDX-License-Identifier: Apache-2.0
#include "sim/bus/faulty_bus.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace sideband::sim {
namespace {

using smbus::Message;
using smbus::Outcome;
using smbus::Transfer;
using smbus::TransferResult;

const Transfer kStatusWrite = {{Message::Write(0x4F, {0x5C, 4, 2, 0, 0, 0x80, 0x56})}};
const Transfer kStatusRead = {{Message::Write(0x4F, {0x5C}), Message::ReadBlock(0x4F, 1)}};
// The golden status read of the facts sheet, 6.4.
const TransferResult kGoldenStatus = {.read = {{0x04, 0x02, 0x00, 0x00, 0x1F, 0x6F}}};

TEST(TransferEditsTest, PlacesFollowTheWire) {
  using Part = WirePlace::Part;
  EXPECT_EQ(WireBytes(kStatusWrite), 8u);
  EXPECT_EQ(WireBytes(kStatusRead), 9u);
  const struct {
    size_t byte, message;
    Part part;
    size_t offset;
  } kRows[] = {{0, 0, Part::kAddress, 0},
               {1, 0, Part::kWritten, 0},
               {2, 1, Part::kAddress, 0},
               {3, 1, Part::kRead, 0},
               {8, 1, Part::kRead, 5}};
  for (const auto& row : kRows) {
    const WirePlace place = PlaceOf(kStatusRead, row.byte);
    EXPECT_EQ(place.message, row.message) << row.byte;
    EXPECT_EQ(place.part, row.part) << row.byte;
    EXPECT_EQ(place.offset, row.offset) << row.byte;
  }
}

TEST(TransferEditsTest, PrefixesEndAnywhere) {
  EXPECT_TRUE(Prefix(kStatusRead, 0).messages.empty());
  EXPECT_EQ(Prefix(kStatusRead, 1), (Transfer{{Message::Write(0x4F, {})}}));
  EXPECT_EQ(Prefix(kStatusRead, 2), (Transfer{{Message::Write(0x4F, {0x5C})}}));
  EXPECT_EQ(Prefix(kStatusRead, 3), (Transfer{{Message::Write(0x4F, {0x5C}), Message::Read(0x4F, 0)}}));
  EXPECT_EQ(Prefix(kStatusRead, 5), (Transfer{{Message::Write(0x4F, {0x5C}), Message::Read(0x4F, 2)}}));
  EXPECT_EQ(Prefix(kStatusRead, 9), kStatusRead);
  EXPECT_EQ(Prefix(kStatusWrite, 4), (Transfer{{Message::Write(0x4F, {0x5C, 4, 2})}}));
  EXPECT_EQ(Prefix(kStatusWrite, 100), kStatusWrite);
}

TEST(TransferEditsTest, ARightPecSumsToZero) {
  EXPECT_EQ(PecOverAll(kStatusRead, kGoldenStatus), 0);
  EXPECT_EQ(PecOverAll(kStatusWrite, {}), 0);
  EXPECT_NE(PecOverAll(kStatusWrite, kGoldenStatus), PecOverAll(kStatusRead, {}));
}

TEST(TransferEditsTest, BlocksAreAnsweredWithTheirPec) {
  const struct {
    const char* why;
    Message read;
    Bytes data;
    size_t size;
  } kCases[] = {
      {"as long as it says", Message::ReadBlock(0x4F, 1), {1, 2}, 4},
      {"no PEC asked for", Message::ReadBlock(0x4F, 0), {1, 2}, 3},
      {"cut by the controller", Message::Read(0x4F, 3), {1, 2, 3, 4}, 3},
      {"filled up by the idle bus", Message::Read(0x4F, 6), {1, 2}, 6},
  };
  for (const auto& test : kCases) {
    const Transfer transfer = {{Message::Write(0x4F, {0x5C}), test.read}};
    TransferResult result = kGoldenStatus;
    ASSERT_TRUE(EndsWithBlock(transfer, result));
    AnswerBlock(test.data, transfer, result);
    EXPECT_EQ(result.read[0].size(), test.size) << test.why;
    EXPECT_EQ(result.outcome, Outcome::kOk);
    if (test.size < test.data.size() + 2) continue;
    result.read[0].resize(test.data.size() + 2);
    EXPECT_EQ(PecOverAll(transfer, result), 0) << test.why;
  }
}

TEST(TransferEditsTest, AnEmptyBlockIsABadCount) {
  TransferResult result = kGoldenStatus;
  AnswerBlock({}, kStatusRead, result);
  EXPECT_EQ(result, (TransferResult{.outcome = Outcome::kBadCount, .read = {{0}}}));
}

TEST(TransferEditsTest, OnlyWhatIsCountedIsABlock) {
  EXPECT_FALSE(EndsWithBlock(kStatusWrite, {}));
  EXPECT_FALSE(EndsWithBlock(kStatusRead, {.outcome = Outcome::kAddressNack}));
  EXPECT_FALSE(EndsWithBlock(kStatusRead, {.read = {{0x05, 1, 2, 3, 4}}})) << "cut";
  EXPECT_FALSE(EndsWithBlock(kStatusRead, {.read = {{0x00}}}));
}

const Transfer kRead5c = {{Message::Write(0x4F, {0x5C}), Message::ReadBlock(0x4F, 1)}};
const Transfer kRead5d = {{Message::Write(0x4F, {0x5D}), Message::ReadBlock(0x4F, 1)}};
const Transfer kWrite5c = {{Message::Write(0x4F, {0x5C, 4, 2, 0, 0, 0x80})}};

// The numbers of the transactions, out of twenty equal ones, at which the rule fires.
std::vector<int> Firings(const FaultRule& rule, const Transfer& transfer = kRead5c, uint64_t seed = 1) {
  FaultTrigger trigger(rule, seed);
  std::vector<int> firings;
  for (int i = 1; i <= 20; ++i) {
    if (trigger.Fires(static_cast<uint64_t>(i), transfer)) firings.push_back(i);
  }
  return firings;
}

TEST(FaultTriggerTest, FiresWhereItIsToldTo) {
  EXPECT_EQ(Firings({.from = 3, .to = 3}), (std::vector{3}));
  EXPECT_EQ(Firings({.from = 18}), (std::vector{18, 19, 20}));
  EXPECT_EQ(Firings({.from = 3, .to = 9, .every = 3}), (std::vector{5, 8}));
  EXPECT_EQ(Firings({.every = 2, .times = 2}), (std::vector{2, 4}));
  EXPECT_TRUE(Firings({.probability = 0}).empty());
}

TEST(FaultTriggerTest, FitsByDirectionAndCommand) {
  EXPECT_TRUE(Firings({.only = FaultRule::Only::kWrites}).empty());
  EXPECT_EQ(Firings({.only = FaultRule::Only::kWrites}, kWrite5c).size(), 20u);
  EXPECT_TRUE(Firings({.only = FaultRule::Only::kReads}, kWrite5c).empty());
  EXPECT_TRUE(Firings({.command = 0x5C}, kRead5d).empty());
  EXPECT_EQ(Firings({.command = 0x5D}, kRead5d).size(), 20u);
  EXPECT_TRUE(Firings({.command = 0x5C}, {{Message::Read(0x4F, 5)}}).empty()) << "a read alone has no command code";
  EXPECT_TRUE(Firings({.kind = FaultKind::kStatus}, kRead5d).empty()) << "the status is in 5C";
  EXPECT_TRUE(Firings({.kind = FaultKind::kStatus}, kWrite5c).empty());
  EXPECT_TRUE(Firings({.kind = FaultKind::kShortBlock}, kWrite5c).empty());
}

TEST(FaultTriggerTest, TheSeedDecides) {
  const FaultRule half = {.probability = 0.5};
  EXPECT_EQ(Firings(half), Firings(half));
  EXPECT_NE(Firings(half), Firings(half, kRead5c, /*seed=*/2));
  EXPECT_GT(Firings(half).size(), 3u);
  EXPECT_LT(Firings(half).size(), 17u);
}

constexpr uint8_t kAddress = 0x4F;
const Transfer kWrite = {{Message::Write(kAddress, {0x5C, 4, 2, 0, 0, 0x80, 0x56})}};
const Transfer kRead = {{Message::Write(kAddress, {0x5C}), Message::ReadBlock(kAddress, 1)}};
const Bytes kAnswer = {0x04, 0x02, 0x00, 0x00, 0x1F, 0x6F};  // with a correct PEC

// Answers every read at one address with the golden status, and records the transactions.
class RecordingBus final : public smbus::Bus {
 public:
  TransferResult Execute(const Transfer& transfer) override {
    seen.push_back(transfer);
    TransferResult result;
    for (const Message& message : transfer.messages) {
      if (message.address != kAddress) {
        result.outcome = Outcome::kAddressNack;
        break;
      }
      if (!message.read) continue;
      result.read.push_back(kAnswer);
      result.read.back().resize(message.block ? 5 + message.read_size : message.read_size, 0xFF);
    }
    return result;
  }
  std::vector<Transfer> seen;
};

class FaultyBusTest : public testing::Test {
 protected:
  TransferResult Run(const FaultRule& rule, const Transfer& transfer) {
    inner_.seen.clear();
    FaultyBus bus(inner_, {.rules = {rule}});
    const TransferResult result = bus.Execute(transfer);
    count_ = bus.count(rule.kind);
    return result;
  }
  // The transaction that the target saw; empty if it saw none.
  Transfer Seen() const { return inner_.seen.empty() ? Transfer{} : inner_.seen[0]; }

  RecordingBus inner_;
  uint64_t count_ = 0;
};

TEST_F(FaultyBusTest, WithoutFaultsEverythingPasses) {
  FaultyBus bus(inner_, {});
  EXPECT_EQ(bus.Execute(kRead), (TransferResult{.read = {kAnswer}}));
  EXPECT_EQ(Seen(), kRead);
  EXPECT_EQ(bus.transactions(), 1u);
}

TEST_F(FaultyBusTest, WhatNobodyHearsReachesNobody) {
  EXPECT_EQ(Run({.kind = FaultKind::kAddressNack}, kRead).outcome, Outcome::kAddressNack);
  EXPECT_TRUE(inner_.seen.empty());
  EXPECT_EQ(Run({.kind = FaultKind::kBusBusy}, kRead).outcome, Outcome::kArbitrationLost);
  EXPECT_TRUE(inner_.seen.empty());
}

TEST_F(FaultyBusTest, CutTransactionsShowAPrefix) {
  const struct {
    FaultKind kind;
    Outcome outcome;
  } kCases[] = {{FaultKind::kDataNack, Outcome::kDataNack},
                {FaultKind::kArbitrationLost, Outcome::kArbitrationLost},
                {FaultKind::kStuckClock, Outcome::kTimeout},
                {FaultKind::kDie, Outcome::kTimeout}};
  for (const auto& test : kCases) {
    const TransferResult result = Run({.kind = test.kind, .byte = 3}, kWrite);
    EXPECT_EQ(result.outcome, test.outcome);
    EXPECT_EQ(result.controller_died, test.kind == FaultKind::kDie);
    EXPECT_EQ(result.stretch_us, test.kind == FaultKind::kStuckClock ? 35000u : 0u);
    EXPECT_EQ(Seen(), (Transfer{{Message::Write(kAddress, {0x5C, 4})}}));
    EXPECT_EQ(count_, 1u);
  }
  EXPECT_TRUE(Run({.kind = FaultKind::kDie, .byte = 0}, kWrite).controller_died);
  EXPECT_TRUE(inner_.seen.empty());
  Run({.kind = FaultKind::kDie, .byte = 8}, kWrite);
  EXPECT_EQ(Seen(), kWrite) << "after the STOP";
}

TEST_F(FaultyBusTest, OnlyWrittenBytesAreRefused) {
  EXPECT_EQ(Run({.kind = FaultKind::kDataNack, .byte = 4}, kRead).read[0], kAnswer) << "a byte that is read";
  EXPECT_EQ(count_, 0u);
  EXPECT_EQ(Run({.kind = FaultKind::kDataNack}, {{Message::Read(kAddress, 5)}}).outcome, Outcome::kOk);
  EXPECT_EQ(Run({.kind = FaultKind::kDataNack}, kRead).outcome, Outcome::kDataNack) << "the command code";
}

TEST_F(FaultyBusTest, EveryFlippedBitOfAWriteReachesTheTarget) {
  for (uint32_t byte = 1; byte < WireBytes(kWrite); ++byte) {
    for (uint8_t bit = 0; bit < 8; ++bit) {
      Run({.kind = FaultKind::kBitFlip, .byte = byte, .bit = bit}, kWrite);
      Bytes expected = kWrite.messages[0].write_bytes;
      expected[byte - 1] ^= 1 << bit;
      EXPECT_EQ(Seen().messages[0].write_bytes, expected);
    }
  }
}

TEST_F(FaultyBusTest, EveryFlippedBitOfAnAnswerReachesTheController) {
  for (uint32_t byte = 4; byte < WireBytes(kRead); ++byte) {
    for (uint8_t bit = 0; bit < 8; ++bit) {
      Bytes expected = kAnswer;
      expected[byte - 3] ^= 1 << bit;
      EXPECT_EQ(Run({.kind = FaultKind::kBitFlip, .byte = byte, .bit = bit}, kRead).read[0], expected);
    }
  }
}

TEST_F(FaultyBusTest, ACountThatChangesIsClocked) {
  EXPECT_EQ(Run({.kind = FaultKind::kBitFlip, .byte = 3, .bit = 0}, kRead).read[0].size(), 1u + 5 + 1);
  EXPECT_EQ(Run({.kind = FaultKind::kBitFlip, .byte = 3, .bit = 7}, kRead).read[0].size(), 1u + 0x84 + 1);
  const TransferResult empty = Run({.kind = FaultKind::kBitFlip, .byte = 3, .bit = 2}, kRead);
  EXPECT_EQ(empty, (TransferResult{.outcome = Outcome::kBadCount, .read = {{0}}}));
}

TEST_F(FaultyBusTest, AnAddressThatChangesIsSomebodyElses) {
  for (uint8_t bit = 1; bit < 8; ++bit) {
    EXPECT_EQ(Run({.kind = FaultKind::kBitFlip, .byte = 0, .bit = bit}, kWrite).outcome, Outcome::kAddressNack);
    EXPECT_EQ(Seen().messages[0].address, kAddress ^ 1 << (bit - 1));
  }
}

TEST_F(FaultyBusTest, ADirectionThatChangesIsNoticedAsOnAWire) {
  EXPECT_EQ(Run({.kind = FaultKind::kBitFlip, .byte = 0, .bit = 0}, kWrite),
            (TransferResult{.outcome = Outcome::kArbitrationLost}));
  EXPECT_EQ(Seen(), (Transfer{{Message::Read(kAddress, 1)}}));
  const TransferResult idle = Run({.kind = FaultKind::kBitFlip, .byte = 2, .bit = 0}, kRead);
  EXPECT_EQ(idle.read[0], Bytes(1 + 255 + 1, 0xFF));
  EXPECT_EQ(Seen().messages[1], Message::Write(kAddress, Bytes(1 + 255 + 1, 0xFF)));
}

TEST_F(FaultyBusTest, SeveralBitsAreAllDifferent) {
  FaultyBus bus(inner_, {.rules = {{.kind = FaultKind::kBitFlip, .command = 0x5C, .bits = 3}}});
  for (int i = 0; i < 200; ++i) {
    inner_.seen.clear();
    if (bus.Execute(kWrite).outcome != Outcome::kOk || Seen().messages[0].read) continue;  // the address was flipped
    int changed = 0;
    for (size_t byte = 0; byte < 7; ++byte) {
      changed += std::popcount<uint8_t>(Seen().messages[0].write_bytes[byte] ^ kWrite.messages[0].write_bytes[byte]);
    }
    EXPECT_EQ(changed, 3);
  }
  Run({.kind = FaultKind::kBitFlip, .bits = 3}, {{Message::Write(kAddress, {})}});
  EXPECT_EQ(count_, 1u) << "an address alone has one byte";
}

TEST_F(FaultyBusTest, ABadPecIsBadForEither) {
  Run({.kind = FaultKind::kBadPec}, kWrite);
  EXPECT_NE(Seen().messages[0].write_bytes[6], 0x56);
  TransferResult read = Run({.kind = FaultKind::kBadPec}, kRead);
  EXPECT_NE(read.read[0][5], 0x6F);
  read.read[0][5] = 0x6F;
  EXPECT_EQ(read.read[0], kAnswer);
}

TEST_F(FaultyBusTest, BlocksOfOtherLengthsHaveARightPec) {
  for (const uint8_t length : {1, 3, 5, 200}) {
    const FaultKind kind = length < 4 ? FaultKind::kShortBlock : FaultKind::kLongBlock;
    const TransferResult result = Run({.kind = kind, .length = length}, kRead);
    EXPECT_EQ(result.read[0].size(), 1u + length + 1);
    EXPECT_EQ(PecOverAll(kRead, result), 0);
  }
  EXPECT_EQ(Run({.kind = FaultKind::kShortBlock, .length = 0}, kRead).outcome, Outcome::kBadCount);
  EXPECT_EQ(Run({.kind = FaultKind::kShortBlock, .length = 5}, kRead).read[0].size(), 1u + 4 + 1) << "not shorter";
  EXPECT_EQ(Run({.kind = FaultKind::kLongBlock, .length = 4}, kRead).read[0].size(), 1u + 4 + 1) << "not longer";
  for (int i = 0; i < 50; ++i) {
    EXPECT_LT(Run({.kind = FaultKind::kShortBlock}, kRead).read[0][0], 4);
    EXPECT_GT(Run({.kind = FaultKind::kLongBlock}, kRead).read[0][0], 4);
  }
}

TEST_F(FaultyBusTest, StatusesAreTheDevicesOwn) {
  TransferResult result = Run({.kind = FaultKind::kBusyForever}, kRead);
  EXPECT_EQ(result.read[0][4], 0x80);
  EXPECT_EQ(result.read[0][1], 0x02) << "the opcode is echoed";
  EXPECT_EQ(PecOverAll(kRead, result), 0);
  result = Run({.kind = FaultKind::kStatus, .status = mailbox::MailboxStatus::kErrAgain}, kRead);
  EXPECT_EQ(result.read[0][4], 0x0B);
  EXPECT_EQ(PecOverAll(kRead, result), 0);
}

TEST_F(FaultyBusTest, WhatIsBesideTheWireComesBeforeTheTransaction) {
  std::string log;
  FaultyBus bus(inner_,
                {.rules = {{.kind = FaultKind::kReset, .from = 1, .to = 1},
                           {.kind = FaultKind::kSupersede, .from = 2, .to = 2},
                           {.kind = FaultKind::kChangeCatalog, .from = 2, .to = 2},
                           {.kind = FaultKind::kDelay, .from = 3, .time = absl::Milliseconds(2)}}},
                {.reset = [&] { log += "reset " + std::to_string(inner_.seen.size()) + " "; },
                 .supersede = [&] { log += "supersede "; },
                 .change_catalog = {},
                 .delay = [&](absl::Duration time) { log += absl::FormatDuration(time); }});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(bus.Execute(kRead), (TransferResult{.read = {kAnswer}}));
  EXPECT_EQ(bus.Execute(kRead).stretch_us, 2000u);
  EXPECT_EQ(log, "reset 0 supersede 2ms");
  EXPECT_EQ(bus.count(FaultKind::kChangeCatalog), 0u) << "nobody to do it";
}

TEST_F(FaultyBusTest, TheBoardsFaultsHappenInTheirOrder) {
  std::string log;
  FaultyBus bus(inner_,
                {.rules = {{.kind = FaultKind::kBoard, .times = 1, .board = {.kind = BoardFaultKind::kXid, .xid = 63}},
                           {.kind = FaultKind::kReset, .times = 1},
                           {.kind = FaultKind::kBoard, .board = {.kind = BoardFaultKind::kDrain}}}},
                {.reset = [&] { log += "reset "; },
                 .supersede = {},
                 .change_catalog = {},
                 .delay = {},
                 .on_board_fault =
                     [&](const BoardFault& fault) {
                       log += std::string(BoardFaultName(fault.kind)) + std::to_string(inner_.seen.size()) + " ";
                     }});
  EXPECT_EQ(bus.Execute(kRead), (TransferResult{.read = {kAnswer}}));
  EXPECT_EQ(bus.Execute(kRead), (TransferResult{.read = {kAnswer}}));
  EXPECT_EQ(log, "xid0 reset drain0 drain1 ");
  EXPECT_EQ(bus.count(FaultKind::kBoard), 3u);
  EXPECT_EQ(bus.count(BoardFaultKind::kXid), 1u);
  EXPECT_EQ(bus.count(BoardFaultKind::kDrain), 2u);
  EXPECT_EQ(bus.count(BoardFaultKind::kEcc), 0u);
  EXPECT_EQ(bus.Counts(),
            (std::vector<std::pair<absl::string_view, uint64_t>>{{"reset", 1}, {"xid", 1}, {"drain", 2}}));
}

TEST_F(FaultyBusTest, ABoardWithoutAHookHasNoFaults) {
  EXPECT_EQ(Run({.kind = FaultKind::kBoard}, kRead), (TransferResult{.read = {kAnswer}}));
  EXPECT_EQ(count_, 0u);
}

TEST_F(FaultyBusTest, TheFirstRuleForTheWireCounts) {
  FaultyBus bus(inner_, {.rules = {{.kind = FaultKind::kAddressNack, .times = 1}, {.kind = FaultKind::kBusBusy}}});
  EXPECT_EQ(bus.Execute(kRead).outcome, Outcome::kAddressNack);
  EXPECT_EQ(bus.count(FaultKind::kBusBusy), 0u);
  EXPECT_EQ(bus.Execute(kRead).outcome, Outcome::kArbitrationLost);
}

TEST_F(FaultyBusTest, WhatEndsBeforeTheFaultEndsAsItDid) {
  EXPECT_EQ(Run({.kind = FaultKind::kStuckClock, .byte = 3}, {{Message::Write(0x10, {1, 2, 3})}}).outcome,
            Outcome::kAddressNack);
  EXPECT_EQ(count_, 0u);
}

TEST_F(FaultyBusTest, TheSameSeedGivesTheSameFaults) {
  FaultPlan plan{.seed = 5, .rules = {}};
  for (size_t i = 0; i < kFaultKinds; ++i) {
    plan.rules.push_back({.kind = static_cast<FaultKind>(i), .probability = 0.05});
  }
  const auto run = [&](const FaultPlan& plan) {
    RecordingBus inner;
    FaultyBus bus(inner, plan);
    std::vector<TransferResult> results;
    for (int i = 0; i < 500; ++i) results.push_back(bus.Execute(i % 2 == 0 ? kRead : kWrite));
    return results;
  };
  const auto first = run(plan);
  EXPECT_EQ(run(plan), first);
  plan.seed = 6;
  EXPECT_NE(run(plan), first);
}

}  // namespace
}  // namespace sideband::sim
