// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/listener_config.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

#include "absl/base/config.h"
#include "absl/time/clock.h"
#include "daemon/config/fake_certificates.h"
#include "proto/base/file.h"

namespace sideband::daemon {
namespace {

TEST(ListenAddressTest, TakesLiteralsOfBothFamilies) {
  EXPECT_EQ(*ListenAddress::Parse("127.0.0.1:9877"), (ListenAddress{"127.0.0.1", 9877}));
  EXPECT_EQ(*ListenAddress::Parse("[::1]:0"), (ListenAddress{"::1", 0}));
  EXPECT_EQ(ListenAddress::Parse("0.0.0.0:65535")->port, 65535);
}

TEST(ListenAddressTest, WritesWhatItReads) {
  for (const char* text : {"127.0.0.1:9877", "[::1]:0"}) EXPECT_EQ(ListenAddress::Parse(text)->ToString(), text);
}

TEST(ListenAddressTest, RefusesEverythingElse) {
  for (const char* text : {"", "127.0.0.1", "127.0.0.1:", ":9877", "localhost:9877", "127.0.0.1:65536", "127.0.0.1:-1",
                           "127.0.0.1: 1", "::1:9877", "[::1:9877", "[127.0.0.1]:1", "[::1]9877"}) {
    EXPECT_EQ(ListenAddress::Parse(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_EQ(
      ListenAddress::Parse("localhost:1").status().message(),
      "'localhost:1' is not ADDRESS:PORT with an address in numbers, such as 127.0.0.1:9877, 0.0.0.0:9877 or [::1]:0");
}

TEST(LocalOperatorsTest, NamesAndNumbers) {
  EXPECT_EQ(*UserId("root"), 0u);
  EXPECT_EQ(*UserId("4000000000"), 4000000000u) << "nobody's number may become somebody's";
  EXPECT_EQ(*GroupId("root"), 0u);
  EXPECT_EQ(*GroupId("12"), 12u);
}

TEST(LocalOperatorsTest, NobodyIsRefused) {
  EXPECT_EQ(UserId("no such user").status().message(), "user 'no such user' is unknown");
  EXPECT_EQ(GroupId("no such group").status().message(), "group 'no such group' is unknown");
  // chown(2) interprets -1 as "do not change".
  for (const char* text : {"4294967295", "4294967296", "-1", "+1", "1 ", ""}) {
    EXPECT_FALSE(UserId(text).ok()) << text;
    EXPECT_FALSE(GroupId(text).ok()) << text;
  }
}

class TlsFilesTest : public testing::Test {
 protected:
  std::string Error() const {
    const auto files = TlsFiles::Load(tls_);
    EXPECT_EQ(files.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(files.status().message());
  }

  const std::string folder_ = testing::TempDir();
  const FakeCa ca_{"ca", folder_};
  TlsServerConfig tls_ = ca_.Server();
};

TEST_F(TlsFilesTest, TakesWhatBelongsTogether) {
  const auto files = TlsFiles::Load(tls_);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_NE((*files)->key(), nullptr);
}

TEST_F(TlsFilesTest, TellsTheEndOfValidity) {
  const auto files = TlsFiles::Load(tls_);
  const absl::Duration left = (*files)->not_after() - absl::Now();
  EXPECT_GT(left, absl::Hours(24 * 29));
  EXPECT_LT(left, absl::Hours(24 * 31));
}

TEST_F(TlsFilesTest, WithoutClientCertificatesNoAuthorityIsRead) {
  tls_.client_ca_file.clear();
  tls_.client_auth = ClientAuth::kNone;
  const auto files = TlsFiles::Load(tls_);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ((*files)->client_ca(), "");
}

// A file that is still being written: the intermediate certificate is truncated.
TEST_F(TlsFilesTest, HalfAFileIsRefused) {
  const std::string whole = *ReadFile(tls_.cert_file);
  tls_.cert_file = folder_ + "/chain.pem";
  std::ofstream(tls_.cert_file) << whole << whole;
  EXPECT_TRUE(TlsFiles::Load(tls_).ok());
  std::ofstream(tls_.cert_file) << whole << whole.substr(0, whole.size() / 2);
  EXPECT_EQ(Error(), tls_.cert_file + ": certificate 2 is not one in PEM form");
}

TEST_F(TlsFilesTest, MissingFileIsNamed) {
  tls_.client_ca_file = folder_ + "/absent.crt";
  EXPECT_EQ(Error(), folder_ + "/absent.crt: No such file or directory");
}

TEST_F(TlsFilesTest, AnotherKeyIsRefused) {
  tls_.key_file = ca_.Issue("other", "").key_file;
  EXPECT_EQ(Error(), tls_.key_file + ": not the key of the certificate in " + tls_.cert_file);
}

TEST_F(TlsFilesTest, EachFileIsChecked) {
  ErrorList errors;
  CheckTlsFiles(tls_, errors);
  EXPECT_TRUE(errors.empty()) << errors.First();
  const std::string text = folder_ + "/no.pem";
  std::ofstream(text) << "hello\n";
  tls_.cert_file = tls_.client_ca_file = text;
  CheckTlsFiles(tls_, errors);
  EXPECT_EQ(errors.count(), 1u) << "one file, one error";
  tls_.key_file = ca_.Issue("other", "").key_file;
  tls_.cert_file = ca_.Issue("third", "").cert_file;
  ErrorList more;
  CheckTlsFiles(tls_, more);
  EXPECT_EQ(more.count(), 2u) << "the client's CA, and a key of another certificate";
}

TEST_F(TlsFilesTest, FilesThatOthersMayChangeAreRefused) {
  chmod(tls_.cert_file.c_str(), 0666);
  EXPECT_EQ(Error(), tls_.cert_file + ": everybody may write it (chmod o-w it)");
  chmod(tls_.cert_file.c_str(), 0644);
  chmod(tls_.key_file.c_str(), 0644);
  EXPECT_EQ(Error(), tls_.key_file + ": a private key that other users may access: run chmod o= on it");
  chmod(tls_.key_file.c_str(), 0600);
}

TEST_F(TlsFilesTest, WhatIsNotPemIsRefused) {
  const std::string text = folder_ + "/text.pem";
  std::ofstream(text) << "hello\n";
  chmod(text.c_str(), 0600);
  TlsServerConfig good = tls_;
  tls_.cert_file = text;
  EXPECT_EQ(Error(), text + ": not a certificate in PEM form");
  tls_ = good;
  tls_.key_file = text;
  EXPECT_EQ(Error(), text + ": not an unencrypted private key in PEM form");
  tls_ = good;
  tls_.client_ca_file = text;
  EXPECT_EQ(Error(), text + ": not a certificate in PEM form");
}

class PrivateKeyTest : public testing::Test {
 protected:
  std::string Error(const std::string& path) const {
    const auto key = LoadPrivateKey(path);
    EXPECT_EQ(key.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(key.status().message());
  }

  const std::string folder_ = testing::TempDir();
  const FakeCa ca_{"ca", folder_};
};

TEST_F(PrivateKeyTest, EqualKeysAreOneObject) {
  const std::string file = ca_.Issue("a", "").key_file;
  const auto first = LoadPrivateKey(file);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(*LoadPrivateKey(file), *first);
  EXPECT_NE(*LoadPrivateKey(ca_.Issue("b", "").key_file), *first);
}

TEST_F(PrivateKeyTest, WhatIsNoRegularFileIsRefused) {
  const std::string fifo = folder_ + "/fifo";
  std::remove(fifo.c_str());
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_TRUE(Error(fifo).starts_with(fifo + ": "));
  EXPECT_TRUE(Error(folder_).starts_with(folder_ + ": "));
  EXPECT_EQ(Error(folder_ + "/absent"), folder_ + "/absent: No such file or directory");
}

TEST_F(PrivateKeyTest, WhatEverybodyMayReadIsRefused) {
  const std::string file = ca_.Issue("open", "").key_file;
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  EXPECT_TRUE(Error(file).starts_with(file + ": "));
}

TEST_F(PrivateKeyTest, WhatHoldsNoKeyIsRefused) {
  const std::string file = folder_ + "/none.key";
  std::ofstream(file) << "";
  ASSERT_EQ(chmod(file.c_str(), 0600), 0);
  EXPECT_EQ(Error(file), file + ": not an unencrypted private key in PEM form");
  std::ofstream(file) << "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
  EXPECT_EQ(Error(file),
            file + ": the private key has a passphrase: openssl pkey -in " + file + " -out NEW.key writes it without");
  std::ofstream(file) << std::string((64 << 10) + 1, 'x');
  EXPECT_EQ(Error(file), file + ": larger than 65536 bytes");
}

TEST_F(PrivateKeyTest, LiesInTheSecureHeap) {
  CRYPTO_secure_malloc_init(1 << 18, 32);
  const std::string file = ca_.Issue("s", "").key_file;
  const size_t before = CRYPTO_secure_used();
  auto key = LoadPrivateKey(file);
  ASSERT_TRUE(key.ok()) << key.status();
  EXPECT_GE(CRYPTO_secure_used() - before, 32u);
  EXPECT_LT(CRYPTO_secure_used() - before, 200u) << "the file's text has gone";
  key = PrivateKey();
  EXPECT_EQ(CRYPTO_secure_used(), before);
}

// The test holds secrets only combined with this value by exclusive or, so that its own copies are not found.
constexpr char kMask = 0x5a;

void Mask(char* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) bytes[i] ^= kMask;
}

// Counts the occurrences of the secret behind `masked` between two addresses, read in overlapping pieces.
size_t CountBetween(int memory, off_t begin, off_t end, const std::string& masked) {
  static char piece[64 << 10];
  size_t count = 0;
  for (off_t at = begin; at < end; at += sizeof(piece) - masked.size() + 1) {
    const ssize_t size = pread(memory, piece, std::min<size_t>(sizeof(piece), end - at), at);
    if (size <= 0) break;
    Mask(piece, size);
    const char* from = piece;
    while ((from = std::search(from, static_cast<const char*>(piece) + size, masked.begin(), masked.end())) !=
           piece + size) {
      ++count;
      ++from;
    }
  }
  return count;
}

// Counts the occurrences in all writable memory of this process.
size_t CountInMemory(const std::string& masked) {
  std::ifstream maps("/proc/self/maps");
  const int memory = open("/proc/self/mem", O_RDONLY);
  size_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    off_t begin = 0, end = 0;
    char mode[5] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, mode) != 3 || mode[0] != 'r' || mode[1] != 'w') continue;
    count += CountBetween(memory, begin, end, masked);
  }
  close(memory);
  return count;
}

// The scalar of an elliptic-curve key, little-endian as in OpenSSL's numbers and big-endian as in the file.
struct MaskedScalar {
  std::string little, big;
};

MaskedScalar ScalarOf(EVP_PKEY* key) {
  BIGNUM* scalar = nullptr;
  EXPECT_EQ(EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &scalar), 1);
  std::string big(32, '\0');
  BN_bn2binpad(scalar, reinterpret_cast<unsigned char*>(big.data()), 32);
  BN_clear_free(scalar);
  Mask(big.data(), big.size());
  return {.little = {big.rbegin(), big.rend()}, .big = big};
}

// Compared with the count before loading: the CA that generated the key leaves copies in memory.
TEST_F(PrivateKeyTest, LiesInMemoryOnce) {
#if defined(ABSL_HAVE_ADDRESS_SANITIZER)
  GTEST_SKIP() << "the sanitizer maps terabytes of its own";
#endif
  const std::string file = ca_.Issue("c", "").key_file;
  auto first = LoadPrivateKey(file);
  auto second = LoadPrivateKey(file);
  ASSERT_TRUE(first.ok() && second.ok());
  const MaskedScalar scalar = ScalarOf(first->get());
  const size_t little = CountInMemory(scalar.little), big = CountInMemory(scalar.big);
  first = PrivateKey();
  second = PrivateKey();
  EXPECT_EQ(little - CountInMemory(scalar.little), 1u);
  EXPECT_EQ(big - CountInMemory(scalar.big), 0u);
}

}  // namespace
}  // namespace sideband::daemon
