// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/hpke.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "absl/strings/escaping.h"
#include "proto/base/bytes.h"
#include "proto/envelope/secret_access.h"

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

Bytes Hex(const std::string& digits) { return ParseHex(digits).value(); }
std::string ToHex(ByteSpan bytes) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}
Secret SecretHex(const std::string& digits) { return Secret::CopyOf(Hex(digits)); }
std::string HexOf(const Secret& secret) { return ToHex(secret.Read(SecretAccess::Get())); }
std::string HexOf(const PublicKey& key) { return ToHex(key); }
PublicKey Public(const std::string& digits) {
  PublicKey key;
  std::ranges::copy(Hex(digits), key.begin());
  return key;
}

// RFC 9180's test vectors, "DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM", mode base, of the file that the RFC
// names. Shared secret and what follows from it are not in that file's published extract: they were computed by another
// program, and the ciphertexts and exports rest on them.
constexpr char kInfo[] = "4f6465206f6e2061204772656369616e2055726e";
constexpr char kReceiverKey[] = "497b4502664cfea5d5af0b39934dac72242a74f8480451e1aee7d6a53320333d";
constexpr char kReceiverPublic[] = "430f4b9859665145a6b1ba274024487bd66f03a2dd577d7753c68d7d7d00c00c";
constexpr char kEphemeralKey[] = "179d4b53b6365c45b600c4163b61d95cbc2f4d9e36f1695558dce265ab8bab11";
constexpr char kEnc[] = "6c93e09869df3402d7bf231bf540fadd35cd56be14f97178f0954db94b7fc256";
constexpr char kDh[] = "98fdfbcb860bc6c218a3fd783062ae1f37af6e3581619eea9591818d746aa50b";
constexpr char kShared[] = "3101c54c3a4f87439eaac080699ed9bbcc726ffe44e860c0424ccb7e3e2ead7b";
constexpr char kKey[] = "f50b0609186798729ed0564b36ef2ef8044f1f9d05636874d1f46c819c7a669f";
constexpr char kBaseNonce[] = "151d9929e2449747889bc923";
constexpr char kPlaintext[] = "4265617574792069732074727574682c20747275746820626561757479";

struct Encryption {
  uint64_t sequence;
  const char* aad;
  const char* ciphertext;
} constexpr kEncryptions[] = {
    {0, "436f756e742d30", "e5d84cd531cfb583096e7cfa9641bd3079cf3a91cda813c52deb5f512be9931980a41de125a925cdad859d5b7a"},
    {1, "436f756e742d31", "2c43aff25343fdbff864506f0818b9d87df84ea01b1a2144d23b4d40c26bf655fdf197fe40297a8aebeed5cc2d"},
    {2, "436f756e742d32", "e0a8f2cf92ff61215edbb8c55dc31fe9e2eb42a5685867bb6854211542099f9e940c4b41c192bc390835b1a5f7"},
    {4, "436f756e742d34", "448a8892f261cbb6bf5b7b64a4fae8a2c86492494b069c10525895d871c27c2f12cd17e0588fedaba9f7b0cd4c"},
    {255, "436f756e742d323535",
     "f6ad1823eb0b932d04b6e23010eea64f1fe5edd0583dae5ba27ca6363f4ea104bd217331460ef4208040423641"},
    {256, "436f756e742d323536",
     "53624f4f9f173453b14e633b45390ff54cacaa4428d44baee1bff8133fab1ab3afe60f88e4634b525c54e92eda"},
};

std::string Sealed(const HpkeKeys& keys, const Encryption& encryption) {
  Bytes text = Hex(kPlaintext);
  std::array<uint8_t, kAeadTagBytes> tag;
  const absl::Status sealed = AeadSeal(keys.key(), keys.NonceFor(encryption.sequence), Hex(encryption.aad), text, tag);
  EXPECT_TRUE(sealed.ok()) << sealed;
  text.insert(text.end(), tag.begin(), tag.end());
  return ToHex(text);
}

void ExpectVectors(const HpkeKeys& keys) {
  EXPECT_EQ(HexOf(keys.key()), kKey);
  EXPECT_EQ(ToHex(keys.NonceFor(0)), kBaseNonce);
  for (const Encryption& encryption : kEncryptions) EXPECT_EQ(Sealed(keys, encryption), encryption.ciphertext);
  EXPECT_EQ(HexOf(*keys.Export({}, 32)), "ded6cffafaea6b812cbf3e241e88332adbc077aca81512914213810ee291770a");
  EXPECT_EQ(HexOf(*keys.Export(Hex("00"), 32)), "04d3cb6cc116b28ffd22ad5bc276c60d31fec71ceb87ae24db811c64b7507339");
  EXPECT_EQ(HexOf(*keys.Export(Hex("54657374436f6e74657874"), 32)),
            "7c5ded445732c14fe09727d29b4251c0fd38455fe8440571e687f0886aac94d2");
}

TEST(HpkeTest, TheSendersKeysAreThoseOfTheVectors) {
  const KeyPair ephemeral = *KeyPair::OfPrivate(SecretHex(kEphemeralKey));
  const Encapsulated sent = *SetUpSenderWith(ephemeral, Public(kReceiverPublic), Hex(kInfo));
  EXPECT_EQ(HexOf(sent.enc), kEnc);
  ExpectVectors(sent.keys);
}

