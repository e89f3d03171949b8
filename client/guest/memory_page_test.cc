// SPDX-License-Identifier: Apache-2.0
#include "client/guest/memory_page.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace sideband::client {
namespace {

class MemoryPageTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(path_) << "";
    std::filesystem::resize_file(path_, 2 * hpc::kPageBytes);
  }
  // The byte of the file.
  int At(size_t offset) {
    std::ifstream file(path_, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    return file.get();
  }

  const std::string path_ = testing::TempDir() + "resource";
};

TEST_F(MemoryPageTest, AccessesAreLittleEndianWordsAtTheirPlaces) {
  const auto page = *MemoryPage::Open(path_, hpc::kPageBytes);
  ASSERT_TRUE(page->Write64(hpc::kHpcmOffset, 0x0102030405060708).ok());
  EXPECT_EQ(At(hpc::kPageBytes + hpc::kHpcmOffset), 8);
  EXPECT_EQ(At(hpc::kPageBytes + hpc::kHpcmOffset + 7), 1);
  EXPECT_EQ(*page->Read64(hpc::kHpcmOffset), 0x0102030405060708u);
  EXPECT_EQ(*page->Read32(hpc::kHpcmOffset), 0x05060708u);
  EXPECT_EQ(*page->Read32(hpc::kHpcmOffset + 4), 0x01020304u);
  ASSERT_TRUE(page->Write32(hpc::kPageBytes - 4, 9).ok());
  EXPECT_EQ(At(2 * hpc::kPageBytes - 4), 9);
  EXPECT_EQ(At(hpc::kHpcmOffset), 0) << "of the page before";
}

TEST_F(MemoryPageTest, WhatCannotBeMapped) {
  const auto code = [](const std::string& path, uint64_t offset) {
    return MemoryPage::Open(path, offset).status().code();
  };
  EXPECT_EQ(code(path_, 8), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(path_, ~uint64_t{0} / hpc::kPageBytes * hpc::kPageBytes), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(path_, 2 * hpc::kPageBytes), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code(path_ + ".absent", 0), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace sideband::client
