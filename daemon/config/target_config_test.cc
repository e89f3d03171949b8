// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/target_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/str_replace.h"
#include "daemon/config/read_section.h"

namespace sideband::daemon {
namespace {

class TargetConfigTest : public testing::Test {
 protected:
  absl::StatusOr<std::optional<std::vector<TargetGroup>>> Read(const std::string& file) const {
    std::ofstream(folder_ + "targets.yml") << file;
    return ReadSection("targets_file: targets.yml\n", "targets_file", ReadTargets, folder_);
  }
  std::string Error(const std::string& file) const {
    return absl::StrReplaceAll(std::string(Read(file).status().message()), {{folder_, ""}});
  }

  const std::string folder_ = testing::TempDir();
};

TEST_F(TargetConfigTest, ReadsGroups) {
  const auto groups = Read("- targets: ['a:1', 'b:2']\n  labels: {rack: r1, row: 7}\n- targets: ['c:3']\n");
  ASSERT_TRUE(groups.ok()) << groups.status();
  ASSERT_EQ((*groups)->size(), 2u);
  EXPECT_EQ((*groups)->at(0).targets, (std::vector<std::string>{"a:1", "b:2"}));
  EXPECT_EQ((*groups)->at(0).labels, (std::map<std::string, std::string>{{"rack", "r1"}, {"row", "7"}}));
  EXPECT_TRUE((*groups)->at(1).labels.empty());
}

TEST_F(TargetConfigTest, ReadsJson) {
  EXPECT_EQ((*Read(R"([{"targets": ["a:1"], "labels": {"rack": "r1"}}])"))->at(0).targets.at(0), "a:1");
}

TEST_F(TargetConfigTest, AnEmptyListHasNoTargets) {
  EXPECT_TRUE((*Read("[]\n"))->empty());
  EXPECT_TRUE((*Read("- targets: []\n"))->empty());
}

TEST_F(TargetConfigTest, AbsentMeansNone) {
  EXPECT_EQ(ReadSection("other: 1\n", "targets_file", ReadTargets)->has_value(), false);
}

TEST_F(TargetConfigTest, EveryMistakeHasItsLine) {
  EXPECT_EQ(Error("targets: []\n"), "targets.yml:1: expected a list");
  EXPECT_EQ(Error("- labels: {}\n"), "targets.yml:1: key 'targets' is missing");
  for (const std::string target : {"https://a:1", "b", "c:99999", "host:", ":9", "h:0", "h:+1", "a b:1"}) {
    EXPECT_EQ(Error("- targets: ['" + target + "']\n"), "targets.yml:1: '" + target + "' is not HOST:PORT");
  }
  EXPECT_EQ(Error("- targets: ['a:1']\n  labels: {a-b: x}\n"), "targets.yml:2: 'a-b' is not a label name");
  EXPECT_EQ(Error("- targets: ['a:1']\n  labels: {a: []}\n"), "targets.yml:2: expected a text");
  EXPECT_EQ(Error("- target: ['a:1']\n"), "targets.yml:1: unknown key 'target' (did you mean 'targets'?)");
}

TEST_F(TargetConfigTest, AFileHasABound) {
  EXPECT_THAT(Error(std::string((1 << 20) + 1, '#')), testing::HasSubstr("1048576"));
}

TEST_F(TargetConfigTest, AnAbsentFileIsReported) {
  const auto read = ReadSection("targets_file: none.yml\n", "targets_file", ReadTargets, folder_);
  EXPECT_EQ(absl::StrReplaceAll(std::string(read.status().message()), {{folder_, ""}}),
            "none.yml: No such file or directory");
}

}  // namespace
}  // namespace sideband::daemon
