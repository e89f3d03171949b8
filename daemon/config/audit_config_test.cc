// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/audit_config.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "daemon/config/read_section.h"

namespace sideband::daemon {
namespace {

absl::StatusOr<AuditConfig> ReadAudit(const std::string& text) {
  return ReadSection(text, "audit", ReadAuditConfig, testing::TempDir());
}

TEST(AuditConfigTest, TheFoldersAbsenceIsAnError) {
  EXPECT_EQ(ReadAudit("audit: {file: /absent/audit.jsonl}").status().message(),
            "c.yaml:1: /absent/audit.jsonl: its folder is not there");
}

TEST(AuditConfigTest, IsOptional) { EXPECT_EQ(ReadAudit("other: 1")->file, ""); }

TEST(AuditConfigTest, HasDefaults) {
  std::filesystem::create_directory(testing::TempDir() + "/log");
  const auto config = ReadAudit("audit: {file: log/audit.jsonl}");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->file, testing::TempDir() + "log/audit.jsonl");
  EXPECT_EQ(config->max_bytes, 16u << 20);
  EXPECT_EQ(config->files, 8u);
}

TEST(AuditConfigTest, ReadsEverything) {
  const auto config = ReadAudit("audit: {file: /var/log/audit.jsonl, max_bytes: 64KiB, files: 1}");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->file, "/var/log/audit.jsonl");
  EXPECT_EQ(config->max_bytes, 64u << 10);
  EXPECT_EQ(config->files, 1u);
}

TEST(AuditConfigTest, NamesTheLine) {
  struct Row {
    const char *text, *error;
  };
  for (const Row& row : {
           Row{"audit:\n  files: 3", "c.yaml:2: key 'file' is missing"},
           Row{"audit:\n  file: a\n  max_bytes: 65535", "c.yaml:3: '65535' is not from 64KiB to 1GiB"},
           Row{"audit:\n  file: a\n  max_bytes: 2GiB", "c.yaml:3: '2GiB' is not from 64KiB to 1GiB"},
           Row{"audit:\n  file: a\n  max_bytes: 16MB",
               "c.yaml:3: '16MB' is no number of bytes, such as 512KiB or 16MiB"},
           Row{"audit:\n  file: a\n  files: 0", "c.yaml:3: expected a whole number from 1 to 1000"},
       }) {
    EXPECT_EQ(ReadAudit(row.text).status().message(), row.error);
  }
}

}  // namespace
}  // namespace sideband::daemon
