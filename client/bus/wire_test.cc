// SPDX-License-Identifier: Apache-2.0
#include "client/bus/wire.h"

#include <gtest/gtest.h>

namespace sideband::client {
namespace {

using smbus::BusRecord;
using smbus::Message;
using smbus::Outcome;
using smbus::TransferResult;

std::string Text(const BusRecord& record) { return WireText(OnTheWire(record), record.result); }
uint64_t Bits(const BusRecord& record) { return WireBits(OnTheWire(record)); }

const Message kPointer = Message::Write(0x4F, {0x5C});
const Message kCommand = Message::Write(0x4F, {0x5C, 0x04, 0x02, 0x00, 0x00, 0x80});
const Message kRead = Message::Read(0x4F, 5);

TEST(WireTest, WholeTransactions) {
  const BusRecord read = {.transfer = {{kPointer, kRead}},
                          .result = TransferResult{.read = {{0x04, 0x02, 0x00, 0x00, 0x1F}}}};
  EXPECT_EQ(Text(read), "S 4F+W 5C Sr 4F+R 04 02 00 00 1F P");
  EXPECT_EQ(Bits(read), 75u) << "facts sheet, 6.1";
  EXPECT_EQ(Text({.transfer = {{Message::Write(0x50, {})}}, .result = TransferResult{}}), "S 50+W P");
}

TEST(WireTest, APecIsMarked) {
  std::vector<WireMessage> wire = {{.address = 0x4F, .read = true}};
  const Bytes bytes = {1, 2, 3};
  wire[0].bytes = bytes;
  wire[0].pec = PecByte{.index = 1, .expected = 2, .actual = 2};
  EXPECT_EQ(WireText(wire, TransferResult{}), "S 4F+R 01 pec 02 ok 03 P");
  wire[0].pec->expected = 4;
  EXPECT_EQ(WireText(wire, TransferResult{}), "S 4F+R 01 pec 02 WRONG 03 P");
}

TEST(WireTest, LongMessagesAreCut) {
  const BusRecord record = {.transfer = {{Message::Read(0x4F, 13)}}, .result = TransferResult{.read = {Bytes(13, 7)}}};
  EXPECT_EQ(Text(record), "S 4F+R 07 07 07 07 07 07 07 07 .. 07 P");
}

TEST(WireTest, WhereItEnded) {
  const struct {
    smbus::Transfer transfer;
    TransferResult result;
    const char* text;
    uint64_t bits;
  } kCases[] = {
      {{{kPointer, kRead}}, {.outcome = Outcome::kAddressNack}, "S 4F+W NACK P", 11},
      // An address other than the one that answered.
      {{{kPointer, Message::Write(0x50, {1})}}, {.outcome = Outcome::kAddressNack}, "S 4F+W NACK P", 11},
      {{{kPointer, kRead, Message::Write(0x50, {1})}},
       {.outcome = Outcome::kAddressNack, .read = {Bytes(1)}},
       "S 4F+W 5C Sr 4F+R 00 Sr 50+W NACK P",
       9 * 5 + 4},
      {{{kCommand}}, {.outcome = Outcome::kDataNack}, "S 4F+W 5C 04 02 00 00 80 NACK P", 65},
      {{{kPointer, Message::ReadBlock(0x4F, 1)}},
       {.outcome = Outcome::kBadCount, .read = {{0}}},
       "S 4F+W 5C Sr 4F+R 00 P",
       39},
      {{{kCommand}}, {.outcome = Outcome::kArbitrationLost}, "S 4F+W 5C 04 02 00 00 80 LOST", 65},
      {{{kPointer, kRead}}, {.outcome = Outcome::kTimeout}, "S 4F+W 5C TIMEOUT P", 20},
  };
  for (const auto& test : kCases) {
    const BusRecord record = {.transfer = test.transfer, .result = test.result};
    EXPECT_EQ(Text(record), test.text);
    EXPECT_EQ(Bits(record), test.bits) << test.text;
  }
}

TEST(WireTest, NoResult) { EXPECT_EQ(Text({.transfer = {{kPointer, kRead}}}), "S 4F+W 5C Sr 4F+R ?"); }

TEST(WireTest, ResultsThatDoNotFitAreHarmless) {
  EXPECT_EQ(Text({.transfer = {{kRead}}, .result = TransferResult{}}), "S 4F+R P") << "no bytes for the read";
  EXPECT_EQ(Text({.transfer = {{kPointer}}, .result = TransferResult{.read = {{1}, {2}}}}), "S 4F+W 5C P");
  EXPECT_EQ(Text({.transfer = {{kPointer}}, .result = TransferResult{.outcome = Outcome::kBadCount}}), "S 4F+W 5C P");
}

}  // namespace
}  // namespace sideband::client
