// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/mailbox_target.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "proto/base/bytes.h"
#include "proto/smbus/transfer.h"

namespace sideband::mcu {
namespace {

using smbus::Message;
using smbus::Outcome;

// Records its calls; returns 3, 2, 1, 0, …; refuses the byte 0xEE.
class NotingTarget final : public BusTarget {
 public:
  void Start(bool read) override { notes += read ? "R" : "W"; }
  bool Write(uint8_t byte) override {
    notes += std::to_string(byte) + " ";
    return byte != 0xEE;
  }
  uint8_t Read() override { return next_--; }
  void Stop() override { notes += "P"; }

  std::string notes;

 private:
  uint8_t next_ = 3;
};

class VirtualBusTest : public testing::Test {
 protected:
  VirtualBusTest() { bus_.Connect(0x4F, target_); }
  NotingTarget target_;
  VirtualBus bus_;
};

TEST_F(VirtualBusTest, WriteThenRepeatedStartRead) {
  const auto result = bus_.Execute({{Message::Write(0x4F, {7, 8}), Message::Read(0x4F, 2)}});
  EXPECT_EQ(result.outcome, Outcome::kOk);
  EXPECT_EQ(result.read, (std::vector<Bytes>{{3, 2}}));
  EXPECT_EQ(target_.notes, "W7 8 RP");
}

TEST_F(VirtualBusTest, BlockReadClocksWhatTheCountSaysAndTheRest) {
  const auto result = bus_.Execute({{Message::ReadBlock(0x4F, 1)}});
  EXPECT_EQ(result.read, (std::vector<Bytes>{{3, 2, 1, 0, 0xFF}})) << "count, three bytes, one beyond";
}

TEST_F(VirtualBusTest, CountZeroEndsTheTransaction) {
  bus_.Execute({{Message::Read(0x4F, 3)}});
  EXPECT_EQ(bus_.Execute({{Message::ReadBlock(0x4F, 0), Message::Read(0x4F, 1)}}).outcome, Outcome::kBadCount);
}

TEST_F(VirtualBusTest, NobodyAtTheAddress) {
  EXPECT_EQ(bus_.Execute({{Message::Write(0x10, {})}}).outcome, Outcome::kAddressNack);
  EXPECT_EQ(target_.notes, "");
}

TEST_F(VirtualBusTest, ARefusedByteEndsTheTransaction) {
  EXPECT_EQ(bus_.Execute({{Message::Write(0x4F, {1, 0xEE, 2})}}).outcome, Outcome::kDataNack);
  EXPECT_EQ(target_.notes, "W1 238 P");
}

TEST_F(VirtualBusTest, AnEmptyWriteProbes) {
  EXPECT_EQ(bus_.Execute({{Message::Write(0x4F, {})}}).outcome, Outcome::kOk);
}

constexpr uint8_t kCommand = mailbox::kCommandRegister;
constexpr uint8_t kData = mailbox::kDataRegister;
constexpr uint8_t kExtendedData = mailbox::kExtendedDataRegister;
constexpr uint32_t kExecute = 0x80000000;

// Replies to opcode 2 with an incrementing number, to opcode 3 with its data-in, and to opcode 4 with a word's bits.
class ScriptedHandler final : public CommandHandler {
 public:
  Reply Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) override {
    ++commands;
    if (static_cast<uint8_t>(command.opcode) == 3) return {.data = data, .extended_data = extended_data};
    if (static_cast<uint8_t>(command.opcode) == 4) return {.status = status, .data = 0x99, .word_bits = 0xFFABCDEF};
    return {.data = ++number};
  }
  ByteSpan Window(uint8_t) const override { return {}; }
  bool EventPending() const override { return event_pending; }

  int commands = 0;
  uint32_t number = 100;
  mailbox::MailboxStatus status = mailbox::MailboxStatus::kSuccess;  // of opcode 4
  bool event_pending = false;
};

class MailboxRegistersTest : public testing::Test {
 protected:
  void Run(uint32_t word) {
    registers_.Write(kCommand, word | kExecute);
    registers_.Stop();
  }
  // Like a controller that reads the whole word.
  uint32_t Status() {
    const uint32_t status = registers_.Read(kCommand);
    registers_.StatusTaken();
    return status;
  }

