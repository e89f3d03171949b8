// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/sealed_section.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "proto/mailbox/snapshot_stream.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

const std::vector<SealedBlocks> kSealed = {{1, {1, 2, 3}}, {3, {4}}, {3, {5, 6}}};

TEST(SealedSectionTest, ComesBackInASnapshotWhateverTheBase) {
  Snapshot snapshot{.boot_id = 42, .snapshot_id = 7, .counters_per_block = 0};
  snapshot.blocks = {{.vm = 0}, {.vm = 1}, {.vm = 3}};
  snapshot.sealed = kSealed;
  const Bytes whole = EncodeSnapshotStream(snapshot, nullptr, {}, Framing::kSections);
  const Snapshot decoded = *DecodeSnapshotStream(whole, nullptr);
  EXPECT_EQ(decoded.sealed, kSealed);

  const Snapshot base = AsBase(decoded, {});
  EXPECT_EQ(base.sealed, kSealed) << "they are short";
  snapshot.snapshot_id = 8;
  EXPECT_EQ(DecodeSnapshotStream(EncodeSnapshotStream(snapshot, &base, {}, Framing::kSections), &base)->sealed,
            kSealed);
  snapshot.sealed.clear();
  EXPECT_TRUE(
      DecodeSnapshotStream(EncodeSnapshotStream(snapshot, &base, {}, Framing::kSections), &base)->sealed.empty());
}

TEST(SealedSectionTest, HasTheBytesOfTheRegistry) {
  EXPECT_EQ(EncodeSealed({{0x0103, {0xAA, 0xBB}}}), (Bytes{0x03, 0x01, 2, 0, 0, 0, 0, 0, 0xAA, 0xBB}));
}

// Of bytes that count up from `first`.
SealedBlocks Record(uint16_t vm, size_t size, uint8_t first) {
  SealedBlocks sealed{.vm = vm, .record = Bytes(size)};
  for (uint8_t& byte : sealed.record) byte = first++;
  return sealed;
}

TEST(SealedSectionTest, LacksWhatTheBaseHas) {
  const std::vector<SealedBlocks> base = {Record(1, 300, 0), Record(3, 300, 1), Record(3, 300, 2)};
  std::vector<SealedBlocks> next = base;
  next[0].record[8] ^= 1;                                                        // the second group
  for (auto& of : next) std::fill(of.record.begin() + 112, of.record.end(), 9);  // ciphertext
  next[2].record.resize(20);
  const Bytes bytes = EncodeSealed(next, base);
  const size_t whole = EncodeSealed(next).size();
  EXPECT_EQ(bytes.size(), whole - 13 * 8 - 14 * 8 - 2 * 8);
  EXPECT_EQ(*DecodeSealed(bytes, base), next);
  EXPECT_FALSE(DecodeSealed(bytes).ok()) << "without the base";
  EXPECT_FALSE(DecodeSealed(bytes, {base[0], base[1]}).ok()) << "the base has one record of VM 3";
}

TEST(SealedSectionTest, TheSecondRecordOfAVmMayBecomeItsFirst) {
  const std::vector<SealedBlocks> base = {Record(3, 200, 1), Record(3, 200, 2)};
  const std::vector<SealedBlocks> next = {Record(3, 200, 2)};
  EXPECT_EQ(*DecodeSealed(EncodeSealed(next, base), base), next);
}

TEST(SealedSectionTest, RefusesWhatNeitherPayloadNorBaseHas) {
  const std::vector<SealedBlocks> base = {Record(1, 64, 0)};
  const auto is_refused = [&](Bytes payload) { return !DecodeSealed(payload, base).ok(); };
  EXPECT_FALSE(is_refused({1, 0, 16, 0, 0, 0, 3, 0}));
  EXPECT_TRUE(is_refused({1, 0, 16, 0, 0, 0, 7, 0})) << "a group beyond the record";
  EXPECT_TRUE(is_refused({1, 0, 12, 0, 0, 0, 3, 0})) << "a part of a group";
  EXPECT_TRUE(is_refused({1, 0, 72, 0, 0, 0, 0xFF, 1})) << "a group beyond the base's record";
  EXPECT_TRUE(is_refused({2, 0, 8, 0, 0, 0, 1, 0})) << "a VM that the base does not have";
  EXPECT_TRUE(is_refused({1, 0, 0, 0, 0, 1, 0, 0})) << "a length beyond the payload";
}

TEST(SealedSectionTest, EveryCutIsRefusedOrEndsAtARecord) {
  const Bytes bytes = EncodeSealed(kSealed);
  const std::vector<size_t> ends = {0, 11, 20, 30};
  for (size_t size = 0; size <= bytes.size(); ++size) {
    const auto decoded = DecodeSealed(ByteSpan(bytes).first(size));
    EXPECT_EQ(decoded.ok(), std::find(ends.begin(), ends.end(), size) != ends.end()) << size;
  }
}

TEST(SealedSectionTest, RefusesTheHypervisorEmptyRecordsAndVmsThatDoNotAscend) {
  EXPECT_FALSE(DecodeSealed(EncodeSealed({{0, {1}}})).ok());
  EXPECT_FALSE(DecodeSealed(EncodeSealed({{1, {}}})).ok());
  EXPECT_FALSE(DecodeSealed(EncodeSealed({{3, {1}}, {1, {1}}})).ok());
  EXPECT_FALSE(DecodeSealed(Bytes{1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0}).ok());
}

}  // namespace
}  // namespace sideband::mailbox
