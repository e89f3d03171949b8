// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/record.h"

#include <gtest/gtest.h>

namespace sideband::envelope {
namespace {

RecordHeader Example() {
  RecordHeader header;
  for (uint8_t i = 0; i < 16; ++i) {
    header.device.bytes[i] = 0x10 + i;
    header.vm.bytes[i] = 0x30 + i;
  }
  header.scope = 0x0102;
  header.boot_id = 0x2726252423222120;
  header.generation = 0x43424140;
  header.padded_length = kPaddingUnit;
  header.epoch = 0x5756555453525150;
  header.sequence = 0x6766656463626160;
  header.reference_time_ns = 0x7776757473727170;
  return header;
}

// A record with zeros for ciphertext and tag.
Bytes RecordOf(const RecordHeader& header) {
  Bytes record = EncodeHeader(header);
  record.resize(header.bytes() + header.padded_length + kTagBytes);
  return record;
}

TEST(RecordTest, EveryFieldLiesWhereTheDocumentSays) {
  EXPECT_EQ(EncodeHeader(Example()),
            (Bytes{'S',  'B',  'S',  'R',  0x01, 0x01, 0x02, 0x01,                          // kind, scope
                   0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b,  // device
                   0x1c, 0x1d, 0x1e, 0x1f,                                                  //
                   0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27,                          // boot id
                   0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x3b,  // VM
                   0x3c, 0x3d, 0x3e, 0x3f,                                                  //
                   0x40, 0x41, 0x42, 0x43, 0x00, 0x10, 0x00, 0x00,                          // generation, length
                   0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57,                          // epoch
                   0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67,                          // sequence
                   0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77}));                       // reference time
}

RecordHeader ExampleWithNonce() {
  RecordHeader header = Example();
  header.guest_nonce.emplace();
  for (uint8_t i = 0; i < kGuestNonceBytes; ++i) (*header.guest_nonce)[i] = 0xa0 + i;
  return header;
}

TEST(RecordTest, ANonceFollowsTheHeaderOfVersion1) {
  const Bytes first = EncodeHeader(Example()), second = EncodeHeader(ExampleWithNonce());
  EXPECT_EQ(first.size(), kHeaderBytes);
  ASSERT_EQ(second.size(), kHeaderBytesMax);
  Bytes expected = first;
  expected[4] = 2;
  for (uint8_t i = 0; i < 32; ++i) expected.push_back(0xa0 + i);
  EXPECT_EQ(second, expected);
}

TEST(RecordTest, OfVersion2EveryOtherLengthIsRefused) {
  const Bytes record = RecordOf(ExampleWithNonce());
  EXPECT_EQ(ParseRecord(record)->header, ExampleWithNonce());
  for (size_t size = 0; size < record.size(); ++size) EXPECT_FALSE(ParseRecord(ByteSpan(record).first(size)).ok());
  Bytes longer = record;
  longer.push_back(0);
  EXPECT_FALSE(ParseRecord(longer).ok());
  RecordHeader without = ExampleWithNonce();
  without.guest_nonce = GuestNonce{};
  EXPECT_EQ(ParseRecord(RecordOf(without))->header, without) << "version 2 without a nonce";
}

// No other bytes after the header make a record valid as the other version.
TEST(RecordTest, AVersionCannotBeTakenForTheOther) {
  Bytes first = RecordOf(Example()), second = RecordOf(ExampleWithNonce());
  first[4] = 2;
  second[4] = 1;
  EXPECT_FALSE(ParseRecord(first).ok());
  EXPECT_FALSE(ParseRecord(second).ok());
}

TEST(RecordTest, ParseReturnsWhatWasEncoded) {
  const Bytes record = RecordOf(Example());
  const auto view = ParseRecord(record);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->header, Example());
  EXPECT_EQ(view->header_bytes.data(), record.data());
  EXPECT_EQ(view->ciphertext.size(), kPaddingUnit);
  EXPECT_EQ(view->tag.data() + kTagBytes, record.data() + record.size());
}

TEST(RecordTest, EveryOtherLengthIsRefused) {
  const Bytes record = RecordOf(Example());
  for (size_t size = 0; size < record.size(); ++size) EXPECT_FALSE(ParseRecord(ByteSpan(record).first(size)).ok());
  Bytes longer = record;
  longer.push_back(0);
  EXPECT_FALSE(ParseRecord(longer).ok());
}

TEST(RecordTest, HostileKindIsRefused) {
  const struct {
    size_t offset;
    uint8_t value;
    const char* why;
  } kCases[] = {{0, 's', "magic"}, {3, 'X', "magic"}, {4, 0, "version"},
                {4, 3, "version"}, {5, 0, "suite"},   {5, 2, "suite"}};
  for (const auto& test : kCases) {
    Bytes record = RecordOf(Example());
    record[test.offset] = test.value;
    EXPECT_FALSE(ParseRecord(record).ok()) << test.why;
  }
}

TEST(RecordTest, PaddedLengthIsBounded) {
  for (const uint32_t length : {0u, 1u, kPaddingUnit - 1, kPaddingUnit + 1}) {
    RecordHeader header = Example();
    header.padded_length = length;
    EXPECT_FALSE(ParseRecord(RecordOf(header)).ok()) << length;
  }
  RecordHeader largest = Example();
  largest.padded_length = kPaddedLengthMax;
  EXPECT_TRUE(ParseRecord(RecordOf(largest)).ok());
  largest.padded_length += kPaddingUnit;
  EXPECT_FALSE(ParseRecord(RecordOf(largest)).ok());
}

TEST(RecordTest, PaddedLengthRoundsUp) {
  EXPECT_EQ(*PaddedLengthFor(0), kPaddingUnit);
  EXPECT_EQ(*PaddedLengthFor(kPaddingUnit - kContentLengthBytes), kPaddingUnit);
  EXPECT_EQ(*PaddedLengthFor(kPaddingUnit - kContentLengthBytes + 1), 2 * kPaddingUnit);
  EXPECT_EQ(*PaddedLengthFor(kContentBytesMax), kPaddedLengthMax);
  EXPECT_EQ(PaddedLengthFor(kContentBytesMax + 1).status().code(), absl::StatusCode::kOutOfRange);
}

TEST(RecordTest, ContentComesOutOfItsPadding) {
  const Bytes padded = {2, 0, 0, 0, 7, 8, 0, 0};
  const auto content = ContentOf(padded);
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(Bytes(content->begin(), content->end()), (Bytes{7, 8}));
  EXPECT_EQ(ContentOf(Bytes(8, 0))->size(), 0u);
}

TEST(RecordTest, BadPaddingIsRefused) {
  EXPECT_FALSE(ContentOf(Bytes{1, 0, 0, 0, 7, 0, 0, 1}).ok()) << "last byte of the padding";
  EXPECT_FALSE(ContentOf(Bytes{1, 0, 0, 0, 7, 1, 0, 0}).ok()) << "first byte of the padding";
  EXPECT_FALSE(ContentOf(Bytes{5, 0, 0, 0, 7, 8, 9, 10}).ok()) << "longer than there is";
  EXPECT_FALSE(ContentOf(Bytes{0xFF, 0xFF, 0xFF, 0xFF, 7}).ok());
  EXPECT_FALSE(ContentOf(Bytes{0, 0, 0}).ok()) << "no length";
}

std::vector<Bytes> Copies(const std::vector<ByteSpan>& records) {
  std::vector<Bytes> copies;
  for (const ByteSpan record : records) copies.emplace_back(record.begin(), record.end());
  return copies;
}

TEST(SealedViewTest, HasTheRecordsInTheirOrder) {
  const Bytes newest(133, 7), before(130, 9);
  const Bytes file = EncodeSealedView({newest, before});
  EXPECT_EQ(file.size() % 8, 0);
  const auto records = DecodeSealedView(file);
  ASSERT_TRUE(records.ok()) << records.status();
  EXPECT_EQ(Copies(*records), (std::vector<Bytes>{newest, before}));
  EXPECT_TRUE(DecodeSealedView(EncodeSealedView({}))->empty());
}

TEST(SealedViewTest, NoByteIsOptional) {
  const Bytes record(40, 7);
  const Bytes file = EncodeSealedView({record});
  const size_t used = 8 + 4 + 4 + record.size() + 4;
  for (size_t size = 0; size < used; ++size) {
    EXPECT_FALSE(DecodeSealedView(ByteSpan(file).first(size)).ok()) << size;
  }
  for (size_t at = 0; at < used; ++at) {
    Bytes wrong = file;
    wrong[at] ^= 0x10;
    EXPECT_FALSE(DecodeSealedView(wrong).ok()) << at;
  }
}

TEST(SealedViewTest, MoreRecordsThanExchangesAreMalformed) {
  const Bytes record(8, 1);
  EXPECT_FALSE(DecodeSealedView(EncodeSealedView({record, record, record})).ok());
}

SealedCounts Small() {
  SealedCounts counts{.snapshot_id = 7, .trigger_id = 9, .host_time_ns = 1'700'000'000'000'000'000, .events = 3};
  counts.rows = {{.generation = 2, .state = 1}, {.context = 4, .name = "train", .slice = 1, .flags = 5}};
  counts.counts = {1, 2, 3, 4, 5, ~uint64_t{0}};
  return counts;
}

SealedCounts WithTurns() {
  SealedCounts counts = Small();
  counts.coverage = {1, 0.5, 0, 1, 0.25, 1};
  counts.rotated = {1};
  counts.estimates = {
      {.standard_error = 3, .lower = 1, .upper = 9, .time_enabled_ns = 10, .time_running_ns = 5, .method = 1},
      {.lower = 2}};
  return counts;
}

TEST(CountsTest, ComeBack) {
  for (const SealedCounts& counts : {Small(), WithTurns(), SealedCounts{}}) {
    const auto decoded = DecodeCounts(EncodeCounts(counts));
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(*decoded, counts);
  }
  EXPECT_EQ(WithTurns().Estimates(1)[0].lower, 2);
  EXPECT_EQ(WithTurns().Coverage(1)[1], 0.25);
  EXPECT_TRUE(Small().Coverage(0).empty());
}

TEST(CountsTest, TheSizeDoesNotDependOnTheNumbers) {
  SealedCounts counts = WithTurns();
  const size_t size = EncodeCounts(counts).size();
  for (uint64_t& count : counts.counts) count = 0;
  for (double& coverage : counts.coverage) coverage = 0;
  counts.snapshot_id = counts.trigger_id = 0;
  counts.host_time_ns = 0;
  counts.rows[1].flags = 0;
  counts.estimates = {{}, {}};
  EXPECT_EQ(EncodeCounts(counts).size(), size);
}

TEST(CountsTest, HasTheBytesOfTheReadme) {
  SealedCounts counts{.snapshot_id = 0x07, .trigger_id = 0x09, .host_time_ns = 0, .events = 1};
  counts.rows = {{.context = 2, .name = "ab", .slice = 3, .generation = 5, .state = 1, .flags = 4}};
  counts.counts = {0x0102030405060708};
  const SecretBytes bytes = EncodeCounts(counts);
  const Bytes expected = {1, 0, 1, 0, 1, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 0, 0,   0,   0, 0, 0, 0, 0, 0, 0, 0,
                          0, 0, 0, 0, 0, 2, 0, 1, 3, 4, 0, 5, 0, 0, 0, 0, 2, 'a', 'b', 8, 7, 6, 5, 4, 3, 2, 1};
  EXPECT_EQ(Bytes(bytes.begin(), bytes.end()), expected);
}

TEST(CountsTest, EveryCutAndEveryLongerTextIsRefused) {
  const SecretBytes bytes = EncodeCounts(WithTurns());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeCounts(ByteSpan(bytes).first(size)).ok()) << size;
  }
  SecretBytes longer = bytes;
  longer.push_back(0);
  EXPECT_FALSE(DecodeCounts(longer).ok());
}

TEST(CountsTest, RefusesAnotherVersionAndEventsThatAreNone) {
  SecretBytes bytes = EncodeCounts(Small());
  bytes[0] = 2;
  EXPECT_FALSE(DecodeCounts(bytes).ok());
  SealedCounts counts = WithTurns();
  counts.rotated = {3};
  EXPECT_FALSE(DecodeCounts(EncodeCounts(counts)).ok());
}

}  // namespace
}  // namespace sideband::envelope