  uint64_t now_us_ = 1000;
  ScriptedHandler handler_;
  MailboxRegisters registers_{
      mailbox::kSharedRegisters, handler_, {.now_us = [this] { return now_us_; }, .latency_us = 300}};
};

TEST_F(MailboxRegistersTest, ACommandIsCarriedOutAtTheStop) {
  registers_.Write(kCommand, kExecute | 2);
  EXPECT_EQ(handler_.commands, 0);
  EXPECT_EQ(Status(), kExecute | 2) << "but busy already";
  registers_.Stop();
  EXPECT_EQ(handler_.commands, 1);
  registers_.Stop();
  EXPECT_EQ(handler_.commands, 1) << "once";
}

TEST_F(MailboxRegistersTest, ItsResultShowsAfterTheLatency) {
  registers_.Write(kData, 7);
  registers_.Write(kExtendedData, 8);
  Run(0x332202);
  now_us_ += 299;
  EXPECT_EQ(Status(), kExecute | 0x332202) << "echoed, without a status";
  EXPECT_EQ(registers_.Read(kData), 7u);
  EXPECT_EQ(registers_.Read(kExtendedData), 8u);
  now_us_ += 1;
  EXPECT_EQ(Status(), 0x1F332202u);
  EXPECT_EQ(registers_.Read(kData), 101u);
  EXPECT_EQ(registers_.Read(kExtendedData), 0u);
}

TEST_F(MailboxRegistersTest, TheResultIsThatOfTheStop) {
  Run(2);
  handler_.number = 555;
  now_us_ += 300;
  EXPECT_EQ(registers_.Read(kData), 101u);
}

TEST_F(MailboxRegistersTest, ACommandWhileBusyIsToldSoOnceTheRunningOneHasEnded) {
  Run(2);
  Run(0x440003);
  EXPECT_EQ(Status(), kExecute | 2) << "the running command is untouched";
  EXPECT_EQ(handler_.commands, 1);
  now_us_ += 300;
  EXPECT_EQ(Status(), 0x0A440003u) << "ERR_BUSY, to the one that was refused";
  EXPECT_EQ(Status(), 0x1F000002u);
  EXPECT_EQ(Status(), 0x1F000002u);
  EXPECT_EQ(registers_.Read(kData), 101u);
}

TEST_F(MailboxRegistersTest, ACommandWithoutTheExecuteBitIsNone) {
  Run(2);
  registers_.Write(kCommand, 3);
  registers_.Stop();
  now_us_ += 300;
  EXPECT_EQ(Status(), 0x1F000002u);
}

TEST_F(MailboxRegistersTest, AStatusThatIsNotTakenIsSaidAgain) {
  Run(2);
  Run(3);
  now_us_ += 300;
  EXPECT_EQ(registers_.Read(kCommand), 0x0A000003u) << "the controller gave up after some bits";
  EXPECT_EQ(Status(), 0x0A000003u);
  EXPECT_EQ(Status(), 0x1F000002u);
}

TEST_F(MailboxRegistersTest, AnotherCommandEndsTheComplaint) {
  Run(2);
  Run(3);
  now_us_ += 300;
  Run(2);
  now_us_ += 300;
  EXPECT_EQ(Status(), 0x1F000002u);
}

TEST_F(MailboxRegistersTest, DataWrittenWhileBusyIsForTheNextCommand) {
  Run(2);
  registers_.Write(kData, 77);
  registers_.Write(kExtendedData, 88);
  EXPECT_EQ(registers_.Read(kData), 0u) << "as before";
  now_us_ += 300;
  EXPECT_EQ(registers_.Read(kData), 101u) << "the running command's result";
  Run(3);
  now_us_ += 300;
  EXPECT_EQ(registers_.Read(kData), 77u);
  EXPECT_EQ(registers_.Read(kExtendedData), 88u);
}

TEST_F(MailboxRegistersTest, ARunningCommandTookItsDataWhenItWasWritten) {
  registers_.Write(kData, 5);
  registers_.Write(kCommand, kExecute | 3);
  registers_.Write(kData, 6);  // after a repeated START
  registers_.Stop();
  now_us_ += 300;
  EXPECT_EQ(registers_.Read(kData), 5u);
}

TEST_F(MailboxRegistersTest, AResultIsTheNextCommandsDataUnlessItIsReplaced) {
  Run(2);
  now_us_ += 300;
  Run(3);
  now_us_ += 300;
  EXPECT_EQ(registers_.Read(kData), 101u);
}

TEST_F(MailboxRegistersTest, AMalformedWriteWhileBusyIsToldAfterwards) {
  Run(2);
  registers_.Malformed();
  EXPECT_EQ(Status(), kExecute | 2);
  now_us_ += 300;
  EXPECT_EQ(Status(), 0x01000000u);
  EXPECT_EQ(Status(), 0x1F000002u);
}

TEST_F(MailboxRegistersTest, EventsShowInEveryStatus) {
  handler_.event_pending = true;
  EXPECT_EQ(Status(), 0x5E000000u);
  Run(2);
  EXPECT_EQ(Status(), 0xC0000002u) << "busy";
  now_us_ += 300;
  EXPECT_EQ(Status(), 0x5F000002u);
  handler_.event_pending = false;
  EXPECT_EQ(Status(), 0x1F000002u);
}

TEST_F(MailboxRegistersTest, AReplysWordBitsReplaceTheEcho) {
  constexpr uint32_t kCopyData = 1 << 30;
  for (const uint32_t copy : {uint32_t{0}, kCopyData}) {
    Run(copy | 0x332204);
    EXPECT_EQ(Status(), kExecute | 0x332204) << "busy";
    now_us_ += 300;
    EXPECT_EQ(Status(), 0x1FABCDEFu) << "24 bits of them, before a copy of the data";
    EXPECT_EQ(registers_.Read(kData), 0x99u);
  }
  Run(2);
  now_us_ += 300;
  EXPECT_EQ(Status(), 0x1F000002u) << "of that command alone";
}

TEST_F(MailboxRegistersTest, AnErrorHasNoWordBits) {
  handler_.status = mailbox::MailboxStatus::kErrArg2;
  Run(0x332204);
  now_us_ += 300;
  EXPECT_EQ(Status(), 0x04332204u);
}

TEST_F(MailboxRegistersTest, WithoutAClockThereIsNoLatency) {
  MailboxRegisters registers(mailbox::kSharedRegisters, handler_, {.latency_us = 300});
  registers.Write(kCommand, kExecute | 2);
  registers.Stop();
  EXPECT_EQ(registers.Read(kCommand), 0x1F000002u);
}

constexpr uint8_t kAddress = 0x4F;

// Replies to opcode 2 with 45 degrees, and to opcode 3 with its data-in. Window 0 is "abc"; the others are empty.
class WindowHandler final : public CommandHandler {
 public:
  Reply Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) override {
    ++commands;
    switch (static_cast<uint8_t>(command.opcode)) {
      case 2:
        return {.data = 0x2D00};
      case 3:
        return {.data = data, .extended_data = extended_data};
      default:
        return {.status = mailbox::MailboxStatus::kErrOpcode};
    }
  }
  ByteSpan Window(uint8_t index) const override { return index == 0 ? AsBytes(text_) : ByteSpan(); }

