// SPDX-License-Identifier: Apache-2.0
#include "client/lib/credentials.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "absl/strings/escaping.h"
#include "client/lib/fake_daemon.h"

namespace sideband::client {
namespace {

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

std::string TokenFile(const std::string& text) {
  const std::string path = testing::TempDir() + "/token";
  std::ofstream(path) << text;
  return path;
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