TEST(HpkeTest, TheReceiversKeysAreThoseOfTheVectors) {
  const KeyPair receiver = *KeyPair::OfPrivate(SecretHex(kReceiverKey));
  EXPECT_EQ(HexOf(receiver.public_key()), kReceiverPublic);
  ExpectVectors(*SetUpReceiver(Public(kEnc), receiver, Hex(kInfo)));
}

TEST(HpkeTest, TheEncapsulationsSecretsAreThoseOfTheVectors) {
  const Secret dh = *SharedSecret(*KeyPair::OfPrivate(SecretHex(kEphemeralKey)), Public(kReceiverPublic));
  EXPECT_EQ(HexOf(dh), kDh);
  EXPECT_EQ(HexOf(*KemSecret(dh, Public(kEnc), Public(kReceiverPublic))), kShared);
}

TEST(HpkeTest, TheKeySchedulesSecretsAreThoseOfTheVectors) {
  EXPECT_EQ(HexOf(*LabeledExtract(kHpkeSuite, "psk_id_hash", {})),
            "4ce5472ecdd5093ba0aecb8f871ff13f1fbc90ee76f0e18ace1a1b7e565bafa3");
  EXPECT_EQ(HexOf(*LabeledExtract(kHpkeSuite, "info_hash", Hex(kInfo))),
            "06f6ef962c9ee7cea40407b5d60f0f26990472faae3ac44c78366f1cac1ecde1");
  const Secret shared = SecretHex(kShared);
  const Secret secret = *LabeledExtract(kHpkeSuite, &shared, "secret", Secret());
  EXPECT_EQ(HexOf(secret), "2058ac9b02c1f52c1aaf08bedbec9198219751a94ef67b7d5f0c8b6e2b54ebfb");
  const Bytes context =
      Hex("004ce5472ecdd5093ba0aecb8f871ff13f1fbc90ee76f0e18ace1a1b7e565bafa3"
          "06f6ef962c9ee7cea40407b5d60f0f26990472faae3ac44c78366f1cac1ecde1");
  EXPECT_EQ(HexOf(*LabeledExpand(kHpkeSuite, secret, "exp", context, 32)),
            "86017151bbff6a1940e8abae2ac9e0e7032e33df1eaaecc02ca6259b130d62df");
}

// RFC 9180, appendix A.1.1, which has the same encapsulation.
TEST(HpkeTest, TheEncapsulationOfAppendixA1) {
  const KeyPair ephemeral =
      *DeriveKeyPair(SecretHex("7268600d403fce431561aef583ee1613527cff655c1343f29812e66706df3234"));
  const KeyPair receiver =
      *DeriveKeyPair(SecretHex("6db9df30aa07dd42ee5e8181afdb977e538f5e1fec8a06223f33f7013e525037"));
  EXPECT_EQ(HexOf(ephemeral.private_key()), "52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736");
  EXPECT_EQ(HexOf(ephemeral.public_key()), "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431");
  EXPECT_EQ(HexOf(receiver.public_key()), "3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d");
  const Secret dh = *SharedSecret(ephemeral, receiver.public_key());
  EXPECT_EQ(HexOf(*KemSecret(dh, ephemeral.public_key(), receiver.public_key())),
            "fe0e18c9f024ce43799ae393c7e8fe8fce9d218875e8227b0187c04e7d2ea1fc");
}

// RFC 7748, section 6.1.
TEST(HpkeTest, TheSharedSecretOfX25519) {
  const KeyPair alice =
      *KeyPair::OfPrivate(SecretHex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"));
  EXPECT_EQ(HexOf(alice.public_key()), "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
  EXPECT_EQ(HexOf(*SharedSecret(alice, Public("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"))),
            "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
}

// The points of order 1, 2, 4 and 8, and their representations that are not canonical.
TEST(HpkeTest, APublicKeyOfSmallOrderIsRefused) {
  const KeyPair own = *KeyPair::Generate();
  for (const char* const digits : {
           "0000000000000000000000000000000000000000000000000000000000000000",
           "0100000000000000000000000000000000000000000000000000000000000000",
           "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
           "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
           "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
           "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
           "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
       }) {
    EXPECT_EQ(SetUpSender(Public(digits), {}).status().code(), absl::StatusCode::kInvalidArgument) << digits;
    EXPECT_EQ(SetUpReceiver(Public(digits), own, {}).status().code(), absl::StatusCode::kInvalidArgument) << digits;
  }
}

TEST(HpkeTest, APrivateKeyHas32Bytes) {
  EXPECT_FALSE(KeyPair::OfPrivate(Secret(31)).ok());
  EXPECT_FALSE(KeyPair::OfPrivate(Secret(33)).ok());
}

RC_GTEST_PROP(HpkePropertyTest, BothEndsHaveTheSameKeysAndNobodyElse, (const Bytes& info, uint64_t sequence)) {
  const KeyPair receiver = *KeyPair::Generate(), other = *KeyPair::Generate();
  const Encapsulated sent = *SetUpSender(receiver.public_key(), info);
  const HpkeKeys received = *SetUpReceiver(sent.enc, receiver, info);
  RC_ASSERT(sent.keys.key() == received.key());
  RC_ASSERT(sent.keys.NonceFor(sequence) == received.NonceFor(sequence));
  RC_ASSERT(!(SetUpReceiver(sent.enc, other, info)->key() == received.key()));
  Bytes more = info;
  more.push_back(0);
  RC_ASSERT(!(SetUpReceiver(sent.enc, receiver, more)->key() == received.key()));
  RC_ASSERT(!(SetUpSender(receiver.public_key(), info)->keys.key() == received.key()));
}

}  // namespace
}  // namespace sideband::envelope
