// SPDX-License-Identifier: Apache-2.0
#include "proto/audit/verify_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace sideband {
namespace {

class VerifyFilesTest : public testing::Test {
 protected:
  VerifyFilesTest() { std::filesystem::create_directories(folder_); }
  ~VerifyFilesTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + name) << text;
    return folder_ + name;
  }

  // The next `count` entries of one log.
  std::string Next(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      const std::string line = EncodeAuditLine({.entry = {.sequence = ++sequence_}, .prev = prev_});
      prev_ = AuditHash(line);
      text += line + "\n";
    }
    return text;
  }

  const std::string folder_ = testing::TempDir() + "verify_files/";
  uint64_t sequence_ = 0;
  std::string prev_ = kAuditNoPrev;
};

TEST_F(VerifyFilesTest, FilesMayComeInAnyOrder) {
  const std::string oldest = Write("log.2", Next(400)), older = Write("log.1", Next(3)), newest = Write("log", Next(5)),
                    empty = Write("log.0", "");
  const auto files = OrderedAuditFiles({newest, older, oldest, empty});
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(*files, std::vector<std::string>({empty, oldest, older, newest}));
  ChainVerifier chain({});
  EXPECT_EQ(FeedAuditFiles(*files, chain), absl::OkStatus());
  EXPECT_EQ(chain.End(), absl::OkStatus());
  EXPECT_EQ(chain.summary().entries, 408u);
  EXPECT_EQ(chain.summary().head, prev_);
}

TEST_F(VerifyFilesTest, AMissingFileInTheMiddleIsABreak) {
  const std::string oldest = Write("log.2", Next(2));
  Next(2);
  const std::string newest = Write("log", Next(2));
  ChainVerifier chain({});
  EXPECT_EQ(FeedAuditFiles(*OrderedAuditFiles({newest, oldest}), chain), absl::OkStatus());
  EXPECT_EQ(chain.End().message(), newest + ":1: sequence 5 after 2");
}

TEST_F(VerifyFilesTest, WhatCannotBeReadIsNamed) {
  EXPECT_EQ(OrderedAuditFiles({folder_ + "none"}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(OrderedAuditFiles({folder_}).status(), absl::InvalidArgumentError(folder_ + ": is a directory"));
  EXPECT_EQ(OrderedAuditFiles({"/dev/null"}).status(), absl::InvalidArgumentError("/dev/null: is not a regular file"));
  const std::string other = Write("other", "key: value\n");
  EXPECT_EQ(OrderedAuditFiles({other}).status(), absl::DataLossError(other + ":1: not a JSON object"));
}

}  // namespace
}  // namespace sideband