  int commands = 0;

 private:
  const std::string text_ = "abc";
};

class MailboxTargetTest : public testing::Test {
 protected:
  MailboxTargetTest() : target_(kAddress, handler_) { bus_.Connect(kAddress, target_); }

  static Bytes FromHex(const std::string& hex) { return ParseHex(hex).value(); }
  smbus::TransferResult Execute(const std::string& hex) {
    return bus_.Execute({{Message::Write(kAddress, FromHex(hex))}});
  }
  void Write(const std::string& hex) { Execute(hex); }
  // Command code, repeated START, read.
  std::string Read(uint8_t code, uint16_t size) {
    return Hex(bus_.Execute({{Message::Write(kAddress, {code}), Message::Read(kAddress, size)}}).read.at(0));
  }
  static std::string Hex(const Bytes& bytes) { return absl::BytesToHexString(std::string(bytes.begin(), bytes.end())); }

  WindowHandler handler_;
  MailboxTarget target_;
  VirtualBus bus_;
};

TEST_F(MailboxTargetTest, BootsReady) { EXPECT_EQ(Read(0x5C, 5), "040000001e"); }

// The golden exchange of the facts sheet, section 7.
TEST_F(MailboxTargetTest, GetTemp) {
  Write("5c0402000080");
  EXPECT_EQ(Read(0x5C, 5), "040200001f");
  EXPECT_EQ(Read(0x5D, 5), "04002d0000");
}

TEST_F(MailboxTargetTest, SuppliesThePecWhenClocked) {
  Write("5c0402000080");
  EXPECT_EQ(Read(0x5C, 6), "040200001f6f") << "the code of the facts sheet, 6.4";
  EXPECT_EQ(Read(0x5D, 8), "04002d000013ffff") << "nothing after it";
  EXPECT_EQ(Read(0x5D, 2), "0400") << "short reads are allowed";
}

