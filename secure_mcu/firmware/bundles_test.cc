// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/bundles.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "proto/mailbox/services.h"

namespace sideband::mcu {
namespace {

using mailbox::BundleField;
using mailbox::BundleRule;
using mailbox::CommandWord;
using mailbox::MailboxStatus;
using mailbox::Opcode;

constexpr uint32_t kStops = mailbox::kBundleStops;

uint32_t Command(uint8_t opcode, uint8_t arg1 = 0, uint8_t arg2 = 0) {
  return CommandWord{.opcode = static_cast<Opcode>(opcode), .arg1 = arg1, .arg2 = arg2}.Encode();
}

uint32_t Answer(uint32_t command, MailboxStatus status) { return command | static_cast<uint32_t>(status) << 24; }

// Copies a whole register of request 0 unless a field differs.
BundleRule Copying(BundleField source, BundleField destination) {
  return {.source = source, .destination = destination};
}

// The executor repeats data-in, with its complement as extended data. GET_TEMP fails with ERR_ARG1.
class BundlesTest : public testing::Test {
 protected:
  struct Request {
    uint32_t command = 0;
    uint32_t data = 0;
  };

  Reply Execute(const CommandWord& command, uint32_t data) {
    executed_.push_back(command);
    if (command.opcode == Opcode::kGetTemp) return {.status = MailboxStatus::kErrArg1};
    return {.data = data, .extended_data = ~data, .word_bits = word_bits_};
  }
  Reply Launch(const std::vector<Request>& requests, const std::vector<uint32_t>& rules, uint8_t dword = 0) {
    std::vector<uint32_t> dwords;
    for (const Request& request : requests) {
      dwords.insert(dwords.end(), {request.command, request.data, 0xAAAA'AAAA, 0xBBBB'BBBB});
    }
    dwords.insert(dwords.end(), rules.begin(), rules.end());
    scratch_.Put(dword, dwords);
    return bundles_.Launch(static_cast<uint8_t>(requests.size() | rules.size() << 4), dword);
  }
  std::vector<uint32_t> Entry(uint8_t dword) const {
    const auto entry = scratch_.Parameters(dword, mailbox::kBundleRequestDwords);
    return {entry.begin(), entry.end()};
  }

