// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "absl/strings/match.h"
#include "client/demo/demo_command.h"
#include "client/demo/demo_site.h"
#include "client/lib/channel.h"
#include "proto/base/file.h"

namespace sideband::client {
namespace {

namespace fs = std::filesystem;

class FirstSiteTest : public testing::Test {
 protected:
  ~FirstSiteTest() override { fs::remove_all(folder_); }

  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.insert(entry.path().filename());
    return names;
  }

  const std::string folder_ = testing::TempDir() + "/first_site";
};

TEST_F(FirstSiteTest, HasAllFilesAndNoOtherUserReadsAKey) {
  ASSERT_EQ(WriteFirstSite(folder_), absl::OkStatus());
  EXPECT_EQ(Names(), (std::set<std::string>{"acme.key", "acme.pem", "acme.yaml", "ca.pem", "chip.yaml", "operator.key",
                                            "operator.pem", "operator.yaml", "policy.yaml", "server.key", "server.pem",
                                            "sidebandd.yaml", "vm3.key"}));
  EXPECT_EQ(fs::status(folder_).permissions(), fs::perms::owner_all);
  for (const std::string& name : Names()) {
    const fs::perms mode = fs::status(folder_ + "/" + name).permissions();
    const fs::perms owner = fs::perms::owner_read | fs::perms::owner_write;
    if (absl::EndsWith(name, ".key")) EXPECT_EQ(mode, owner) << name;
    EXPECT_EQ(mode & fs::perms::others_write, fs::perms::none) << name;
  }
}

TEST_F(FirstSiteTest, ThePolicyNamesTheVmsOfTheChip) {
  ASSERT_EQ(WriteFirstSite(folder_), absl::OkStatus());
  const std::string chip = *ReadFile(folder_ + "/chip.yaml"), policy = *ReadFile(folder_ + "/policy.yaml");
  const std::vector<DemoVm> vms = BuiltInVms();
  for (const DemoVm& vm : vms) {
    EXPECT_TRUE(absl::StrContains(chip, vm.uuid)) << vm.name;
    EXPECT_EQ(absl::StrContains(policy, vm.uuid), vm.name != "vm2") << vm.name;
    EXPECT_EQ(absl::StrContains(*ReadFile(folder_ + "/sidebandd.yaml"), vm.uuid), vm.confidential) << vm.name;
  }
}

TEST_F(FirstSiteTest, TheConfigurationsOfUsersNameTheirFiles) {
  ASSERT_EQ(WriteFirstSite(folder_), absl::OkStatus());
  for (const std::string user : {"operator", "acme"}) {
    EXPECT_EQ(*LoadClientConfig(folder_ + "/" + user + ".yaml"),
              (ClientConfig{.address = kDefaultAddress,
                            .ca_file = folder_ + "/ca.pem",
                            .cert_file = folder_ + "/" + user + ".pem",
                            .key_file = folder_ + "/" + user + ".key"}));
  }
}

TEST_F(FirstSiteTest, KeysOfTwoSitesDiffer) {
  ASSERT_EQ(WriteFirstSite(folder_), absl::OkStatus());
  const std::string key = *ReadFile(folder_ + "/vm3.key");
  EXPECT_EQ(key.size(), 65u) << "64 digits and a newline";
  fs::remove_all(folder_);
  ASSERT_EQ(WriteFirstSite(folder_), absl::OkStatus());
  EXPECT_NE(*ReadFile(folder_ + "/vm3.key"), key);
}

TEST_F(FirstSiteTest, NothingIsOverwritten) {
  fs::create_directory(folder_);
  std::ofstream(folder_ + "/policy.yaml") << "mine";
  const absl::Status refused = WriteFirstSite(folder_);
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.message(), folder_ + ": the folder is not empty, and nothing is overwritten");
  EXPECT_EQ(Names(), std::set<std::string>{"policy.yaml"});
  EXPECT_EQ(*ReadFile(folder_ + "/policy.yaml"), "mine");
  EXPECT_FALSE(WriteFirstSite(folder_ + "/policy.yaml").ok()) << "it is no folder";
  EXPECT_EQ(WriteFirstSite(folder_ + "/a/b").code(), absl::StatusCode::kNotFound) << "the folder above is missing";
  fs::remove(folder_ + "/policy.yaml");
  fs::permissions(folder_, fs::perms::group_write, fs::perm_options::add);
  EXPECT_EQ(WriteFirstSite(folder_).message(),
            folder_ + ": other users may write to the folder, which is for keys and sockets: chmod 700 it");
  fs::permissions(folder_, fs::perms::owner_all);
  EXPECT_EQ(WriteFirstSite(folder_), absl::OkStatus()) << "an empty folder is taken";
}

}  // namespace
}  // namespace sideband::client