TEST_F(MailboxTargetTest, APecOnAWriteIsChecked) {
  Write("5c040200008056");
  EXPECT_EQ(handler_.commands, 1);
  for (const char* hex : {
           "5c040200008057",  // the PEC is not that of the write
           "5d040200008056",  // corrupt command code: another register,
           "dc040200008056",  // and not a register
           "5c050200008056",  // corrupt count
       }) {
    EXPECT_EQ(Execute(hex).outcome, smbus::Outcome::kDataNack) << hex;
  }
  EXPECT_EQ(handler_.commands, 1) << "discarded";
  EXPECT_EQ(target_.pec_errors(), 4u);
  EXPECT_EQ(Read(0x5C, 5), "040200001f") << "the status before it stays";
}

TEST_F(MailboxTargetTest, ExactlyThePecByteOfAWriteIsRefused) {
  target_.Start(/*read=*/false);
  for (const uint8_t byte : {0x5C, 0x04, 0x02, 0x00, 0x00, 0x80}) EXPECT_TRUE(target_.Write(byte));
  EXPECT_FALSE(target_.Write(0x57));
  EXPECT_FALSE(target_.Write(0x56)) << "and whatever follows";
  target_.Stop();
  EXPECT_EQ(handler_.commands, 0);
  EXPECT_EQ(target_.pec_errors(), 1u);
  Write("5c040200008056");
  EXPECT_EQ(handler_.commands, 1);
}

TEST_F(MailboxTargetTest, BytesBeyondThePecAreRefused) {
  EXPECT_EQ(Execute("5c040200008056aa").outcome, smbus::Outcome::kDataNack);
  EXPECT_EQ(handler_.commands, 0);
  EXPECT_EQ(target_.pec_errors(), 0u);
  EXPECT_EQ(Read(0x5C, 5), "0400000001");
}

// Two writes joined by a repeated START, each with its own code.
TEST_F(MailboxTargetTest, ThePecOfAWriteBeginsAtItsOwnStart) {
  for (const char* first : {"5d0400000000da", "5d0400000000"}) {
    const int before = handler_.commands;
    const auto result =
        bus_.Execute({{Message::Write(kAddress, FromHex(first)), Message::Write(kAddress, FromHex("5c040200008056"))}});
    EXPECT_EQ(result.outcome, smbus::Outcome::kOk) << first;
    EXPECT_EQ(handler_.commands, before + 1) << first;
  }
}

// A command and a read of its status in one transaction, before the STOP.
TEST_F(MailboxTargetTest, BeforeTheStopACommandIsBusy) {
  const auto result = bus_.Execute({{Message::Write(kAddress, FromHex("5c0402000080")),
                                     Message::Write(kAddress, {0x5C}), Message::Read(kAddress, 5)}});
  EXPECT_EQ(Hex(result.read.at(0)), "0402000080");
  EXPECT_EQ(Read(0x5C, 5), "040200001f");
}

TEST_F(MailboxTargetTest, TheVendorIdIsReadByteByByte) {
  EXPECT_EQ(Read(0x62, 1), "53");
  EXPECT_EQ(Read(0x63, 1), "42");
  EXPECT_EQ(Read(0x62, 3), Hex({0x53, smbus::Pec(FromHex("9e629f53")), 0xFF})) << "with PEC, and an idle bus";
  Write("620411223344");
  EXPECT_EQ(Read(0x5C, 5), "0400000001") << "it cannot be written";
  MailboxTarget other(kAddress, handler_, {.vendor_id = 0x1234});
  bus_.Connect(kAddress, other);
  EXPECT_EQ(Read(0x62, 1), "34");
  EXPECT_EQ(Read(0x63, 1), "12");
}

TEST_F(MailboxTargetTest, EmptyMessagesProbe) {
  EXPECT_EQ(Execute("").outcome, smbus::Outcome::kOk);
  EXPECT_EQ(bus_.Execute({{Message::Read(kAddress, 0)}}).outcome, smbus::Outcome::kOk);
  EXPECT_EQ(Read(0x5C, 5), "040000001e") << "nothing has changed";
}

