// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/power_hints.h"

#include <gtest/gtest.h>

#include "secure_mcu/firmware/fake_gpu.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;

constexpr uint8_t kClocks = 0, kTemperature = 1, kProfiles = 2;

class PowerHintsTest : public testing::Test {
 protected:
  PowerHintsTest() {
    gpu_.clock = WorkloadClock{.levels = {499'500'000, 1'000'000'000, 1'409'499'999}, .hz = 1'000'000'000};
    spec_.thermal = ThermalLimits{.shutdown_c = 97.9};
  }

  FakeGpu gpu_;
  BoardSpec spec_;
  PowerHints hints_{gpu_, spec_};
};

TEST_F(PowerHintsTest, EachRangeHasItsLeastAndItsMost) {
  EXPECT_EQ(hints_.Get(kClocks, 0).data, 500u | 1409u << 16) << "rounded to MHz";
  EXPECT_EQ(hints_.Get(kTemperature, 0).data, 97u << 16) << "rounded down: the board is never hotter";
}

TEST_F(PowerHintsTest, ThereAreNoProfiles) {
  for (const uint8_t page : {0, 1, 2, 3}) {
    const Reply reply = hints_.Get(kProfiles, page);
    EXPECT_EQ(reply.status, MailboxStatus::kSuccess) << int{page};
    EXPECT_EQ(reply.data, 0u) << int{page};
    EXPECT_EQ(reply.extended_data, 0u) << int{page};
  }
}

TEST_F(PowerHintsTest, ExtremesSaturate) {
  gpu_.clock = WorkloadClock{.levels = {1, ~uint64_t{0} / 2}, .hz = 1};
  EXPECT_EQ(hints_.Get(kClocks, 0).data, 0xFFFEu << 16);
  spec_.thermal->shutdown_c = 1e9;
  EXPECT_EQ(hints_.Get(kTemperature, 0).data, 0x7FFFu << 16);
  spec_.thermal->shutdown_c = -1;
  EXPECT_EQ(hints_.Get(kTemperature, 0).data, 0u);
}

TEST_F(PowerHintsTest, WhatTheBoardLacks) {
  gpu_.clock.reset();
  spec_.thermal.reset();
  EXPECT_EQ(hints_.Get(kClocks, 0).status, MailboxStatus::kErrNotSupported);
  EXPECT_EQ(hints_.Get(kTemperature, 0).status, MailboxStatus::kErrNotSupported);
  EXPECT_EQ(hints_.Get(kTemperature, 1).status, MailboxStatus::kErrArg2) << "an undefined value on every board";
}

TEST_F(PowerHintsTest, WhatIsNotDefined) {
  struct Row {
    uint8_t item, which;
    MailboxStatus status;
  };
  const Row rows[] = {
      {kClocks, 1, MailboxStatus::kErrNotSupported},  // the memory clock
      {kClocks, 2, MailboxStatus::kErrArg2},          //
      {kTemperature, 1, MailboxStatus::kErrArg2},     //
      {kProfiles, 4, MailboxStatus::kErrArg2},        // the first page that does not exist
      {3, 0, MailboxStatus::kErrArg1},                //
      {3, 9, MailboxStatus::kErrArg1},                // the first argument is judged first
      {0xFF, 0, MailboxStatus::kErrArg1},             //
  };
  for (const Row& row : rows) EXPECT_EQ(hints_.Get(row.item, row.which).status, row.status) << int{row.item};
}

}  // namespace
}  // namespace sideband::mcu
