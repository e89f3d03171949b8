// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/keys.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <set>
#include <string>

#include "absl/strings/escaping.h"
#include "proto/envelope/secret_access.h"

namespace sideband::envelope {
namespace {

Bytes StaticKey() {
  Bytes bytes;
  for (uint8_t i = 0; i < kStaticKeyBytes; ++i) bytes.push_back(0xA0 + i);
  return bytes;
}

constexpr char kHex[] = "a0a1a2a3a4a5a6a7a8a9aaabacadaeafB0B1B2B3B4B5B6B7B8B9BABBBCBDBEBF";

std::string KeyFile(const std::string& contents, mode_t mode = 0600) {
  const std::string path = testing::TempDir() + "/static.key";
  ::unlink(path.c_str());
  std::ofstream(path, std::ios::binary) << contents;
  ::chmod(path.c_str(), mode);
  return path;
}

TEST(LoadStaticKeyTest, ReadsEveryForm) {
  const Bytes raw = StaticKey();
  const Secret expected = Secret::CopyOf(raw);
  EXPECT_EQ(*LoadStaticKey(KeyFile(std::string(raw.begin(), raw.end()))), expected);
  EXPECT_EQ(*LoadStaticKey(KeyFile(kHex)), expected);
  EXPECT_EQ(*LoadStaticKey(KeyFile(std::string(kHex) + "\n")), expected);
  EXPECT_EQ(*LoadStaticKey(KeyFile(kHex, 0440)), expected) << "its group may read it";
}

TEST(LoadStaticKeyTest, AnythingElseIsNoKey) {
  const std::string hex = kHex;
  for (const std::string& contents :
       {std::string(), hex.substr(1), hex + "0", hex + "\n\n", hex + " ", "g" + hex.substr(1), std::string(31, 'x'),
        std::string(33, 'x'), std::string(1000, '0')}) {
    const std::string path = KeyFile(contents);
    const auto key = LoadStaticKey(path);
    EXPECT_EQ(key.status().code(), absl::StatusCode::kInvalidArgument) << contents.size();
    EXPECT_EQ(key.status().message(), path + ": not a key (64 hexadecimal digits, or 32 raw bytes)");
  }
}

TEST(LoadStaticKeyTest, AKeyForEverybodyIsRefused) {
  for (const mode_t mode : {0604, 0602, 0644}) {
    const std::string path = KeyFile(kHex, mode);
    const auto key = LoadStaticKey(path);
    EXPECT_EQ(key.status().code(), absl::StatusCode::kPermissionDenied) << mode;
    EXPECT_EQ(key.status().message(), path + ": a private key that other users may access: run chmod o= on it");
  }
}

TEST(LoadStaticKeyTest, MissingFileAndDirectoryAreNamed) {
  EXPECT_EQ(LoadStaticKey("/nonexistent.key").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(LoadStaticKey(testing::TempDir()).status().code(), absl::StatusCode::kInvalidArgument);
}

SessionKeys Derived(const KeyScope& scope) { return *SessionKeys::Derive(Secret::Take(StaticKey()), scope); }

TEST(SessionKeysTest, EveryPartOfTheScopeMakesAnotherKey) {
  const KeyScope base{.epoch = 1, .boot_id = 2, .device = {{3}}, .vm = {{4}}, .generation = 5};
  KeyScope other[5] = {base, base, base, base, base};
  other[0].epoch = 9;
  other[1].boot_id = 9;
  other[2].device.bytes[15] = 9;
  other[3].vm.bytes[15] = 9;
  other[4].generation = 9;
  std::set<AeadNonce> nonces = {Derived(base).NonceFor(0)};
  for (const KeyScope& scope : other) {
    EXPECT_FALSE(Derived(scope).key() == Derived(base).key());
    nonces.insert(Derived(scope).NonceFor(0));
  }
  EXPECT_EQ(nonces.size(), 6u);
  EXPECT_EQ(Derived(base).key(), Derived(base).key());
}

TEST(SessionKeysTest, NonceIsTheBaseXorTheSequenceFromTheEnd) {
  const SessionKeys keys = Derived({});
  const AeadNonce base = keys.NonceFor(0);
  const AeadNonce nonce = keys.NonceFor(0x0102030405060708);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(nonce[i], base[i]);
  for (uint8_t i = 0; i < 8; ++i) EXPECT_EQ(nonce[4 + i] ^ base[4 + i], i + 1);
}

TEST(SessionKeysTest, StaticKeyOfAnotherSizeIsRefused) {
  EXPECT_FALSE(SessionKeys::Derive(Secret(31), {}).ok());
  EXPECT_FALSE(SessionKeys::Derive(Secret(), {}).ok());
}

Secret Root() { return Secret::CopyOf(Bytes(32, 0x0B)); }

std::string Hex(const Secret& secret) {
  const ByteSpan bytes = secret.Read(SecretAccess::Get());
  return absl::BytesToHexString({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

TEST(RatchetTest, StepsOrOneLeapLeadToTheSameSecret) {
  Ratchet by_steps(Root()), by_leap(Root());
  for (uint64_t epoch = 1; epoch <= 5; ++epoch) ASSERT_TRUE(by_steps.AdvanceTo(epoch).ok());
  ASSERT_TRUE(by_leap.AdvanceTo(5).ok());
  EXPECT_TRUE(by_steps.secret() == by_leap.secret());
  EXPECT_EQ(by_leap.epoch(), 5);
}

// By Python's hmac: HMAC-SHA256(0b…0b, "sideband/2 ratchet" || 01).
TEST(RatchetTest, AStepIsOneBlockOfHkdfExpand) {
  Ratchet ratchet(Root());
  ASSERT_TRUE(ratchet.AdvanceTo(1).ok());
  EXPECT_EQ(Hex(ratchet.secret()), "d8f24f04808ff215fbbafc8b59f0956dc9997549a3f94f6db3c084ed8f8bfaff");
}

TEST(RatchetTest, EveryEpochHasAnotherSecretAndNoneGoesBack) {
  Ratchet ratchet(Root());
  const Ratchet first = ratchet.Clone();
  ASSERT_TRUE(ratchet.AdvanceTo(1).ok());
  EXPECT_FALSE(ratchet.secret() == first.secret());
  EXPECT_TRUE(absl::IsOutOfRange(ratchet.AdvanceTo(0)));
  EXPECT_TRUE(absl::IsOutOfRange(ratchet.AdvanceTo(kExchangeEpochsMax)));
  EXPECT_EQ(ratchet.epoch(), 1);
}

TEST(RatchetTest, TheLastEpochIsReached) {
  Ratchet ratchet(Root());
  EXPECT_TRUE(ratchet.AdvanceTo(kExchangeEpochsMax - 1).ok());
}

}  // namespace

}  // namespace sideband::envelope
