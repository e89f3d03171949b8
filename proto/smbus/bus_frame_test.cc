// SPDX-License-Identifier: Apache-2.0
#include "proto/smbus/bus_frame.h"

#include <gtest/gtest.h>

namespace sideband::smbus {
namespace {

Transfer StatusTransfer() {
  return {{Message::Write(0x4F, {0x5C}), Message::Read(0x4F, 5), Message::ReadBlock(0x4F, 1)}};
}

TransferResult StatusResult() {
  return {.outcome = Outcome::kOk, .read = {{0x04, 0x02, 0x00, 0x00, 0x1F}, {}}, .stretch_us = 12};
}

TEST(BusFrameTest, TransferRoundTrips) {
  const Bytes frame = EncodeTransfer(StatusTransfer());
  EXPECT_EQ(*FrameBodySize(frame), frame.size() - kFrameHeaderBytes);
  EXPECT_EQ(*DecodeTransfer(FrameBody(frame)), StatusTransfer());
}

TEST(BusFrameTest, ResultRoundTrips) {
  EXPECT_EQ(*DecodeResult(FrameBody(EncodeResult(StatusResult()))), StatusResult());
}

// The example of README.md.
TEST(BusFrameTest, BytesAreThoseOfTheDocument) {
  const Transfer read = {{Message::Write(0x4F, {0x5C}), Message::Read(0x4F, 5)}};
  EXPECT_EQ(EncodeTransfer(read), (Bytes{0x0D, 0, 0, 0, 0x01, 0x01, 0x02, 0x00, 0x4F, 0x00, 0x01, 0x00, 0x5C,  //
                                         0x4F, 0x01, 0x05, 0x00}));
}

TEST(BusFrameTest, EveryPrefixIsRefused) {
  const Bytes transfer = EncodeTransfer(StatusTransfer());
  const Bytes result = EncodeResult(StatusResult());
  for (size_t size = 0; size < transfer.size() - kFrameHeaderBytes; ++size) {
    EXPECT_FALSE(DecodeTransfer(FrameBody(transfer).first(size)).ok()) << size;
  }
  for (size_t size = 0; size < result.size() - kFrameHeaderBytes; ++size) {
    EXPECT_FALSE(DecodeResult(FrameBody(result).first(size)).ok()) << size;
  }
}

TEST(BusFrameTest, HostileFieldsAreRefused) {
  const Bytes good = EncodeTransfer(StatusTransfer());
  const struct {
    size_t offset;
    uint8_t value;
    const char* why;
  } kCases[] = {
      {4, 2, "version"},          {5, 0x81, "kind"},     {6, 0, "no message"},   {6, 43, "too many messages"},
      {8, 0x80, "8-bit address"}, {9, 2, "block write"}, {9, 4, "unknown flag"}, {11, 0x21, "message over 8192 bytes"},
  };
  for (const auto& test : kCases) {
    Bytes frame = good;
    frame[test.offset] = test.value;
    EXPECT_FALSE(DecodeTransfer(FrameBody(frame)).ok()) << test.why;
  }
  EXPECT_FALSE(FrameBodySize(Bytes{0xFF, 0xFF, 0xFF, 0xFF}).ok());
}

}  // namespace
}  // namespace sideband::smbus
