// SPDX-License-Identifier: Apache-2.0
#include "sim/bus/transfer_edits.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sideband::sim
