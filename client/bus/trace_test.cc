// SPDX-License-Identifier: Apache-2.0
//
// Golden texts of whole exchanges; sections 6.4 and 7 refer to the facts sheet.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "client/bus/bus_command.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/stream.h"
#include "proto/smbus/transfer.h"

namespace sideband::client {
namespace {

using smbus::BusRecord;
using smbus::Message;
using smbus::Outcome;
using smbus::TransferResult;

Bytes FromHex(const std::string& hex) { return ParseHex(hex).value(); }

// A bus at 100 kHz with a device at 0x4F. Collects the traced text; transactions are a millisecond apart.
class TraceTest : public testing::Test {
 protected:
  void Add(smbus::Transfer transfer, std::optional<TransferResult> result) {
    const BusRecord record{number_ * 1000, std::move(transfer), std::move(result)};
    ++number_;
    text_ += TraceText(number_, decoder_.Decode(record), std::nullopt);
  }
  void Write(const std::string& hex) { Add({{Message::Write(0x4F, FromHex(hex))}}, TransferResult{}); }
  // Command code, repeated START, and the bytes read.
  void Read(uint8_t code, const std::string& hex) {
    const Bytes bytes = FromHex(hex);
    Add({{Message::Write(0x4F, {code}), Message::Read(0x4F, static_cast<uint16_t>(bytes.size()))}},
        TransferResult{.read = {bytes}});
  }
  // A block with its packet error code.
  void ReadWindow(uint8_t code, ByteSpan block) {
    ByteWriter out;
    out.U8(static_cast<uint8_t>(block.size()));
    out.Raw(block);
    const uint8_t before[] = {smbus::AddressByte(0x4F, false), code, smbus::AddressByte(0x4F, true)};
    out.U8(smbus::Pec(out.written(), smbus::Pec(before)));
    Add({{Message::Write(0x4F, {code}), Message::ReadBlock(0x4F, 1)}}, TransferResult{.read = {std::move(out).Take()}});
  }
  // The text traced since the last call, after a line break.
  std::string Text() { return "\n" + std::exchange(text_, ""); }

