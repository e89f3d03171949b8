// SPDX-License-Identifier: Apache-2.0
#include "client/lib/channel.h"

#include <grpcpp/channel.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/lib/fake_daemon.h"
#include "client/lib/rpc_status.h"
#include "client/lib/telemetry_client.h"

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

std::string TokenFile(const std::string& text) {
  const std::string path = testing::TempDir() + "/token";
  std::ofstream(path) << text;
  return path;
}

class ChannelTest : public testing::Test {
 protected:
  ClientConfig Config() const {
    return {.address = daemon_.address(),
            .ca_file = files_.ca_file,
            .cert_file = files_.client_cert_file,
            .key_file = files_.client_key_file};
  }

  absl::Status Call(const ClientConfig& config) {
    const auto channel = Connect(config);
    if (!channel.ok()) return channel.status();
    return TelemetryClient(*channel, {.peer = config.address}, cancellation_).ListDevices({}).status();
  }

  const TestCertificates files_ = TestCertificates::WriteTo(testing::TempDir());
  const FakeDaemon daemon_{{}, files_.MutualTls()};
  Cancellation cancellation_;
};

TEST_F(ChannelTest, ConnectsWithMutualTls) { EXPECT_EQ(Call(Config()), absl::OkStatus()); }

TEST_F(ChannelTest, ServerNameIsChecked) {
  ClientConfig config = Config();
  config.server_name = "localhost";
  EXPECT_EQ(Call(config), absl::OkStatus());
  config.server_name = "elsewhere";
  EXPECT_EQ(Call(config).code(), absl::StatusCode::kUnavailable);
}

TEST_F(ChannelTest, LocalhostIsTheLoopbackWithoutAResolver) {
  EXPECT_EQ(DialTarget("localhost:9878"), "ipv6:[::1]:9878,[::ffff:127.0.0.1]:9878");
  EXPECT_EQ(DialTarget("LocalHost:1"), "ipv6:[::1]:1,[::ffff:127.0.0.1]:1");
  for (const char* other : {"localhost.example:1", "mylocalhost:1", "127.0.0.1:1", "[::1]:1", "localhost", ""}) {
    EXPECT_EQ(DialTarget(other), other);
  }
}

TEST_F(ChannelTest, LocalhostMustBeInTheServersCertificate) {
  ClientConfig config = Config();
  config.address = absl::StrCat("localhost:", daemon_.address().substr(daemon_.address().rfind(':') + 1));
  EXPECT_EQ(Call(config), absl::OkStatus());
  config.server_name = "elsewhere";
  EXPECT_EQ(Call(config).code(), absl::StatusCode::kUnavailable);
  const TestCertificates by_address = TestCertificates::WriteTo(testing::TempDir(), "IP:127.0.0.1");
  const FakeDaemon nameless({}, by_address.MutualTls());
  config = Config();
  config.address = nameless.address();
  EXPECT_EQ(Call(config), absl::OkStatus());
  config.address = absl::StrCat("localhost:", nameless.address().substr(nameless.address().rfind(':') + 1));
  EXPECT_EQ(Call(config).code(), absl::StatusCode::kUnavailable) << "the certificate is for the address alone";
}

TEST_F(ChannelTest, ServerOfAnotherAuthorityIsRefused) {
  ClientConfig config = Config();
  config.ca_file = TestCertificates::WriteTo(testing::TempDir()).ca_file;  // overwrites the files that the config names
  config.cert_file = testing::TempDir() + "/client.pem";
  const absl::Status refused = Call(config);
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(IsRemote(refused));
}

TEST_F(ChannelTest, NobodyThereIsUnavailableAndNamed) {
  ClientConfig config = Config();
  config.address = "127.0.0.1:1";
  const absl::Status status = Call(config);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message().substr(0, 13), "127.0.0.1:1: ");
}

TEST_F(ChannelTest, WhatIsMissingIsNamed) {
  ClientConfig config = Config();
  config.key_file.clear();
  EXPECT_EQ(Call(config).message(), "no key_file is given: the configuration must name it");
  config = Config();
  config.ca_file = "/nonexistent.pem";
  EXPECT_EQ(Call(config).code(), absl::StatusCode::kNotFound);
}

TEST_F(ChannelTest, ATokenIsSentBesideTheCertificate) {
  ClientConfig config = Config();
  EXPECT_EQ(Call(config), absl::OkStatus());
  EXPECT_EQ(daemon_.requests().authorization, "");
  config.token_file = TokenFile("a.b.c\n");
  EXPECT_EQ(Call(config), absl::OkStatus());
  EXPECT_EQ(daemon_.requests().authorization, "Bearer a.b.c");
}

TEST_F(ChannelTest, ATokenMayTakeTheCertificatesPlace) {
  const FakeDaemon daemon({}, files_.ServerOnlyTls());
  ClientConfig config = {.address = daemon.address(), .ca_file = files_.ca_file, .token_file = TokenFile("a.b.c")};
  EXPECT_EQ(Call(config), absl::OkStatus());
  EXPECT_EQ(daemon.requests().authorization, "Bearer a.b.c");
  config.key_file = files_.client_key_file;
  EXPECT_EQ(Call(config).message(), "no cert_file is given: the configuration must name it");
  config = {.address = daemon.address(), .ca_file = files_.ca_file, .token_file = TokenFile("a b")};
  EXPECT_EQ(Call(config).message(), config.token_file + ": more than one token, or none");
}

