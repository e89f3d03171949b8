// SPDX-License-Identifier: Apache-2.0
#include "client/demo/number_checks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>

namespace sideband::client {
namespace {

constexpr char kScrape[] =
    "sideband_device_up{device=\"gpu0\"} 1\n"
    "sideband_device_x_total{device=\"gpu0\"} 30\n"
    "sideband_vm_x_total{device=\"gpu0\",vm=\"a\"} 10\n"
    "sideband_vm_x_total{device=\"gpu0\",vm=\"b\"} 20\n"
    "sideband_vm_y_total{device=\"gpu0\",vm=\"b\"} 7\n";

TEST(SumsTest, VmsAddUpToTheDevice) {
  EXPECT_EQ(CheckScrapeSums(kScrape, "x", Sums::kEqual), "");
  const std::string more = std::string(kScrape) + "sideband_vm_x_total{device=\"gpu0\",vm=\"c\"} 1\n";
  EXPECT_EQ(CheckScrapeSums(more, "x", Sums::kEqual), "the device's x is 30, its parts add up to 31");
  EXPECT_EQ(CheckScrapeSums(more, "x", Sums::kAtMost), "the device's x is 30, its parts add up to 31");
  EXPECT_EQ(CheckScrapeSums(more, "x", Sums::kNone), "");
  EXPECT_EQ(CheckScrapeSums(kScrape, "z", Sums::kEqual), "the device's z is missing");
  EXPECT_EQ(CheckScrapeSums("", "z", Sums::kAtMost), "the device's z is missing");
  EXPECT_EQ(CheckScrapeSums("sideband_device_z_total{} 5\n", "z", Sums::kEqual), "the device's z has no parts");
}

TEST(SumsTest, AWholeMayCountWhatHasEnded) {
  const std::string ended = "sideband_device_x_total{} 5\nsideband_vm_x_total{} 4\n";
  EXPECT_EQ(CheckScrapeSums(ended, "x", Sums::kAtMost), "");
  EXPECT_NE(CheckScrapeSums(ended, "x", Sums::kEqual), "");
}

TEST(SumsTest, ContextsAddUpToTheirVm) {
  const std::string table =
      "gpu0  2026-11-22T14:23:10.743Z ±186.112us  snapshot 2  trigger 275\n"
      "VM   CONTEXT  EVENT          COUNT        RATE  NOTES\n"
      "vm1  -        cycles  1,000,000,001    4.62 G/s  -\n"
      "vm1  train    cycles  1,000,000,000    4.62 G/s  idle\n"
      "vm1  eval     cycles              1    4.62 G/s  -\n";
  EXPECT_EQ(CheckTableSums(table, Sums::kEqual), "");
  EXPECT_EQ(CheckTableSums(table + "vm1  more     cycles  1  -  -\n", Sums::kEqual),
            "cycles of vm1 is 1000000001, its parts add up to 1000000002");
  EXPECT_EQ(CheckTableSums("VM   CONTEXT\n", Sums::kEqual), "there are no counts");
  EXPECT_EQ(CheckTableSums("vm1 - x ~3\nvm1 a x ~2\n", Sums::kEqual), "x of vm1 is 3, its parts add up to 2");
  EXPECT_EQ(CheckTableSums("vm1 - lo…g 3\nvm1 a lo…g 9\n", Sums::kEqual), "") << "names that cannot be told apart";
}

TEST(GrowthTest, FromOneTableToTheNext) {
  const std::string before = "EVENT  COUNT\nx  1,000\ny  7\n";
  const std::string between = "VM  CONTEXT  EVENT  COUNT\nvm1  a  x  1,000  3 k/s\n";
  EXPECT_EQ(CheckGrowth(before + between + "x 1,001\n", "x"), "");
  EXPECT_EQ(CheckGrowth(before + between + "x 999\n", "x"), "x is 999 after 1000");
  EXPECT_EQ(CheckGrowth(before + between, "x"), "x is there 2 times, not 3");
  EXPECT_EQ(CheckGrowth("", "x"), "x is there 0 times, not 3");
}

TEST(SumsTest, EqualCountsInTables) {
  const std::string reading = "EVENT  COUNT\nx  1,000\n", row = "vm1  job  x  1,000  0.00 /s\n";
  EXPECT_EQ(CheckEquality(reading + row, "x"), "");
  EXPECT_EQ(CheckEquality(reading + "vm1  job  x  1,001  -\n", "x"), "x is 1001 and 1000");
  EXPECT_EQ(CheckEquality(reading, "x"), "x is there 1 times, not 2");
  EXPECT_EQ(CheckEquality("x  0\nvm1  job  x  0  -\n", "x"), "x is 0");
}

constexpr uint64_t kNumber = 0x12'3456'789A;

TEST(NumberSearchTest, FindsANumberAtEachBitOffset) {
  for (int shift = 0; shift < 8; ++shift) {
    const unsigned __int128 bits = static_cast<unsigned __int128>(kNumber) << shift | ((1u << shift) - 1);
    std::string bytes = "before";
    for (int byte = 0; byte < 9; ++byte) bytes += static_cast<char>(bits >> 8 * byte);
    EXPECT_EQ(CountFound({kNumber}, bytes), 1u) << shift;
  }
}

// Memory is full of small numbers.
TEST(NumberSearchTest, ASmallerNumberIsNotTheUpperBitsOfALargerOne) {
  for (int shift = 1; shift < 8; ++shift) {
    std::string bytes = "\xFF";
    for (int byte = 0; byte < 9; ++byte) bytes += static_cast<char>(kNumber >> shift >> 8 * std::min(byte, 7));
    EXPECT_EQ(CountFound({kNumber}, bytes), 0u) << shift;
  }
}

TEST(NumberSearchTest, FindsTextAndVarints) {
  EXPECT_EQ(CountFound({kNumber, 5'000'000'000}, "count 78187493530."), 1u);
  EXPECT_EQ(CountFound({kNumber}, "\x9A\xF1\xD9\xA2\xA3\x02"), 1u);
  EXPECT_EQ(CountFound({kNumber}, "nothing of it"), 0u);
}

TEST(NumberSearchTest, FindsWhatAFileHas) {
  const std::string path = testing::TempDir() + "numbers";
  std::ofstream(path) << "78187493530";
  EXPECT_EQ(*FindInFile({kNumber, 9'000'000'001}, path), 1u);
  EXPECT_TRUE(absl::IsNotFound(FindInFile({kNumber}, path + ".none").status()));
}

TEST(NumberSearchTest, FindsWhatAProcessHas) {
  // Made here, so that the program's text does not have it.
  const auto heap = std::make_unique<volatile uint64_t>(kNumber * 0x3333);
  const auto found = FindInProcess({*heap}, getpid());
  if (absl::IsPermissionDenied(found.status())) GTEST_SKIP() << found.status();
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(*found, 1u);
}

}  // namespace
}  // namespace sideband::client
