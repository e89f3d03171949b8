// SPDX-License-Identifier: Apache-2.0
#include "proto/base/uuid.h"

#include <gtest/gtest.h>

namespace sideband {
namespace {

TEST(UuidTest, ParsesEitherCaseAndPrintsLower) {
  const auto uuid = Uuid::Parse("6F1C0A52-3d0e-4a53-9a51-0d4c2a7e9b10");
  ASSERT_TRUE(uuid.ok());
  EXPECT_EQ(uuid->ToString(), "6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10");
  EXPECT_EQ(uuid->bytes[0], 0x6f);
  EXPECT_EQ(uuid->bytes[15], 0x10);
}

TEST(UuidTest, RefusesWhatIsNotCanonical) {
  for (const char* text : {
           "",
           "6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b1",    // one digit short
           "6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b100",  // one digit long
           "6f1c0a523-d0e-4a53-9a51-0d4c2a7e9b10",   // dash out of place
           "6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b1g",   // not hexadecimal
           "{6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b1}",
       }) {
    EXPECT_EQ(Uuid::Parse(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(UuidTest, NilIsAllZeros) {
  EXPECT_TRUE(Uuid{}.is_nil());
  EXPECT_FALSE(Uuid::Parse("00000000-0000-0000-0000-000000000001")->is_nil());
}

}  // namespace
}  // namespace sideband