TEST_F(MailboxTargetTest, AStatusIsTakenWhenItsWordIs) {
  uint64_t now_us = 0;
  MailboxTarget target(kAddress, handler_, {.registers = {.now_us = [&] { return now_us; }, .latency_us = 10}});
  bus_.Connect(kAddress, target);
  Write("5c0402000080");
  Write("5c0403000080");
  EXPECT_EQ(Read(0x5C, 5), "0402000080");
  now_us = 10;
  EXPECT_EQ(Read(0x5C, 4), "04030000");
  EXPECT_EQ(Read(0x5C, 5), "040300000a") << "a short read has not told it";
  EXPECT_EQ(Read(0x5C, 5), "040200001f");
}

TEST_F(MailboxTargetTest, TheCommandCodeOutlivesStop) {
  Write("5c");
  const auto result = bus_.Execute({{Message::Read(kAddress, 5)}});
  EXPECT_EQ(Hex(result.read.at(0)), "040000001e");
}

TEST_F(MailboxTargetTest, SendByteWithPecIsAPointerWrite) {
  for (const uint8_t code : {0x5C, 0x5D, 0x62}) {
    Write("5d0430570500");
    Write("5c0403000080");
    const uint8_t sent[] = {smbus::AddressByte(kAddress, false), code};
    const uint8_t pec = smbus::Pec(sent);
    EXPECT_EQ(bus_.Execute({{Message::Write(kAddress, {code, pec})}}).outcome, smbus::Outcome::kOk);
    const std::string after = Hex(bus_.Execute({{Message::Read(kAddress, 1)}}).read.at(0));
    EXPECT_EQ(after, Read(code, 1)) << int{code};
    EXPECT_EQ(Read(0x5C, 5), "040300001f") << "it is no malformed write";
    // With a wrong PEC it is malformed.
    bus_.Execute({{Message::Write(kAddress, {code, static_cast<uint8_t>(pec ^ 1)})}});
    EXPECT_EQ(Read(0x5C, 5), "0400000001");
  }
  EXPECT_EQ(handler_.commands, 3);
}

TEST_F(MailboxTargetTest, DataInReachesTheCommandAndDataOutReplacesIt) {
  Write("5d0478563412");
  Write("5e0401000000");
  EXPECT_EQ(Read(0x5C, 5), "040000001e") << "a data write does not disturb the status";
  Write("5c0403000080");
  EXPECT_EQ(Read(0x5D, 5), "0478563412");
  EXPECT_EQ(Read(0x5E, 5), "0401000000");
}

TEST_F(MailboxTargetTest, CopyDataReturnsDataInTheWord) {
  Write("5c04020000c0");
  EXPECT_EQ(Read(0x5C, 5), "04002d001f");
}

TEST_F(MailboxTargetTest, WithoutTheExecuteBitNothingRuns) {
  Write("5c0402000000");
  EXPECT_EQ(handler_.commands, 0);
}

TEST_F(MailboxTargetTest, TheReservedBitIsAnError) {
  Write("5c04020000a0");
  EXPECT_EQ(handler_.commands, 0);
  EXPECT_EQ(Read(0x5C, 5), "0402000001");
}

TEST_F(MailboxTargetTest, UnknownOpcodeEchoesItself) {
  Write("5c041f010280");
  EXPECT_EQ(Read(0x5C, 5), "041f010202");
}

TEST_F(MailboxTargetTest, MalformedWritesAreErrorsOnTheNextStatus) {
  for (const char* hex : {
           "5c03020000",              // count 3
           "5c04020000",              // a byte short
           "5c0502000080",            // count 5
           "990400000000",            // no such register
           "9908000102030405060708",  // not a register, and not its size
       }) {
    Write("5c0402000080");
    const int before = handler_.commands;
    Write(hex);
    EXPECT_EQ(Read(0x5C, 5), "0400000001") << hex;
    EXPECT_EQ(handler_.commands, before) << hex;
  }
}

TEST_F(MailboxTargetTest, OverlongWriteIsRefused) {
  EXPECT_EQ(bus_.Execute({{Message::Write(kAddress, Bytes(259))}}).outcome, smbus::Outcome::kDataNack);
}

TEST_F(MailboxTargetTest, WindowsAreBlocksWithPec) {
  const auto result = bus_.Execute({{Message::Write(kAddress, {0xD0}), Message::ReadBlock(kAddress, 1)}});
  EXPECT_EQ(result.outcome, smbus::Outcome::kOk);
  EXPECT_EQ(smbus::Pec(FromHex("9ed09f" + Hex(result.read[0]))), 0) << "a right transaction sums to zero";
  EXPECT_EQ(Hex(result.read[0]).substr(0, 8), "03616263");
  EXPECT_EQ(bus_.Execute({{Message::Write(kAddress, {0xDF}), Message::ReadBlock(kAddress, 1)}}).outcome,
            smbus::Outcome::kBadCount)
      << "nothing in that window";
}

