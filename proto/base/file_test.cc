// SPDX-License-Identifier: Apache-2.0
#include "proto/base/file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace sideband {
namespace {

TEST(FileTest, ReadsTheWholeFile) {
  const std::string path = testing::TempDir() + "/contents";
  std::ofstream(path, std::ios::binary) << std::string("a\0b\n", 4);
  EXPECT_EQ(*ReadFile(path), std::string("a\0b\n", 4));
}

TEST(FileTest, MissingFileIsNotFoundAndNamed) {
  const auto missing = ReadFile("/nonexistent/file");
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(missing.status().message().find("/nonexistent/file"), absl::string_view::npos);
}

TEST(FileTest, DirectoryIsRefused) {
  EXPECT_EQ(ReadFile(testing::TempDir()).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(FileTest, SizeLimitIsKept) {
  const std::string path = testing::TempDir() + "/large";
  std::ofstream(path) << "12345";
  EXPECT_TRUE(ReadFile(path, 5).ok());
  EXPECT_EQ(ReadFile(path, 4).status().code(), absl::StatusCode::kOutOfRange);
}

}  // namespace
}  // namespace sideband
