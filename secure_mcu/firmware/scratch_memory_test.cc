// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/scratch_memory.h"

#include <gtest/gtest.h>

#include <vector>

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;

TEST(ScratchMemoryTest, ReadsWhatWasWritten) {
  ScratchMemory scratch;
  EXPECT_EQ(scratch.Read(255).data, 0u);
  EXPECT_EQ(scratch.Write(255, 0, 7).status, MailboxStatus::kSuccess);
  EXPECT_EQ(scratch.Read(255).data, 7u);
  EXPECT_EQ(scratch.Write(0, 255, 9).status, MailboxStatus::kSuccess) << "a whole page";
  EXPECT_EQ(scratch.Read(0).data, 9u);
  EXPECT_EQ(scratch.Read(255).data, 9u);
}

TEST(ScratchMemoryTest, NothingIsWrittenBeyondThePage) {
  ScratchMemory scratch;
  EXPECT_EQ(scratch.Write(255, 1, 7).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(scratch.Read(255).data, 0u);
  EXPECT_FALSE(scratch.Put(255, std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(scratch.Read(255).data, 0u);
  EXPECT_TRUE(scratch.Put(254, std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(scratch.Read(255).data, 2u);
}

TEST(ScratchMemoryTest, ParametersAreInTheDestinationPage) {
  ScratchMemory scratch;
  ASSERT_TRUE(scratch.SelectPages(0x0001));
  scratch.Write(254, 1, 7);
  ASSERT_EQ(scratch.Parameters(254, 2).size(), 2u);
  EXPECT_EQ(scratch.Parameters(254, 2)[1], 7u);
  EXPECT_EQ(scratch.Parameters(0, 256).size(), 256u) << "a whole page";
  EXPECT_TRUE(scratch.Parameters(254, 3).empty());
  EXPECT_TRUE(scratch.Parameters(1, 256).empty());
}

TEST(ScratchMemoryTest, PagesAreSelectedApart) {
  ScratchMemory scratch;
  ASSERT_TRUE(scratch.SelectPages(0x0003));
  EXPECT_EQ(scratch.pages(), 0x0003u);
  scratch.Write(5, 0, 42);
  EXPECT_EQ(scratch.Read(5).data, 0u) << "page 0";
  ASSERT_TRUE(scratch.SelectPages(0x0301));
  EXPECT_EQ(scratch.Read(5).data, 42u);
  for (const uint32_t pages : {0x0004u, 0x0400u, 0x10000u, 0xFFFFFFFFu}) {
    EXPECT_FALSE(scratch.SelectPages(pages)) << pages;
    EXPECT_EQ(scratch.pages(), 0x0301u) << pages;
  }
}

TEST(ScratchMemoryTest, CopiesBetweenPages) {
  ScratchMemory scratch;
  for (uint8_t i = 0; i < 4; ++i) scratch.Write(i, 0, i + 1);
  ASSERT_TRUE(scratch.SelectPages(0x0002));
  EXPECT_EQ(scratch.Copy(10, 3, 0).status, MailboxStatus::kSuccess);
  ASSERT_TRUE(scratch.SelectPages(0x0200));
  EXPECT_EQ(scratch.Read(10).data, 1u);
  EXPECT_EQ(scratch.Read(13).data, 4u);
  EXPECT_EQ(scratch.Read(14).data, 0u);
}

TEST(ScratchMemoryTest, ACopyMayOverlap) {
  ScratchMemory scratch;
  for (uint8_t i = 0; i < 4; ++i) scratch.Write(i, 0, i + 1);
  scratch.Copy(1, 3, 0);
  EXPECT_EQ(scratch.Read(1).data, 1u);
  EXPECT_EQ(scratch.Read(4).data, 4u);
  scratch.Copy(0, 3, 1);
  EXPECT_EQ(scratch.Read(0).data, 1u);
  EXPECT_EQ(scratch.Read(3).data, 4u);
}

TEST(ScratchMemoryTest, CopiesStayWithinTheirPages) {
  ScratchMemory scratch;
  EXPECT_EQ(scratch.Copy(255, 1, 0).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(scratch.Copy(0, 1, 255).status, MailboxStatus::kErrData);
  EXPECT_EQ(scratch.Copy(0, 0, 255).status, MailboxStatus::kSuccess);
  EXPECT_EQ(scratch.Copy(0, 0, 256).status, MailboxStatus::kErrData);
  EXPECT_EQ(scratch.Copy(0, 0, 0xFFFFFFFF).status, MailboxStatus::kErrData);
}

}  // namespace
}  // namespace sideband::mcu
