// SPDX-License-Identifier: Apache-2.0
#include "proto/base/byte_size.h"

#include <gtest/gtest.h>

namespace sideband {
namespace {

TEST(ByteSizeTest, TakesNumbersWithAndWithoutUnits) {
  EXPECT_EQ(*ParseByteSize("0"), 0u);
  EXPECT_EQ(*ParseByteSize("1048576"), 1u << 20);
  EXPECT_EQ(*ParseByteSize("512KiB"), 512u << 10);
  EXPECT_EQ(*ParseByteSize("16MiB"), 16u << 20);
  EXPECT_EQ(*ParseByteSize("2GiB"), uint64_t{2} << 30);
  EXPECT_EQ(*ParseByteSize("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(*ParseByteSize("17179869183GiB"), uint64_t{17179869183} << 30) << "the largest in GiB";
}

TEST(ByteSizeTest, RefusesAllElse) {
  for (const char* bad : {"", "KiB", "16MB", "16 MiB", "16M", "+1", "-1", "1.5MiB", "16MiBKiB", "0x10", "mib",
                          "18446744073709551616", "17179869184GiB"}) {
    EXPECT_EQ(ParseByteSize(bad).status().code(), absl::StatusCode::kInvalidArgument) << bad;
  }
  EXPECT_EQ(ParseByteSize("16MB").status().message(), "'16MB' is not a number of bytes, such as 512KiB or 16MiB");
}

TEST(ByteSizeTest, IsFormattedInTheLargestUnitThatFits) {
  for (const char* text : {"0", "1", "1023", "1KiB", "1025", "1023KiB", "1MiB", "3GiB", "1024GiB"}) {
    EXPECT_EQ(FormatByteSize(*ParseByteSize(text)), text);
  }
}

}  // namespace
}  // namespace sideband
