// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/guest_view/layout.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "secure_mcu/guest_view/example_device.h"

namespace sideband::mcu {
namespace {

GuestDirectory Example() { return {.boot_id = 0x1122334455667788, .catalog = *CatalogOfVm(ExampleCatalog(), 1)}; }

TEST(LayoutTest, DirectoryRoundTrips) { EXPECT_EQ(*DecodeGuestDirectory(EncodeGuestDirectory(Example())), Example()); }

TEST(LayoutTest, CatalogOfVmHoldsNothingOfOthers) {
  const mailbox::Catalog own = *CatalogOfVm(ExampleCatalog(), 1);
  EXPECT_EQ(own.vms.size(), 1);
  EXPECT_TRUE(own.slices.empty());
  ASSERT_EQ(own.contexts.size(), 2);
  EXPECT_EQ(own.contexts[0].name, "alpha-train");
  EXPECT_EQ(own.contexts[1].name, "alpha-infer");
}

TEST(LayoutTest, CatalogOfVmHoldsWhatIsCountedForIt) {
  mailbox::Catalog catalog = ExampleCatalog();
  const size_t events = CatalogOfVm(catalog, 1)->events.size();
  catalog.events.push_back({"masked_cycles", "cycles", mailbox::EventScope::kContext, "", /*masked=*/true});
  catalog.events.push_back({"link_cycles", "cycles", mailbox::EventScope::kDevice, ""});
  EXPECT_EQ(CatalogOfVm(catalog, 1)->events.size(), events);
}

TEST(LayoutTest, UnknownVmIsNotFound) {
  EXPECT_EQ(CatalogOfVm(ExampleCatalog(), 9).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(CatalogOfVm(ExampleCatalog(), mailbox::kHypervisorVm).status().code(), absl::StatusCode::kNotFound);
}

TEST(LayoutTest, EveryPrefixEveryExtraByteAndEveryFlippedBitIsRefused) {
  Bytes bytes = EncodeGuestDirectory(Example());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeGuestDirectory(ByteSpan(bytes).first(size)).ok()) << size;
  }
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= 1 << bit % 8;
    EXPECT_FALSE(DecodeGuestDirectory(bytes).ok()) << bit;
    bytes[bit / 8] ^= 1 << bit % 8;
  }
  bytes.push_back(0);
  EXPECT_FALSE(DecodeGuestDirectory(bytes).ok());
}

TEST(LayoutTest, AnotherVersionIsToldFromDamage) {
  Bytes bytes = EncodeGuestDirectory(Example());
  bytes[7] = '2';
  EXPECT_EQ(GuestDirectorySize(bytes).status().code(), absl::StatusCode::kUnimplemented);
}

TEST(LayoutTest, RefusesSeveralVms) {
  EXPECT_FALSE(DecodeGuestDirectory(EncodeGuestDirectory({.catalog = ExampleCatalog()})).ok());
  EXPECT_FALSE(DecodeGuestDirectory(EncodeGuestDirectory({})).ok());
}

TEST(LayoutTest, BlocksRoundTrip) {
  const mailbox::BlockHeader header{.vm = 1,
                                    .context = 2,
                                    .generation = 0xFFFFFFFF,
                                    .state = mailbox::BlockState::kRetired,
                                    .flags = mailbox::kFlagsKnown,
                                    .trigger_id = 0xFFFFFFFE,
                                    .reference_time_ns = UINT64_MAX,
                                    .sequence = 0xFFFFFFFD};
  mailbox::BlockHeader back{.vm = 1, .context = 2};
  ASSERT_TRUE(UnpackGuestBlock(PackGuestBlock(header), back).ok());
  EXPECT_EQ(back, header);
}

TEST(LayoutTest, FlagsOfBoundsAreLeftOut) {
  const mailbox::BlockHeader header{.flags = mailbox::kFlagEstimated | mailbox::kFlagRotationInconsistent};
  mailbox::BlockHeader back;
  ASSERT_TRUE(UnpackGuestBlock(PackGuestBlock(header), back).ok());
  EXPECT_EQ(back.flags, mailbox::kFlagEstimated);
}

TEST(LayoutTest, RefusesUnknownStatesAndFlags) {
  mailbox::BlockHeader header;
  for (const int bit : {34, 39, 40, 47, 52, 63}) {
    GuestBlockWords words = PackGuestBlock({});
    words[0] = uint64_t{1} << bit;
    EXPECT_EQ(UnpackGuestBlock(words, header).code(), absl::StatusCode::kDataLoss) << bit;
  }
}

TEST(LayoutTest, FileNamesStayInTheFolderAndApart) {
  EXPECT_EQ(GuestViewFileName("vm-1_a.b"), "vm-1_a.b.sbv");
  EXPECT_EQ(GuestViewFileName("../x"), "%2E.%2Fx.sbv");
  EXPECT_EQ(GuestViewFileName("a b%"), "a%20b%25.sbv");
  std::set<std::string> names;
  for (const char* name : {"a", "a/", "a%2F", ".a", "%2Ea", "A"}) names.insert(GuestViewFileName(name));
  EXPECT_EQ(names.size(), 6);
}

}  // namespace
}  // namespace sideband::mcu