// Every transaction shape used by clients (facts sheet, 1.2), as bytes on the wire: `>` and `<` are the STARTs of a
// write and a read, and each `r` reads a byte.
constexpr const char* kShapes[] = {
    ">5c0402000080",    // SMBus and I2C block write, raw write
    ">5c040200008056",  // with PEC
    ">5d0400000000da",  // of data
    ">5c<rrrrr",        // block read
    ">5c<rrrrrr",       // with PEC
    ">5c<rr",           // short
    ">5c<rrrrrrrrrr",   // and long
    ">5c",              // command code only
    "<rrrrr",           // read in a separate transaction
    ">",                // a probe
    ">62<r",            // a byte
    ">d0<rrrrr",        // a window
    ">5d04aabbccdd>5c0403000080>5d<rrrrr",
};

// A failed controller is visible as a STOP, or as the START of the next controller.
class DyingControllerTest : public MailboxTargetTest, public testing::WithParamInterface<const char*> {
 protected:
  void Play(const std::string& wire) {
    for (size_t i = 0; i < wire.size(); ++i) {
      if (wire[i] == '>' || wire[i] == '<') {
        target_.Start(/*read=*/wire[i] == '<');
      } else if (wire[i] == 'r') {
        target_.Read();
      } else {
        target_.Write(FromHex(wire.substr(i++, 2))[0]);
      }
    }
  }
  // The prefixes of `wire` that end at a byte.
  static std::vector<std::string> Prefixes(const std::string& wire) {
    std::vector<std::string> prefixes;
    for (size_t i = 0; i < wire.size(); ++i) {
      if (wire[i] != '>' && wire[i] != '<' && wire[i] != 'r') ++i;
      prefixes.push_back(wire.substr(0, i + 1));
    }
    return prefixes;
  }
  // Checks the mailbox from the view of the next controller.
  void ExpectSane(const std::string& wire) {
    const int before = handler_.commands;
    EXPECT_EQ(Execute("5d0478563412" + PecOf("9e5d0478563412")).outcome, smbus::Outcome::kOk) << wire;
    EXPECT_EQ(Execute("5c0403000080" + PecOf("9e5c0403000080")).outcome, smbus::Outcome::kOk) << wire;
    EXPECT_EQ(handler_.commands, before + 1) << wire;
    EXPECT_EQ(Read(0x5C, 6), "040300001f" + PecOf("9e5c9f040300001f")) << wire;
    EXPECT_EQ(Read(0x5D, 5), "0478563412") << wire;
  }
  static std::string PecOf(const std::string& hex) { return Hex({smbus::Pec(FromHex(hex))}); }
};

TEST_P(DyingControllerTest, AtAnyByteThenStop) {
  for (const std::string& prefix : Prefixes(GetParam())) {
    const int before = handler_.commands;
    Play(prefix);
    target_.Stop();
    EXPECT_LE(handler_.commands, before + 1) << prefix;
    ExpectSane(prefix);
  }
}

TEST_P(DyingControllerTest, AtAnyByteThenTheNextStart) {
  for (const std::string& prefix : Prefixes(GetParam())) {
    Play(prefix);
    const auto status = bus_.Execute({{Message::Write(kAddress, {0x5E}), Message::Read(kAddress, 6)}});
    EXPECT_EQ(smbus::Pec(FromHex("9e5e9f" + Hex(status.read.at(0)))), 0) << prefix << ": the read's own PEC";
    ExpectSane(prefix);
  }
}

TEST_P(DyingControllerTest, OnlyAWholeCommandIsCarriedOut) {
  const std::string wire = GetParam();
  for (const std::string& prefix : Prefixes(wire)) {
    const bool whole = prefix.find("80") != std::string::npos;
    const int before = handler_.commands;
    Play(prefix);
    target_.Stop();
    EXPECT_EQ(handler_.commands, before + (whole ? 1 : 0)) << prefix;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryShape, DyingControllerTest, testing::ValuesIn(kShapes));

TEST_F(MailboxTargetTest, UnknownCodesReadAsAnIdleBus) { EXPECT_EQ(Read(0x42, 3), "ffffff"); }

}  // namespace
}  // namespace sideband::mcu
