// SPDX-License-Identifier: Apache-2.0
#include "client/lib/config.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace sideband::client {
namespace {

std::string ConfigFile(const std::string& text) {
  const std::string path = testing::TempDir() + "/client.yaml";
  std::ofstream(path) << text;
  return path;
}

GetEnv Environment(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(ClientConfigTest, ReadsAllKeysAndResolvesPaths) {
  const std::string path = ConfigFile(
      "address: h:1\nca_file: ca.pem\ncert_file: /abs/c.pem\nkey_file: k/k.pem\ntoken_file: t\nserver_name: s\n");
  const std::string folder = std::filesystem::path(path).parent_path();
  EXPECT_EQ(*LoadClientConfig(path),
            (ClientConfig{"h:1", folder + "/ca.pem", "/abs/c.pem", folder + "/k/k.pem", folder + "/t", "s"}));
}

TEST(ClientConfigTest, SeveralAddresses) {
  const auto addresses = [](const std::string& text) { return AddressesOf(*LoadClientConfig(ConfigFile(text))); };
  using Addresses = std::vector<std::string>;
  EXPECT_EQ(addresses("address: h:1\n"), Addresses{"h:1"});
  EXPECT_EQ(addresses("address: [h:1, 'unix:/x', h:1]\n"), (Addresses{"h:1", "unix:/x"})) << "each once";
  EXPECT_EQ(addresses("address: 'h:1, g:2,'\n"), (Addresses{"h:1", "g:2"}));
  EXPECT_EQ(addresses("ca_file: ca.pem\n"), Addresses());
  EXPECT_EQ(AddressesOf({.address = "h:1,g:2"}), (Addresses{"h:1", "g:2"})) << "of the flag";
  const std::string path = ConfigFile("ca_file: ca.pem\naddress: []\n");
  EXPECT_EQ(LoadClientConfig(path).status().message(), path + ":2: address: the list is empty");
}

TEST(ClientConfigTest, MistakesHaveTheirLine) {
  const std::string path = ConfigFile("address: h:1\nca-file: ca.pem\n");
  EXPECT_EQ(LoadClientConfig(path).status().message(), path + ":2: unknown key 'ca-file' (did you mean 'ca_file'?)");
  EXPECT_EQ(LoadClientConfig("/nonexistent.yaml").status().code(), absl::StatusCode::kNotFound);
}

TEST(ClientConfigTest, FlagThenVariableThenHome) {
  const std::string home = testing::TempDir() + "/home";
  const auto everything = Environment({{"SIDEBAND_CONFIG", "/variable.yaml"}, {"HOME", home}});
  EXPECT_EQ(FindClientConfig("/flag.yaml", everything), "/flag.yaml");
  EXPECT_EQ(FindClientConfig("", everything), "/variable.yaml") << "missing files included: they were asked for";
  EXPECT_EQ(FindClientConfig("", Environment({{"HOME", home}})), std::nullopt) << "the usual one need not exist";
  std::filesystem::create_directories(home + "/.config/sideband");
  std::ofstream(home + "/.config/sideband/client.yaml") << "address: h:1\n";
  EXPECT_EQ(FindClientConfig("", Environment({{"HOME", home}})), home + "/.config/sideband/client.yaml");
  EXPECT_EQ(FindClientConfig("", Environment({})), std::nullopt);
}

TEST(ClientConfigTest, FlagsReplaceWhatTheyGive) {
  const ClientConfig file{.address = "h:1", .ca_file = "a", .cert_file = "b", .key_file = "c"};
  const ClientConfig expected{.address = "h:2", .ca_file = "a", .cert_file = "b", .key_file = "c", .server_name = "s"};
  EXPECT_EQ(Override(file, {.address = "h:2", .server_name = "s"}), expected);
  EXPECT_EQ(Override({}, {}).address, kDefaultAddress);
  EXPECT_EQ(Override({}, {.address = "h:1, h:1,"}).address, "h:1") << "which is one daemon";
  EXPECT_EQ(Override({}, {.address = "h:1, g:2,h:1"}).address, "h:1,g:2");
  EXPECT_EQ(Override(file, {.address = ","}).address, ",") << "a mistake, which is not answered by another daemon";
}

}  // namespace
}  // namespace sideband::client
