// SPDX-License-Identifier: Apache-2.0
#include "client/lib/credential_stamps.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace sideband::client {
namespace {

void Write(const std::string& path, const std::string& text) {
  std::ofstream(path + ".new") << text;
  ASSERT_EQ(std::rename((path + ".new").c_str(), path.c_str()), 0);
}

TEST(CredentialStampsTest, EachOfTheFilesCounts) {
  const std::string folder = testing::TempDir();
  const ClientConfig config{.ca_file = folder + "/ca.pem",
                            .cert_file = folder + "/own.pem",
                            .key_file = folder + "/own.key",
                            .token_file = folder + "/token"};
  for (const std::string& path : {config.ca_file, config.cert_file, config.key_file, config.token_file}) {
    const FileStamps before = CredentialStamps(config);
    EXPECT_EQ(CredentialStamps(config), before);
    Write(path, "first");
    const FileStamps first = CredentialStamps(config);
    EXPECT_NE(first, before) << path;
    Write(path, "again");
    EXPECT_NE(CredentialStamps(config), first) << "replaced by one of equal size: " << path;
  }
}

TEST(CredentialStampsTest, AbsentFilesAreEqual) {
  EXPECT_EQ(CredentialStamps({}), CredentialStamps({.token_file = "/nonexistent/token"}));
}

}  // namespace
}  // namespace sideband::client
