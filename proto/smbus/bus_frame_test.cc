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

BusRecord StatusRecord() {
  return {.time_us = 1'000'000,
          .transfer = {{Message::Write(0x4F, {0x5C}), Message::Read(0x4F, 5)}},
          .result = TransferResult{.read = {{0x04, 0x02, 0x00, 0x00, 0x1F}}}};
}

BusRecord WithoutResult() {
  BusRecord record = StatusRecord();
  record.result.reset();
  return record;
}

TEST(MonitorFrameTest, EventsRoundTrip) {
  for (const MonitorEvent& event :
       {MonitorEvent(StatusRecord()), MonitorEvent(WithoutResult()), MonitorEvent(BusLoss{0x1122334455667788})}) {
    const Bytes frame = EncodeMonitorEvent(event);
    EXPECT_EQ(*FrameBodySize(frame, kMonitorBodyBytesMax), frame.size() - kFrameHeaderBytes);
    EXPECT_EQ(*DecodeMonitorEvent(FrameBody(frame)), event);
  }
}

TEST(MonitorFrameTest, RequestAndStart) {
  const Bytes request = EncodeMonitorRequest();
  EXPECT_EQ(request, (Bytes{2, 0, 0, 0, 1, 2}));
  EXPECT_TRUE(IsMonitorRequest(FrameBody(request)));
  EXPECT_FALSE(IsMonitorRequest(FrameBody(EncodeTransfer(StatusRecord().transfer))));
  EXPECT_FALSE(IsMonitorRequest(Bytes{1, 2, 0})) << "a byte too many";
  EXPECT_EQ(*DecodeMonitorStart(FrameBody(EncodeMonitorStart(1'500'000))), 1'500'000u);
}

// The example of README.md.
TEST(MonitorFrameTest, BytesAreThoseOfTheDocument) {
  EXPECT_EQ(
      EncodeMonitorEvent(StatusRecord()),
      (Bytes{0x2F, 0, 0, 0, 0x01, 0x83, 0x40, 0x42, 0x0F, 0,    0,    0,    0,    0,                       //
             0x0D, 0, 0, 0, 0x01, 0x01, 0x02, 0x00, 0x4F, 0x00, 0x01, 0x00, 0x5C, 0x4F, 0x01, 0x05, 0x00,  //
             0x10, 0, 0, 0, 0x01, 0x81, 0,    0,    0,    0,    0,    0x01, 0x00, 0x05, 0x00, 0x04, 0x02, 0, 0, 0x1F}));
}

TEST(MonitorFrameTest, EveryPrefixAndEveryLeftoverIsRefused) {
  for (Bytes frame : {EncodeMonitorEvent(StatusRecord()), EncodeMonitorEvent(BusLoss{3}), EncodeMonitorStart(7)}) {
    const ByteSpan body = FrameBody(frame);
    for (size_t size = 0; size < body.size(); ++size) {
      EXPECT_FALSE(DecodeMonitorEvent(body.first(size)).ok()) << size;
      EXPECT_FALSE(DecodeMonitorStart(body.first(size)).ok()) << size;
    }
    frame.push_back(0);
    EXPECT_FALSE(DecodeMonitorEvent(FrameBody(frame)).ok());
    EXPECT_FALSE(DecodeMonitorStart(FrameBody(frame)).ok());
  }
}

TEST(MonitorFrameTest, TheLongestTransactionFits) {
  BusRecord longest{.result = TransferResult{}};
  for (size_t i = 0; i < kMessagesMax; ++i) {
    longest.transfer.messages.push_back(Message::Write(0x4F, Bytes(kMessageBytesMax)));
    longest.result->read.push_back(Bytes(kMessageBytesMax));
  }
  EXPECT_LE(EncodeMonitorEvent(longest).size() - kFrameHeaderBytes, kMonitorBodyBytesMax);
}

TEST(MonitorFrameTest, AWrongPartIsRefused) {
  Bytes frame = EncodeMonitorEvent(StatusRecord());
  frame[8 + 10] = 9;  // the version in the transfer's body
  EXPECT_FALSE(DecodeMonitorEvent(FrameBody(frame)).ok());
}

}  // namespace
}  // namespace sideband::smbus
