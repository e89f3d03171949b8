// SPDX-License-Identifier: Apache-2.0
#include "client/cli/csv.h"

#include <gtest/gtest.h>

namespace sideband::client {
namespace {

// RFC 4180, section 2.
TEST(CsvLineTest, QuotesWhatNeedsIt) {
  EXPECT_EQ(CsvLine({"a", "", "1 2", "=x"}), "a,,1 2,=x\r\n");
  EXPECT_EQ(CsvLine({"a,b", "say \"hi\"", "two\nlines", "\r"}), "\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",\"\r\"\r\n");
}

TEST(CsvNumberTest, ReadsBackAsTheSame) {
  EXPECT_EQ(CsvNumber(1234.56), "1234.56");
  EXPECT_EQ(CsvNumber(0.1), "0.1");
  EXPECT_EQ(CsvNumber(4'600'000'001), "4600000001");
}

}  // namespace
}  // namespace sideband::client
