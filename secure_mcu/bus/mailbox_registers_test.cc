// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/bus/mailbox_registers.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

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

}  // namespace
}  // namespace sideband::mcu
