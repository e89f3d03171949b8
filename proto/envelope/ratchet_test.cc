// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/ratchet.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/escaping.h"
#include "proto/envelope/secret_access.h"

namespace sideband::envelope {
namespace {

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