  TraceDecoder decoder_{100'000};
  uint64_t number_ = 0;
  std::string text_;
};

// Section 7, without packet error codes.
TEST_F(TraceTest, GoldenExchanges) {
  Write("5c0401000080");
  Read(0x5C, "040100001f");
  Read(0x5D, "0433000100");
  Write("5c0402000080");
  Read(0x5C, "040200001f");
  Read(0x5D, "04002d0000");
  Write("5c0403000080");
  Read(0x5D, "04802d0000");
  Write("5c0404000080");
  Read(0x5D, "0440e20100");
  Write("5c0405090080");
  Read(0x5D, "04de100000");
  Write("5c0405080180");
  Write("5c042801ff80");
  Read(0x5D, "0480320000");
  EXPECT_EQ(Text(), R"(
     1      0.000000      650  S 4F+W 5C 04 01 00 00 80 P
                               -> command: GET_CAPABILITIES dword 0
     2      0.001000      750  S 4F+W 5C Sr 4F+R 04 01 00 00 1F P
                               <- status: GET_CAPABILITIES SUCCESS
     3      0.002000      750  S 4F+W 5D Sr 4F+R 04 33 00 01 00 P
                               <- data: 0x00010033: temp GPU0, temp GPU1, temp board, temp memory, power total
     4      0.003000      650  S 4F+W 5C 04 02 00 00 80 P
                               -> command: GET_TEMP GPU0
     5      0.004000      750  S 4F+W 5C Sr 4F+R 04 02 00 00 1F P
                               <- status: GET_TEMP SUCCESS
     6      0.005000      750  S 4F+W 5D Sr 4F+R 04 00 2D 00 00 P
                               <- data: 45.0 degC
     7      0.006000      650  S 4F+W 5C 04 03 00 00 80 P
                               -> command: GET_EXT_TEMP GPU0
     8      0.007000      750  S 4F+W 5D Sr 4F+R 04 80 2D 00 00 P
                               <- data: 45.5 degC
     9      0.008000      650  S 4F+W 5C 04 04 00 00 80 P
                               -> command: GET_POWER total
    10      0.009000      750  S 4F+W 5D Sr 4F+R 04 40 E2 01 00 P
                               <- data: 123.456 W
    11      0.010000      650  S 4F+W 5C 04 05 09 00 80 P
                               -> command: GET_SYS_ID vendor id, dword 0
    12      0.011000      750  S 4F+W 5D Sr 4F+R 04 DE 10 00 00 P
                               <- data: 0x10DE
    13      0.012000      650  S 4F+W 5C 04 05 08 01 80 P
                               -> command: GET_SYS_ID firmware version, dword 1
    14      0.013000      650  S 4F+W 5C 04 28 01 FF 80 P
                               -> command: GPU_PERFORMANCE_MONITORING SM activity now, whole device
    15      0.014000      750  S 4F+W 5D Sr 4F+R 04 80 32 00 00 P
                               <- data: 50.5 %
)");
}

TEST_F(TraceTest, GoldenExchangeOfALimit) {
  Write("5d0401000000");
  Write("5c040e000080");
  Write("5d0430570500");
  Write("5c040e010080");
  Write("5c0410010080");
  Read(0x5C, "041001001c");
  Read(0x5D, "0407000000");
  Write("5c0410ff0780");
  Read(0x5C, "0410ff071f");
  Read(0x5D, "0400000000");
  EXPECT_EQ(Text(), R"(
     1      0.000000      650  S 4F+W 5D 04 01 00 00 00 P
                               -> data: 0x00000001 = 1
     2      0.001000      650  S 4F+W 5C 04 0E 00 00 80 P
                               -> command: SCRATCH_WRITE dword 0 = 0x00000001
     3      0.002000      650  S 4F+W 5D 04 30 57 05 00 P
                               -> data: 0x00055730 = 350000
     4      0.003000      650  S 4F+W 5C 04 0E 01 00 80 P
                               -> command: SCRATCH_WRITE dword 1 = 0x00055730
     5      0.004000      650  S 4F+W 5C 04 10 01 00 80 P
                               -> command: ASYNC_REQUEST set power limit, parameters at dword 0
     6      0.005000      750  S 4F+W 5C Sr 4F+R 04 10 01 00 1C P
                               <- status: ASYNC_REQUEST ACCEPTED
     7      0.006000      750  S 4F+W 5D Sr 4F+R 04 07 00 00 00 P
                               <- data: request 7
     8      0.007000      650  S 4F+W 5C 04 10 FF 07 80 P
                               -> command: ASYNC_REQUEST poll request 7
     9      0.008000      750  S 4F+W 5C Sr 4F+R 04 10 FF 07 1F P
                               <- status: ASYNC_REQUEST SUCCESS
    10      0.009000      750  S 4F+W 5D Sr 4F+R 04 00 00 00 00 P
                               <- data: success
)");
}

// Section 6.4: all of its frames, with packet error codes.
TEST_F(TraceTest, GoldenPacketErrorCodes) {
  Write("5c040200008056");
  Read(0x5C, "040200001f6f");
  Read(0x5C, "040200005fa8");
  Read(0x5D, "04002d000013");
  Write("5d0400000000da");
  Write("5c042801ff80b8");
  Read(0x5E, "0400000000a7");
  EXPECT_EQ(Text(), R"(
     1      0.000000      740  S 4F+W 5C 04 02 00 00 80 pec 56 ok P
                               -> command: GET_TEMP GPU0
     2      0.001000      840  S 4F+W 5C Sr 4F+R 04 02 00 00 1F pec 6F ok P
                               <- status: GET_TEMP SUCCESS
     3      0.002000      840  S 4F+W 5C Sr 4F+R 04 02 00 00 5F pec A8 ok P
                               <- status: GET_TEMP SUCCESS, an event is pending
     4      0.003000      840  S 4F+W 5D Sr 4F+R 04 00 2D 00 00 pec 13 ok P
                               <- data: 45.0 degC
     5      0.004000      740  S 4F+W 5D 04 00 00 00 00 pec DA ok P
                               -> data: 0x00000000 = 0
     6      0.005000      740  S 4F+W 5C 04 28 01 FF 80 pec B8 ok P
                               -> command: GPU_PERFORMANCE_MONITORING SM activity now, whole device
     7      0.006000      840  S 4F+W 5E Sr 4F+R 04 00 00 00 00 pec A7 ok P
                               <- extended data: 0x00000000
)");
}

// Some replies have data in their word in place of the request.
TEST_F(TraceTest, DataInTheStatusWord) {
  Write("5c041a09ff80");
  Read(0x5C, "041a09ff80");  // busy: still the request
  Read(0x5C, "04c500001f");
  Write("5c0420020080");
  Read(0x5C, "040300001f");
  Read(0x5C, "0420020009");  // an error echoes the request
  EXPECT_EQ(Text(), R"(
     1      0.000000      650  S 4F+W 5C 04 1A 09 FF 80 P
                               -> command: GET_NVLINK_INFO data sent, all links
     2      0.001000      750  S 4F+W 5C Sr 4F+R 04 1A 09 FF 80 P
                               <- status: GET_NVLINK_INFO busy
     3      0.002000      750  S 4F+W 5C Sr 4F+R 04 C5 00 00 1F P
                               <- status: GET_NVLINK_INFO SUCCESS, 12 MiB, new sample
     4      0.003000      650  S 4F+W 5C 04 20 02 00 80 P
                               -> command: REMAP_ROW_STATS histogram
     5      0.004000      750  S 4F+W 5C Sr 4F+R 04 03 00 00 1F P
                               <- status: REMAP_ROW_STATS SUCCESS, spare rows: none in 3 banks
     6      0.005000      750  S 4F+W 5C Sr 4F+R 04 20 02 00 09 P
                               <- status: REMAP_ROW_STATS ERR_NOT_AVAILABLE
)");
}

TEST_F(TraceTest, WrongPacketErrorCodesChangeNothing) {
  Write("5c040200008056");
  Read(0x5D, "04002d000014");
  Add({{Message::Write(0x4F, FromHex("5c040400008099"))}}, TransferResult{.outcome = Outcome::kDataNack});
  Read(0x5D, "04002d000013");
  EXPECT_EQ(Text(), R"(
     1      0.000000      740  S 4F+W 5C 04 02 00 00 80 pec 56 ok P
                               -> command: GET_TEMP GPU0
     2      0.001000      840  S 4F+W 5D Sr 4F+R 04 00 2D 00 00 pec 14 WRONG P
                               !! wrong PEC: 13 is right
     3      0.002000      740  S 4F+W 5C 04 04 00 00 80 pec 99 WRONG NACK P
                               !! wrong PEC: 22 is right
                               !! the device refused a byte
     4      0.003000      840  S 4F+W 5D Sr 4F+R 04 00 2D 00 00 pec 13 ok P
                               <- data: 45.0 degC
)");
}

TEST_F(TraceTest, ErrorsOnTheWire) {
  Add({{Message::Write(0x50, {})}}, TransferResult{.outcome = Outcome::kAddressNack});
  Add({{Message::Write(0x4F, {})}}, TransferResult{});
  Add({{Message::Write(0x4F, FromHex("5c0402000080"))}}, TransferResult{.outcome = Outcome::kArbitrationLost});
  Add({{Message::Write(0x4F, {0x5C}), Message::Read(0x4F, 5)}},
      TransferResult{.outcome = Outcome::kTimeout, .stretch_us = 35000});
  Add({{Message::Write(0x4F, {0xDF}), Message::ReadBlock(0x4F, 1)}},
      TransferResult{.outcome = Outcome::kBadCount, .read = {{0}}});
  Add({{Message::Write(0x4F, {0x5C}), Message::Read(0x4F, 5)}}, std::nullopt);
  EXPECT_EQ(Text(), R"(
     1      0.000000      110  S 50+W NACK P
                               !! no device answers at 0x50
     2      0.001000      110  S 4F+W P
                               -> a probe, acknowledged
     3      0.002000      650  S 4F+W 5C 04 02 00 00 80 LOST
                               !! arbitration lost to another controller
     4      0.003000    35200  S 4F+W 5C TIMEOUT P
                               !! the clock was held low for too long
                               <- held the clock low for 35000 us
     5      0.004000      390  S 4F+W DF Sr 4F+R 00 P
                               <- window 15: nothing there
                               !! a block's count was 0 or above 255
     6      0.005000      300  S 4F+W 5C Sr 4F+R ?
                               !! no result: the bus could not be used, or the controller vanished
)");
}

TEST_F(TraceTest, OddShapes) {
  Write("5c");  // the pointer outlives the STOP
  Add({{Message::Read(0x4F, 2)}}, TransferResult{.read = {{0x04, 0x00}}});
  Write("5c0302000080");
  Write("5c0402000000");
  Read(0x62, "53");
  Read(0x42, "ffffff");
  Write("990400000000");
  Add({{Message::Read(0x4E, 2)}}, TransferResult{.read = {{0xFF, 0xFF}}});
  Read(0x5C, "040000009e");
  Write("5c041f010280");
  Read(0x5C, "041f010202");
  Read(0x5D, "0400000000");
  EXPECT_EQ(Text(), R"(
     1      0.000000      200  S 4F+W 5C P
                               -> the next read returns: status
     2      0.001000      290  S 4F+R 04 00 P
                               <- status: only 2 of 5 bytes were read
     3      0.002000      650  S 4F+W 5C 03 02 00 00 80 P
                               -> command: malformed, 4 bytes after the count 3
     4      0.003000      650  S 4F+W 5C 04 02 00 00 00 P
                               -> command: GET_TEMP GPU0, not executed: bit 31 is clear
     5      0.004000      390  S 4F+W 62 Sr 4F+R 53 P
                               <- vendor id, low byte: 0x53
     6      0.005000      570  S 4F+W 42 Sr 4F+R FF FF FF P
                               <- code 0x42: 3 bytes
     7      0.006000      650  S 4F+W 99 04 00 00 00 00 P
                               -> code 0x99: 5 bytes
     8      0.007000      290  S 4E+R FF FF P
                               <- 2 bytes of an earlier request
     9      0.008000      750  S 4F+W 5C Sr 4F+R 04 00 00 00 9E P
                               <- status: NULL busy
    10      0.009000      650  S 4F+W 5C 04 1F 01 02 80 P
                               -> command: opcode 0x1F, arg1 0x01, arg2 0x02
    11      0.010000      750  S 4F+W 5C Sr 4F+R 04 1F 01 02 02 P
                               <- status: opcode 0x1F ERR_OPCODE
    12      0.011000      750  S 4F+W 5D Sr 4F+R 04 00 00 00 00 P
                               <- data: 0x00000000
)");
}

TEST_F(TraceTest, ASnapshotStream) {
  Write("5d0400000000");
  Write("5c046200ff80");
  Read(0x5C, "046200ff1f");
  Read(0x5D, "0407000000");
  Read(0x5E, "0420000000");
  ReadWindow(0xD0, mailbox::EncodeStream({.kind = mailbox::StreamKind::kSnapshot, .boot_id = 1, .snapshot_id = 7}, {}));
  Write("5d0407000000");
  Write("5c0464070080");
  Read(0x5C, "046407001f");
  EXPECT_EQ(Text(), R"(
     1      0.000000      650  S 4F+W 5D 04 00 00 00 00 P
                               -> data: 0x00000000 = 0
     2      0.001000      650  S 4F+W 5C 04 62 00 FF 80 P
                               -> command: LATCH in full
     3      0.002000      750  S 4F+W 5C Sr 4F+R 04 62 00 FF 1F P
                               <- status: LATCH SUCCESS
     4      0.003000      750  S 4F+W 5D Sr 4F+R 04 07 00 00 00 P
                               <- data: snapshot 7
     5      0.004000      750  S 4F+W 5E Sr 4F+R 04 20 00 00 00 P
                               <- extended data: stream of 32 bytes
     6      0.005000     3360  S 4F+W D0 Sr 4F+R 20 53 42 4B 31 02 01 00 .. 91 pec AB ok P
                               <- window 0: bytes 0 to 31 of 32 of snapshot 7
                               <- snapshot 7 complete: 32 bytes, CRC ok, boot 0000000000000001
     7      0.006000      650  S 4F+W 5D 04 07 00 00 00 P
                               -> data: 0x00000007 = 7
     8      0.007000      650  S 4F+W 5C 04 64 07 00 80 P
                               -> command: ACK snapshot 7, mark 0x0007
     9      0.008000      750  S 4F+W 5C Sr 4F+R 04 64 07 00 1F P
                               <- status: ACK SUCCESS
)");
}

TEST_F(TraceTest, LossForgetsWhatWasKnown) {
  Write("5c0402000080");
  decoder_.Lost();
  Read(0x5D, "04002d0000");
  EXPECT_EQ(Text(), R"(
     1      0.000000      650  S 4F+W 5C 04 02 00 00 80 P
                               -> command: GET_TEMP GPU0
     2      0.001000      750  S 4F+W 5D Sr 4F+R 04 00 2D 00 00 P
                               <- data: 0x00002D00
)");
  EXPECT_EQ(
      LossText(12, std::nullopt),
      "                               !! 12 transactions are missing here: they came faster than they were read\n");
  EXPECT_EQ(LossText(1, std::nullopt),
            "                               !! 1 transaction is missing here: it came faster than it was read\n");
}

TEST(TraceTextTest, HostTime) {
  const BusRecord record{1'500'000, {{Message::Write(0x4F, {})}}, TransferResult{}};
  TraceDecoder decoder(400'000);
  EXPECT_EQ("\n" + TraceTitle(1'700'000'000'000'000) + TraceText(3, decoder.Decode(record), 1'700'000'000'000'000), R"(
     #                         TIME   BUS/us  TRANSACTION
     3  2023-11-14T22:13:21.500000Z     27.5  S 4F+W P
                                              -> a probe, acknowledged
)");
  EXPECT_NE(TraceText(3, decoder.Decode(record), ~uint64_t{0}).find("?"), std::string::npos) << "no such time";
}

TEST(TraceTextTest, Json) {
  const BusRecord record{12,
                         {{Message::Write(0x4F, {0x5D}), Message::Read(0x4F, 6)}},
                         TransferResult{.read = {FromHex("04002d000013")}, .stretch_us = 10}};
  TraceDecoder decoder(100'000);
  const auto json = nlohmann::json::parse(TraceJson(2, record, decoder.Decode(record), 1'000'000));
  EXPECT_EQ(json, nlohmann::json::parse(R"({"number": "2", "time_us": "12", "host_time": "1970-01-01T00:00:01.000012Z",
      "bus_us": 850.0, "stretch_us": 10, "outcome": "ok",
      "messages": [{"address": 79, "read": false, "bytes": "5d"},
                   {"address": 79, "read": true, "bytes": "04002d000013", "pec": "ok"}],
      "meaning": ["<- data: 0x00002D00", "<- held the clock low for 10 us"]})"));
  EXPECT_EQ(LossJson(12), "{\"lost\":\"12\"}\n");
}

}  // namespace
}  // namespace sideband::client
