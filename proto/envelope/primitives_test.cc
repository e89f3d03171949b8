// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/primitives.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "proto/base/bytes.h"

namespace sideband::envelope {
namespace {

Bytes BytesFromTo(int from, int to) {
  Bytes bytes;
  for (int i = from; i <= to; ++i) bytes.push_back(static_cast<uint8_t>(i));
  return bytes;
}

// RFC 5869, Appendix A: the three cases with SHA-256.
TEST(HkdfTest, BasicCase) {
  EXPECT_EQ(
      *HkdfSha256(Secret::Take(Bytes(22, 0x0b)), BytesFromTo(0x00, 0x0c), BytesFromTo(0xf0, 0xf9), 42),
      Secret::Take(*ParseHex("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")));
}

TEST(HkdfTest, LongInputs) {
  EXPECT_EQ(
      *HkdfSha256(Secret::Take(BytesFromTo(0x00, 0x4f)), BytesFromTo(0x60, 0xaf), BytesFromTo(0xb0, 0xff), 82),
      Secret::Take(*ParseHex("b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41"
                             "c65e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87")));
}

TEST(HkdfTest, NoSaltAndNoInfo) {
  EXPECT_EQ(
      *HkdfSha256(Secret::Take(Bytes(22, 0x0b)), {}, {}, 42),
      Secret::Take(*ParseHex("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")));
}

TEST(HkdfTest, MoreThanTheRfcAllowsIsRefused) {
  EXPECT_TRUE(HkdfSha256(Secret(32), {}, {}, 255 * 32).ok());
  EXPECT_FALSE(HkdfSha256(Secret(32), {}, {}, 255 * 32 + 1).ok());
}

AeadNonce Nonce(const std::string& digits) {
  AeadNonce nonce;
  std::ranges::copy(*ParseHex(digits), nonce.begin());
  return nonce;
}

// The 256-bit cases with 96-bit nonces of McGrew and Viega, "The Galois/Counter Mode of Operation (GCM)", the
// submission to NIST: test cases 13 to 16.
struct Vector {
  const char* name;
  const char* key;
  const char* nonce;
  const char* plaintext;
  const char* aad;
  const char* ciphertext;
  const char* tag;
};

constexpr char kZeroKey[] = "0000000000000000000000000000000000000000000000000000000000000000";
constexpr char kGcmKey[] = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308";
constexpr char kGcmPlaintext[] =
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255";
constexpr char kPlaintextShort[] =
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";
constexpr char kCiphertext[] =
    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
    "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad";
constexpr char kCiphertextShort[] =
    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
    "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662";

const Vector kVectors[] = {
    {"13", kZeroKey, "000000000000000000000000", "", "", "", "530f8afbc74536b9a963b4f1c4cb738b"},
    {"14", kZeroKey, "000000000000000000000000", "00000000000000000000000000000000", "",
     "cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919"},
    {"15", kGcmKey, "cafebabefacedbaddecaf888", kGcmPlaintext, "", kCiphertext, "b094dac5d93471bdec1a502270e3cc6c"},
    {"16", kGcmKey, "cafebabefacedbaddecaf888", kPlaintextShort, "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     kCiphertextShort, "76fc6ece0f4e1768cddf8853bb2d551b"},
};

TEST(AeadTest, SealsAsPublished) {
  for (const Vector& vector : kVectors) {
    Bytes text = *ParseHex(vector.plaintext);
    std::array<uint8_t, kAeadTagBytes> tag;
    ASSERT_TRUE(
        AeadSeal(Secret::Take(*ParseHex(vector.key)), Nonce(vector.nonce), *ParseHex(vector.aad), text, tag).ok());
    EXPECT_EQ(text, *ParseHex(vector.ciphertext)) << vector.name;
    EXPECT_EQ(Bytes(tag.begin(), tag.end()), *ParseHex(vector.tag)) << vector.name;
    // The same text from elsewhere: in two parts, and the rest in place.
    const Bytes plain = *ParseHex(vector.plaintext);
    const ByteSpan first = ByteSpan(plain).first(plain.size() / 3),
                   second = ByteSpan(plain).subspan(first.size(), plain.size() / 3);
    Bytes out = plain;
    std::fill_n(out.begin(), first.size() + second.size(), uint8_t{0});
    ASSERT_TRUE(AeadSeal(Secret::Take(*ParseHex(vector.key)), Nonce(vector.nonce), *ParseHex(vector.aad),
                         std::array<ByteSpan, 2>{first, second}, out, tag)
                    .ok());
    EXPECT_EQ(out, *ParseHex(vector.ciphertext)) << vector.name;
    EXPECT_EQ(Bytes(tag.begin(), tag.end()), *ParseHex(vector.tag)) << vector.name;
  }
}

TEST(AeadTest, ASealerSealsManyTextsAsPublished) {
  for (const Vector& vector : kVectors) {
    auto sealer = AeadSealer::Create(Secret::Take(*ParseHex(vector.key)));
    ASSERT_TRUE(sealer.ok());
    for (int i = 0; i < 3; ++i) {
      Bytes other(i, 1);
      std::array<uint8_t, kAeadTagBytes> tag;
      ASSERT_TRUE(sealer->Seal(AeadNonce{}, *ParseHex("01"), other, tag).ok());
      Bytes text = *ParseHex(vector.plaintext);
      ASSERT_TRUE(sealer->Seal(Nonce(vector.nonce), *ParseHex(vector.aad), text, tag).ok());
      EXPECT_EQ(text, *ParseHex(vector.ciphertext)) << vector.name;
      EXPECT_EQ(Bytes(tag.begin(), tag.end()), *ParseHex(vector.tag)) << vector.name;
    }
  }
}

TEST(AeadTest, OpensAsPublished) {
  for (const Vector& vector : kVectors) {
    Bytes text = *ParseHex(vector.ciphertext);
    const Bytes tag = *ParseHex(vector.tag);
    ASSERT_TRUE(AeadOpen(Secret::Take(*ParseHex(vector.key)), Nonce(vector.nonce), *ParseHex(vector.aad), text,
                         std::span<const uint8_t, kAeadTagBytes>(tag))
                    .ok());
    EXPECT_EQ(text, *ParseHex(vector.plaintext)) << vector.name;
  }
}

// Opens test case 16 after `damage` has changed its parts.
template <typename Damage>
absl::Status OpenDamaged(Bytes& text, Damage damage) {
  const Vector& vector = kVectors[3];
  text = *ParseHex(vector.ciphertext);
  Bytes key = *ParseHex(vector.key), nonce = *ParseHex(vector.nonce), aad = *ParseHex(vector.aad),
        tag = *ParseHex(vector.tag);
  damage(key, nonce, aad, text, tag);
  AeadNonce changed;
  std::ranges::copy(nonce, changed.begin());
  return AeadOpen(Secret::Take(std::move(key)), changed, aad, text, std::span<const uint8_t, kAeadTagBytes>(tag));
}

TEST(AeadTest, EveryFlippedBitIsDetectedAndTheTextWiped) {
  for (int part = 0; part < 5; ++part) {
    for (size_t bit = 0;; ++bit) {
      bool past_end = false;
      Bytes text;
      const absl::Status status =
          OpenDamaged(text, [&](Bytes& key, Bytes& nonce, Bytes& aad, Bytes& ciphertext, Bytes& tag) {
            Bytes* const parts[] = {&key, &nonce, &aad, &ciphertext, &tag};
            past_end = bit >= parts[part]->size() * 8;
            if (!past_end) (*parts[part])[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
          });
      if (past_end) break;
      ASSERT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << part << ":" << bit;
      ASSERT_EQ(text, Bytes(text.size(), 0)) << part << ":" << bit;
    }
  }
}

TEST(AeadTest, KeyOfAnotherSizeIsRefusedAndTheTextWiped) {
  for (const size_t size : {size_t{0}, size_t{16}, size_t{31}, size_t{33}}) {
    Bytes text = {1, 2, 3};
    std::array<uint8_t, kAeadTagBytes> tag;
    EXPECT_FALSE(AeadSeal(Secret(size), AeadNonce{}, {}, text, tag).ok()) << size;
    EXPECT_EQ(text, Bytes(3, 0));
    EXPECT_FALSE(AeadSealer::Create(Secret(size)).ok()) << size;
  }
}

}  // namespace

}  // namespace sideband::envelope