TEST_F(ChannelTest, AddressMustBeHostAndPort) {
  for (const char* address :
       {"", "host", "host:", ":1", "host:0", "host:65536", "host:1x", "::1:1", "unix:", "[::1]"}) {
    ClientConfig config = Config();
    config.address = address;
    EXPECT_EQ(Call(config).code(), absl::StatusCode::kInvalidArgument) << address;
  }
  for (const char* address : {"host:1", "127.0.0.1:65535", "[::1]:9878"}) {
    ClientConfig config = Config();
    config.address = address;
    EXPECT_TRUE(Connect(config).ok()) << address;
  }
}

TEST_F(ChannelTest, AUnixSocketNeedsNoCertificates) {
  const absl::Status nobody = Call({.address = "unix:absent.sock"});
  EXPECT_EQ(nobody.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(absl::StartsWith(nobody.message(), "unix:")) << nobody;
}

class PemTest : public testing::Test {
 protected:
  const TestCertificates files_ = TestCertificates::WriteTo(testing::TempDir());
};

TEST_F(PemTest, AcceptsAMatchingSet) {
  const auto material = LoadTlsMaterial(files_.ca_file, files_.client_cert_file, files_.client_key_file);
  ASSERT_TRUE(material.ok()) << material.status();
  EXPECT_EQ(material->key.substr(0, 10), "-----BEGIN");
}

TEST_F(PemTest, NamesTheFileAtFault) {
  const std::string junk = testing::TempDir() + "/junk.pem";
  std::ofstream(junk) << "not PEM\n";
  const auto& [ca, unused_cert, unused_key, cert, key] = files_;
  EXPECT_EQ(LoadTlsMaterial(junk, cert, key).status().message(), junk + ": no PEM certificate in it");
  EXPECT_EQ(LoadTlsMaterial(ca, junk, key).status().message(), junk + ": no PEM certificate in it");
  EXPECT_EQ(LoadTlsMaterial(ca, cert, junk).status().message(), junk + ": no PEM private key in it");
  EXPECT_EQ(LoadTlsMaterial(ca, key, cert).status().message(),
            key + ": a private key, not a certificate: are cert_file and key_file swapped?");
  for (const char* head :
       {"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n", "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"}) {
    std::ofstream(junk) << head;
    EXPECT_EQ(
        LoadTlsMaterial(ca, cert, junk).status().message(),
        junk + ": the private key has a passphrase: openssl pkey -in " + junk + " -out NEW.key writes it without");
  }
  EXPECT_EQ(LoadTlsMaterial(ca, cert, files_.server_key_file).status().message(),
            files_.server_key_file + ": not the private key of " + cert);
}

TEST_F(PemTest, MissingFileIsNotFound) {
  const auto material = LoadTlsMaterial("/nonexistent.pem", files_.client_cert_file, files_.client_key_file);
  EXPECT_EQ(material.status().code(), absl::StatusCode::kNotFound);
}

TEST(TokenTest, IsTheFilesOneWord) {
  EXPECT_EQ(*LoadToken(TokenFile("a.b.c")), "a.b.c");
  EXPECT_EQ(*LoadToken(TokenFile("\n a.b.c \r\n")), "a.b.c");
  EXPECT_EQ(LoadToken(TokenFile(std::string(kTokenBytesMax, 'a') + "\n"))->size(), kTokenBytesMax);
}

TEST(TokenTest, AByteOrderMarkIsNoPartOfIt) {
  EXPECT_EQ(*LoadToken(TokenFile("\xEF\xBB\xBF"
                                 "a.b.c\r\n")),
            "a.b.c");
  for (const char* mark : {"\xFF\xFE", "\xFE\xFF"}) {
    const std::string path = TokenFile(std::string(mark) + std::string("a\0.\0", 4));
    EXPECT_EQ(LoadToken(path).status().message(), path + ": a text in UTF-16: save it as plain text (UTF-8)");
  }
}

TEST(TokenTest, AnythingElseNamesTheFile) {
  const std::string path = TokenFile("");
  EXPECT_EQ(LoadToken(path).status().message(), path + ": no token in it");
  EXPECT_EQ(LoadToken(TokenFile(" \n")).status().message(), path + ": no token in it");
  for (const char* text : {"a b", "a\nb", "a\x01", "\xc3\xa9"}) {
    EXPECT_EQ(LoadToken(TokenFile(text)).status().message(), path + ": more than one token, or none") << text;
  }
  EXPECT_EQ(LoadToken(TokenFile(std::string(kTokenBytesMax + 1, 'a'))).status().message(),
            path + ": longer than 8192 bytes");
  EXPECT_FALSE(LoadToken(TokenFile(std::string(1 << 20, 'a'))).ok());
  EXPECT_EQ(LoadToken("/nonexistent").status().code(), absl::StatusCode::kNotFound);
}

TEST(TokenExpiryTest, OnlyOfAJwtThatSaysSo) {
  const auto jwt = [](const std::string& claims) { return "eyJ9." + absl::WebSafeBase64Escape(claims) + ".c2ln"; };
  EXPECT_EQ(TokenExpiry(jwt(R"({"exp": 1700000000})")), absl::FromUnixSeconds(1'700'000'000));
  EXPECT_EQ(TokenExpiry(jwt(R"({"exp": 1e300})")), absl::InfiniteFuture());
  for (const std::string& token : {jwt(R"({"exp": "soon"})"), jwt("{}"), jwt("[1]"), jwt("{"), jwt("\xff"),
                                   std::string("opaque"), std::string("a.!.b"), std::string("..")}) {
    EXPECT_EQ(TokenExpiry(token), std::nullopt) << token;
  }
}

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
