// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/keys.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "proto/base/bytes.h"
#include "proto/envelope/open.h"
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

Bytes CountingUp(uint8_t from, size_t size) {
  Bytes bytes;
  for (size_t i = 0; i < size; ++i) bytes.push_back(static_cast<uint8_t>(from + i));
  return bytes;
}

std::string Hex(ByteSpan bytes) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// The header of README.md's example.
RecordHeader Header(uint64_t sequence = 1) {
  return {.device = *Uuid::Parse("11111111-2222-4333-8444-555555555555"),
          .boot_id = 0x0b,
          .vm = *Uuid::Parse("6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10"),
          .generation = 3,
          .epoch = 0x018bcfe568000001,
          .sequence = sequence,
          .reference_time_ns = 1000000000};
}

SessionKeys KeysFor(const RecordHeader& header, uint8_t key = 0) {
  return *SessionKeys::Derive(Secret::Take(CountingUp(key, kStaticKeyBytes)), KeyScope::Of(header));
}

Bytes Sealed(const RecordHeader& header, const std::string& content = "hello") {
  return *SealRecord(KeysFor(header), header, AsBytes(content));
}

absl::StatusOr<SecretBytes> Opened(const SessionKeys& keys, ByteSpan record) {
  const auto view = ParseRecord(record);
  return view.ok() ? OpenRecord(keys, *view) : view.status();
}

TEST(SealTest, OpensWhatWasSealed) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{kPaddingUnit - kContentLengthBytes}}) {
    const std::string content(size, 'x');
    EXPECT_EQ(*Opened(KeysFor(Header()), Sealed(Header(), content)), SecretBytes(size, 'x'));
  }
}

// The bytes of README.md, which were also computed independently: the derivation by Python's hmac, the encryption by
// Python's cryptography package.
TEST(SealTest, BytesAreThoseOfTheDocument) {
  const Bytes record = Sealed(Header());
  const ByteSpan all(record);
  EXPECT_EQ(Hex(all.first(kHeaderBytes)),
            "534253520101ffff"
            "11111111222243338444555555555555"
            "0b00000000000000"
            "6f1c0a523d0e4a539a510d4c2a7e9b10"
            "0300000000100000"
            "01000068e5cf8b01"
            "0100000000000000"
            "00ca9a3b00000000");
  EXPECT_EQ(Hex(KeysFor(Header()).NonceFor(1)), "cf63feda534bda6e00c760b0");
  EXPECT_EQ(Hex(all.subspan(kHeaderBytes, 16)), "fd0e28b119fc72e0633f209be5610d20");
  EXPECT_EQ(Hex(all.last(kTagBytes)), "5de57adc61a9435f48d03864e1aed185");
}

RecordHeader WithNonce(RecordHeader header) {
  header.guest_nonce.emplace();
  for (uint8_t i = 0; i < kGuestNonceBytes; ++i) (*header.guest_nonce)[i] = 0xa0 + i;
  return header;
}

// The same record with a guest nonce.
TEST(SealTest, BytesOfVersion2AreThoseOfTheDocument) {
  const RecordHeader header = WithNonce(Header());
  const Bytes record = Sealed(header);
  const ByteSpan all(record);
  EXPECT_EQ(record.size(), kHeaderBytesMax + kPaddingUnit + kTagBytes);
  EXPECT_EQ(Hex(all.subspan(4, 4)), "0201ffff");
  EXPECT_EQ(Hex(all.subspan(kHeaderBytes, kGuestNonceBytes)),
            "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"
            "b0b1b2b3b4b5b6b7b8b9babbbcbdbebf");
  EXPECT_EQ(Hex(KeysFor(header).NonceFor(1)), "5aa41a73d00348652086456f");
  EXPECT_EQ(Hex(all.subspan(kHeaderBytesMax, 16)), "2d32706e053caa55738e1312514c5df6");
  EXPECT_EQ(Hex(all.last(kTagBytes)), "a6b88da959fb1e173af51b5e65ac9dc9");
}

