// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/private_key.h"

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
#include "daemon/config/fake_certificates.h"

namespace sideband::daemon {
namespace {

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