  ScratchMemory scratch_;
  std::vector<CommandWord> executed_;
  std::optional<uint32_t> word_bits_;
  Bundles bundles_{scratch_, [this](const CommandWord& command, uint32_t data) { return Execute(command, data); }};
};

TEST_F(BundlesTest, EachRequestIsExecutedInOrderAndAnswered) {
  const Reply reply = Launch({{Command(0x04, 1, 2), 7}, {Command(0x05) | kStops, 9}}, {}, 100);
  EXPECT_EQ(reply.status, MailboxStatus::kSuccess);
  EXPECT_EQ(reply.data, 0u);
  EXPECT_EQ(reply.extended_data, 0u);
  EXPECT_FALSE(reply.word_bits) << "the status repeats the command";
  const CommandWord first{.opcode = Opcode::kGetPower, .arg1 = 1, .arg2 = 2, .execute = true};
  const CommandWord second{.opcode = Opcode::kGetSysId, .execute = true};
  EXPECT_EQ(executed_, (std::vector<CommandWord>{first, second}));
  EXPECT_EQ(Entry(100), (std::vector<uint32_t>{Answer(Command(0x04, 1, 2), MailboxStatus::kSuccess), 7, 7, ~7u}));
  EXPECT_EQ(Entry(104), (std::vector<uint32_t>{Answer(Command(0x05), MailboxStatus::kSuccess), 9, 9, ~9u}));
}

TEST_F(BundlesTest, AFailureLeavesTheOthersTheirResults) {
  const Reply reply = Launch({{Command(0x04), 1}, {Command(0x02), 2}, {Command(0x04), 3}}, {});
  EXPECT_EQ(reply.status, MailboxStatus::kPartialFailure);
  EXPECT_EQ(Entry(0)[2], 1u);
  EXPECT_EQ(Entry(4), (std::vector<uint32_t>{Answer(Command(0x02), MailboxStatus::kErrArg1), 2, 0, 0}));
  EXPECT_EQ(Entry(8)[2], 3u);
}

TEST_F(BundlesTest, AFailureThatStopsEndsTheBundle) {
  const BundleRule second = {.request = 1, .source = BundleField::kStatus};
  const BundleRule last = {.request = 2, .source = BundleField::kStatus, .destination = BundleField::kExtendedData};
  const Reply reply = Launch({{Command(0x04) | kStops, 1}, {Command(0x02) | kStops, 2}, {Command(0x04, 5), 3}},
                             {second.Encode(), last.Encode()});
  EXPECT_EQ(reply.status, MailboxStatus::kPartialFailure);
  EXPECT_EQ(executed_.size(), 2u);
  EXPECT_EQ(Entry(8), (std::vector<uint32_t>{Command(0x04, 5), 3, 0, 0})) << "its status is NULL";
  EXPECT_EQ(reply.data, Answer(Command(0x02), MailboxStatus::kErrArg1)) << "the rules are applied all the same";
  EXPECT_EQ(reply.extended_data, Command(0x04, 5));
}

TEST_F(BundlesTest, RulesPackBitsOfSeveralResults) {
  const BundleRule low = {.request = 0, .from = 8, .width = 16};
  const BundleRule high = {.request = 1, .from = 0, .width = 16, .to = 16};
  const BundleRule extended = {
      .source = BundleField::kExtendedData, .from = 4, .width = 4, .destination = BundleField::kExtendedData, .to = 28};
  const BundleRule word = {.request = 1, .width = 8, .destination = BundleField::kStatus, .to = 16};
  const Reply reply = Launch({{Command(0x04), 0x00ABCD00}, {Command(0x04), 0x56781234}},
                             {low.Encode(), high.Encode(), extended.Encode(), word.Encode()}, 3);
  EXPECT_EQ(reply.status, MailboxStatus::kSuccess);
  EXPECT_EQ(reply.data, 0x1234ABCDu);
  EXPECT_EQ(reply.extended_data, 0xF000'0000u);
  EXPECT_EQ(reply.word_bits, 0x34'42'1Cu) << "opcode and arg1 are repeated, arg2 is replaced";
}

TEST_F(BundlesTest, ALaterRuleOverwritesAnEarlierOne) {
  const BundleRule whole = {.request = 0};
  const BundleRule byte = {.request = 1, .width = 8, .to = 8};
  EXPECT_EQ(Launch({{Command(0x04), 0xFFFF'FFFF}, {Command(0x04), 0}}, {whole.Encode(), byte.Encode()}).data,
            0xFFFF'00FFu);
}

TEST_F(BundlesTest, BoundsOfRules) {
  struct Row {
    const char* what;
    BundleRule rule;
    bool is_valid;
  };
  using enum BundleField;
  constexpr BundleField kNone = static_cast<BundleField>(3);
  const Row rows[] = {
      {"last request", {.request = 1}, true},
      {"no such request", {.request = 2}, false},
      {"no such source", {.source = kNone}, false},
      {"no such destination", {.destination = kNone}, false},
      {"a whole register", Copying(kExtendedData, kExtendedData), true},
      {"to the last bit of the source", {.from = 1, .width = 31}, true},
      {"beyond the source", {.from = 2, .width = 31}, false},
      {"32 bits from bit 1", {.from = 1}, false},
      {"to the last bit of the destination", {.width = 1, .to = 31}, true},
      {"beyond the destination", {.width = 2, .to = 31}, false},
      {"32 bits to bit 1", {.to = 1}, false},
      {"the whole echo", {.width = 24, .destination = kStatus}, true},
      {"into the status", {.width = 25, .destination = kStatus}, false},
      {"last bit of the echo", {.width = 1, .destination = kStatus, .to = 23}, true},
      {"first bit of the status", {.width = 1, .destination = kStatus, .to = 24}, false},
      {"all bits of a status word", {.source = kStatus}, true},
  };
  for (const Row& row : rows) {
    executed_.clear();
    const Reply reply = Launch({{Command(0x04), 1}, {Command(0x04), 2}}, {row.rule.Encode()});
    EXPECT_EQ(reply.status, row.is_valid ? MailboxStatus::kSuccess : MailboxStatus::kErrDisposition) << row.what;
    EXPECT_EQ(executed_.size(), row.is_valid ? 2u : 0u) << row.what;
    EXPECT_EQ(Entry(0)[2], row.is_valid ? 1u : 0xAAAA'AAAAu) << row.what;
  }
  EXPECT_EQ(Launch({{Command(0x04), 1}}, {1u << 22}).status, MailboxStatus::kErrDisposition) << "undefined bits";
}

TEST_F(BundlesTest, BoundsOfCounts) {
  struct Row {
    uint8_t requests, rules;
    MailboxStatus status;
  };
  const Row rows[] = {
      {0, 0, MailboxStatus::kErrArg1},   // nothing to execute
      {1, 0, MailboxStatus::kSuccess},   //
      {4, 10, MailboxStatus::kSuccess},  // the most
      {5, 0, MailboxStatus::kErrArg1},   //
      {1, 11, MailboxStatus::kErrArg1},  //
      {15, 15, MailboxStatus::kErrArg1}  //
  };
  for (const Row& row : rows) {
    executed_.clear();
    const std::vector<uint32_t> rules(row.rules, BundleRule{}.Encode());
    EXPECT_EQ(Launch(std::vector<Request>(row.requests), rules).status, row.status)
        << int{row.requests} << " " << int{row.rules};
    EXPECT_EQ(executed_.size(), row.status == MailboxStatus::kSuccess ? row.requests : 0u);
  }
}

TEST_F(BundlesTest, BundlesStayWithinThePage) {
  EXPECT_EQ(bundles_.Launch(0x01, 252).status, MailboxStatus::kSuccess);
  EXPECT_EQ(bundles_.Launch(0x01, 253).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(Launch({{}}, {BundleRule{}.Encode()}, 251).status, MailboxStatus::kSuccess) << "with its rule";
  EXPECT_EQ(bundles_.Launch(0x11, 252).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(bundles_.Launch(0x05, 255).status, MailboxStatus::kErrArg1) << "the first argument is judged first";
  EXPECT_EQ(executed_.size(), 2u);
}

TEST_F(BundlesTest, BundlesAreInTheDestinationPage) {
  ASSERT_TRUE(scratch_.SelectPages(0x0002));
  Launch({{Command(0x04), 5}}, {});
  EXPECT_EQ(scratch_.Read(2).data, 0u) << "page 0";
  ASSERT_TRUE(scratch_.SelectPages(0x0200));
  EXPECT_EQ(scratch_.Read(2).data, 5u);
}

TEST_F(BundlesTest, RequestsThatWouldMoveTheBundle) {
  struct Row {
    uint32_t command;
    bool is_refused;
  };
  const Row rows[] = {
      {Command(0x1C, 0x01), true},                    // a bundle
      {Command(0x0E), true},                          // SCRATCH_WRITE
      {Command(0x0F), true},                          // SCRATCH_COPY
      {Command(0x1D), true},                          // a driver event
      {Command(0x10, 0x08), true},                    // ASYNC_REQUEST
      {Command(0x10, 0xFF, 1), false},                // its poll
      {Command(0x11, 0, 0), true},                    // pages of the scratch memory: write
      {Command(0x11, 1, 0), false},                   // read
      {Command(0x11, 0, 1), false},                   // the pending events
      {Command(0x0D), false},                         // SCRATCH_READ
      {Command(0x04) | uint32_t{1} << 29, true},      // the reserved bit
      {Command(0x04) | uint32_t{0x1F} << 24, false},  // a status, which register 5C ignores, too
  };
  for (const Row& row : rows) {
    executed_.clear();
    const Reply reply = Launch({{row.command}, {Command(0x04), 3}}, {});
    EXPECT_EQ(reply.status, row.is_refused ? MailboxStatus::kPartialFailure : MailboxStatus::kSuccess) << row.command;
    EXPECT_EQ(Entry(0)[0],
              Answer(row.command & 0x00FF'FFFF, row.is_refused ? MailboxStatus::kErrRequest : MailboxStatus::kSuccess));
    EXPECT_EQ(executed_.size(), row.is_refused ? 1u : 2u) << row.command;
    EXPECT_EQ(Entry(4)[2], 3u) << "the next request is executed";
  }
}

TEST_F(BundlesTest, TheStatusWordOfARequestIsThatOfRegister5C) {
  Launch({{Command(0x04) | uint32_t{1} << 30, 0x12345678}}, {});
  EXPECT_EQ(Entry(0)[0], 0x1F345678u) << "COPY_DATA";
  Launch({{Command(0x02) | uint32_t{1} << 30, 0x12345678}}, {});
  EXPECT_EQ(Entry(0)[0], 0x03000002u) << "an error has no data";
  word_bits_ = 0xABCDEF;
  Launch({{Command(0x04), 1}}, {});
  EXPECT_EQ(Entry(0)[0], 0x1FABCDEFu) << "the reply's own bits";
}

}  // namespace
}  // namespace sideband::mcu