// The header is changed to have no nonce, or another nonce.
TEST(SealTest, ARecordIsOfItsVersionAndNonceAlone) {
  RecordHeader other = WithNonce(Header()), none = WithNonce(Header());
  (*other.guest_nonce)[31] ^= 1;
  none.guest_nonce = GuestNonce{};
  const std::vector<RecordHeader> headers = {Header(), WithNonce(Header()), other, none};
  for (const RecordHeader& sealed : headers) {
    const Bytes record = Sealed(sealed);
    for (const RecordHeader& claimed : headers) {
      Bytes spliced = EncodeHeader(claimed);
      spliced.insert(spliced.end(), record.begin() + static_cast<ptrdiff_t>(sealed.bytes()), record.end());
      EXPECT_EQ(Opened(KeysFor(claimed), spliced).ok(), sealed == claimed);
      EXPECT_EQ(Opened(KeysFor(sealed), spliced).ok(), sealed == claimed);
    }
  }
}

TEST(SealTest, EveryFlippedBitIsDetected) {
  for (const RecordHeader& header : {Header(), WithNonce(Header())}) {
    const SessionKeys keys = KeysFor(header);
    Bytes record = Sealed(header);
    for (size_t bit = 0; bit < record.size() * 8; ++bit) {
      record[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
      ASSERT_FALSE(Opened(keys, record).ok()) << bit;
      record[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    }
    EXPECT_TRUE(Opened(keys, record).ok());
  }
}

TEST(SealTest, EveryCutIsDetected) {
  for (const RecordHeader& header : {Header(), WithNonce(Header())}) {
    const SessionKeys keys = KeysFor(header);
    const Bytes record = Sealed(header);
    for (size_t size = 0; size < record.size(); ++size) ASSERT_FALSE(Opened(keys, ByteSpan(record).first(size)).ok());
  }
}

// The opener derives its keys from the forged header.
TEST(SealTest, AHeaderOnAnotherBodyIsDetected) {
  const Bytes body = Sealed(Header(1));
  RecordHeader other[] = {Header(2), Header(1), Header(1), Header(1), Header(1)};
  other[1].epoch += 1;
  other[2].reference_time_ns += 1;
  other[3].scope = 7;
  other[4].vm.bytes[0] ^= 1;
  for (const RecordHeader& header : other) {
    Bytes spliced = body;
    std::ranges::copy(EncodeHeader(header), spliced.begin());
    EXPECT_FALSE(Opened(KeysFor(header), spliced).ok());
  }
}

TEST(SealTest, WrongKeyOpensNothing) { EXPECT_FALSE(Opened(KeysFor(Header(), 1), Sealed(Header())).ok()); }

TEST(SealTest, KeysOfAnotherScopeAreRefused) {
  RecordHeader later = Header();
  later.epoch += 1;
  EXPECT_FALSE(SealRecord(KeysFor(Header()), later, {}).ok());
  EXPECT_FALSE(Opened(KeysFor(later), Sealed(Header())).ok());
}

// The sealer holds the key but violates the format: the tag matches.
TEST(SealTest, PaddingThatIsNotZeroIsRefused) {
  const SessionKeys keys = KeysFor(Header());
  Bytes record(kHeaderBytes + kPaddingUnit + kTagBytes);
  std::ranges::copy(EncodeHeader(Header()), record.begin());
  record[kHeaderBytes + kPaddingUnit - 1] = 1;
  const std::span<uint8_t> all(record);
  ASSERT_TRUE(AeadSeal(keys.key(), keys.NonceFor(1), all.first(kHeaderBytes), all.subspan(kHeaderBytes, kPaddingUnit),
                       all.last<kAeadTagBytes>())
                  .ok());
  EXPECT_FALSE(Opened(keys, record).ok());
}

TEST(SealTest, PaddedLengthMustHoldTheContent) {
  const SessionKeys keys = KeysFor(Header());
  const std::string content(kPaddingUnit - kContentLengthBytes + 1, 'x');
  EXPECT_EQ(SealRecord(keys, Header(), AsBytes(content)).status().code(), absl::StatusCode::kInvalidArgument);
  RecordHeader header = Header();
  header.padded_length = kPaddingUnit + 1;
  EXPECT_FALSE(SealRecord(keys, header, {}).ok()) << "not a multiple of the unit";
  header.padded_length = 2 * kPaddingUnit;
  EXPECT_EQ(SealRecord(keys, header, AsBytes(content))->size(), kHeaderBytes + 2 * kPaddingUnit + kTagBytes);
}

}  // namespace
}  // namespace sideband::envelope
