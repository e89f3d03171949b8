// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/identity_items.h"

#include <gtest/gtest.h>

#include "secure_mcu/firmware/fake_device.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;

class IdentityItemsTest : public testing::Test {
 protected:
  FakeDevice device_;
  IdentityItems items_{device_.identity(), Persona::kSideband};
};

TEST_F(IdentityItemsTest, ComeInDwords) {
  EXPECT_EQ(items_.Get(0x02, 0).data, 0x49524553u) << "SERI";
  EXPECT_EQ(items_.Get(0x02, 1).data, 0x312D4C41u) << "AL-1";
  EXPECT_EQ(items_.Get(0x02, 3).data, 0u) << "padding";
  EXPECT_EQ(items_.Get(0x02, 4).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(items_.Get(0x08, 0).data, 0x2E302E31u) << "1.0.";
  EXPECT_EQ(items_.Get(0x08, 3).status, MailboxStatus::kSuccess) << "the last two of fourteen bytes";
  EXPECT_EQ(items_.Get(0x0D, 0).data, 0x520A1C6Fu) << "the UUID's first bytes";
  EXPECT_EQ(items_.Get(0x0D, 4).status, MailboxStatus::kErrArg2);
}

TEST_F(IdentityItemsTest, TheVendorIsThePersonas) {
  EXPECT_EQ(items_.Get(0x09, 0).data, 0x4253u);
  EXPECT_EQ(items_.Get(0x09, 1).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(IdentityItems(device_.identity(), Persona::kNvidia).Get(0x09, 0).data, 0x10DEu);
}

TEST_F(IdentityItemsTest, TheMemoryIsServedWhereItIsKnown) {
  DeviceIdentity identity = device_.identity();
  identity.memory_mib = 81920;
  const IdentityItems items(identity, Persona::kSideband);
  EXPECT_EQ(items.Get(0x17, 0).data, 81920u);
  EXPECT_EQ(items.Get(0x17, 1).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(items.served(), 0x00802705u);
}

TEST_F(IdentityItemsTest, TheNameIsServedWhereThereIsOne) {
  EXPECT_EQ(items_.Get(0x03, 0).status, MailboxStatus::kErrNotSupported);
  DeviceIdentity identity = device_.identity();
  identity.name = "A name of 24 characters!";
  const IdentityItems items(identity, Persona::kSideband);
  EXPECT_EQ(items.Get(0x03, 0).data, 0x616E2041u) << "A na";
  EXPECT_EQ(items.Get(0x03, 5).data, 0x21737265u) << "ers!";
  EXPECT_EQ(items.Get(0x03, 6).status, MailboxStatus::kErrArg2);
}

TEST_F(IdentityItemsTest, WhatIsNotServed) {
  EXPECT_EQ(items_.Get(0x06, 0).status, MailboxStatus::kErrNotSupported) << "memory part number";
  EXPECT_EQ(items_.Get(0x17, 0).status, MailboxStatus::kErrNotSupported)
      << "MAX_DRAM_CAPACITY, the last that SMBPBI knows";
  EXPECT_EQ(items_.Get(0x18, 0).status, MailboxStatus::kErrArg1);
  EXPECT_EQ(items_.served(), 0x2705u);
}

}  // namespace
}  // namespace sideband::mcu
