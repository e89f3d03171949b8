// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/seal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "proto/base/bytes.h"
#include "proto/envelope/open.h"

namespace sideband::envelope {
namespace {

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

// As above, with a guest nonce.
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
