// SPDX-License-Identifier: Apache-2.0
#include "client/demo/number_search.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>

namespace sideband::client {
namespace {

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
