// SPDX-License-Identifier: Apache-2.0
#include "client/lib/opener.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "proto/envelope/keys.h"
#include "proto/envelope/record.h"

namespace sideband::client {
namespace {

using envelope::KeyScope;
using envelope::RecordHeader;
using envelope::Secret;
using envelope::SessionKeys;

constexpr Uuid kDevice{{1}};
constexpr Uuid kVm{{2}};
constexpr uint64_t kEpoch = 1000;
const SecretBytes kContent = {'c', 'o', 'u', 'n', 't', 's'};

Secret Key(uint8_t fill = 7) { return Secret::Take(Bytes(envelope::kStaticKeyBytes, fill)); }

RecordHeader Header(uint64_t sequence, uint64_t epoch = kEpoch) {
  return {.device = kDevice, .boot_id = 3, .vm = kVm, .generation = 4, .epoch = epoch, .sequence = sequence};
}

Bytes Sealed(const RecordHeader& header, uint8_t key = 7) {
  return *envelope::SealRecord(*SessionKeys::Derive(Key(key), KeyScope::Of(header)), header, kContent);
}

class OpenerTest : public testing::Test {
 protected:
  // The gap before the record, or the rejection.
  absl::StatusOr<uint64_t> Gap(const Bytes& record) {
    const auto opened = opener_.Open(record);
    if (!opened.ok()) return opened.status();
    EXPECT_EQ(opened->content, kContent);
    return opened->gap;
  }

  void ExpectRejected(const Bytes& record, const char* why) {
    const auto opened = opener_.Open(record);
    EXPECT_EQ(opened.status(), absl::DataLossError("record rejected")) << why;
  }

  Opener opener_{Key(), {.vm = kVm}};
};

TEST_F(OpenerTest, OpensInOrder) {
  for (uint64_t sequence = 0; sequence < 3; ++sequence) EXPECT_EQ(*Gap(Sealed(Header(sequence))), 0u);
}

TEST_F(OpenerTest, HeaderIsHandedOut) { EXPECT_EQ(opener_.Open(Sealed(Header(9)))->header, Header(9)); }

TEST_F(OpenerTest, ReportsGaps) {
  EXPECT_EQ(*Gap(Sealed(Header(5))), 0u) << "nobody knows what was before the first";
  EXPECT_EQ(*Gap(Sealed(Header(6))), 0u);
  EXPECT_EQ(*Gap(Sealed(Header(9))), 2u);
  EXPECT_EQ(*Gap(Sealed(Header(3, kEpoch + 1))), 3u) << "the beginning of the new epoch";
  EXPECT_EQ(*Gap(Sealed(Header(0, kEpoch + 2))), 0u);
}

TEST_F(OpenerTest, RejectsReplayAndReorder) {
  const Bytes first = Sealed(Header(1)), second = Sealed(Header(2)), third = Sealed(Header(3));
  EXPECT_TRUE(Gap(first).ok());
  ExpectRejected(first, "replay");
  EXPECT_TRUE(Gap(third).ok());
  ExpectRejected(second, "reorder");
  ExpectRejected(third, "replay");
  EXPECT_EQ(*Gap(Sealed(Header(4))), 0u) << "the stream goes on";
}

TEST_F(OpenerTest, RejectsOlderEpochs) {
  EXPECT_TRUE(Gap(Sealed(Header(1))).ok());
  EXPECT_TRUE(Gap(Sealed(Header(0, kEpoch + 1))).ok());
  ExpectRejected(Sealed(Header(2)), "the old epoch's next record");
  ExpectRejected(Sealed(Header(99, kEpoch - 1)), "an older epoch");
  EXPECT_TRUE(Gap(Sealed(Header(1, kEpoch + 1))).ok());
}

TEST_F(OpenerTest, RejectsOthers) {
  const RecordHeader base = Header(1);
  RecordHeader vm = base, device = base, scope = base;
  vm.vm.bytes[5] = 9;
  ExpectRejected(Sealed(vm), "another VM");
  scope.scope = 3;
  ExpectRejected(Sealed(scope), "a context's record");
  ExpectRejected(Sealed(base, 8), "another key");
  EXPECT_TRUE(Gap(Sealed(base)).ok());
  device.device.bytes[5] = 9;
  device.epoch += 1;
  ExpectRejected(Sealed(device), "another device than the first");
}

TEST_F(OpenerTest, DeviceMayBeGiven) {
  Opener opener(Key(), {.vm = kVm, .device = Uuid{{9}}});
  EXPECT_FALSE(opener.Open(Sealed(Header(1))).ok());
}

TEST_F(OpenerTest, VmMayBeLeftToTheKey) {
  Opener opener(Key(), {});
  EXPECT_TRUE(opener.Open(Sealed(Header(1))).ok());
  RecordHeader other = Header(2, kEpoch + 1);
  other.vm.bytes[5] = 9;
  EXPECT_FALSE(opener.Open(Sealed(other)).ok()) << "the first one said it, for good";
}

TEST_F(OpenerTest, GenerationNeverGoesBackUnderOneBoot) {
  EXPECT_TRUE(Gap(Sealed(Header(1))).ok());
  RecordHeader later = Header(0, kEpoch + 1);
  later.generation = 3;
  ExpectRejected(Sealed(later), "generation 3 after 4");
  later.generation = 5;
  EXPECT_TRUE(Gap(Sealed(later)).ok());
  RecordHeader rebooted = Header(0, kEpoch + 2);
  rebooted.boot_id = 99;
  rebooted.generation = 1;
  EXPECT_TRUE(Gap(Sealed(rebooted)).ok()) << "everything restarted";
}

TEST_F(OpenerTest, WithinAnEpochBootAndGenerationStay) {
  EXPECT_TRUE(Gap(Sealed(Header(1))).ok());
  RecordHeader boot = Header(2), generation = Header(2);
  boot.boot_id = 99;
  generation.generation = 5;
  ExpectRejected(Sealed(boot), "boot id");
  ExpectRejected(Sealed(generation), "generation");
}

TEST_F(OpenerTest, AForgedHeaderChangesNothing) {
  EXPECT_TRUE(Gap(Sealed(Header(1))).ok());
  Bytes forged = Sealed(Header(2));
  std::ranges::copy(envelope::EncodeHeader(Header(0, kEpoch + 1000)), forged.begin());
  ExpectRejected(forged, "a header on another's body");
  EXPECT_EQ(*Gap(Sealed(Header(2))), 0u) << "neither the epoch nor the keys were taken over";
}

envelope::GuestNonce Nonce(uint8_t fill) {
  envelope::GuestNonce nonce;
  nonce.fill(fill);
  return nonce;
}

RecordHeader WithNonce(RecordHeader header, uint8_t fill = 9) {
  header.guest_nonce = Nonce(fill);
  return header;
}

TEST_F(OpenerTest, WithANonceOnlyItsRecordsAreAccepted) {
  opener_ = Opener(Key(), {.vm = kVm, .nonce = Nonce(9)});
  ExpectRejected(Sealed(Header(0)), "version 1, from an old daemon or a replay");
  ExpectRejected(Sealed(WithNonce(Header(0), 0)), "version 2 without a nonce");
  ExpectRejected(Sealed(WithNonce(Header(0), 8)), "of another opener, or of this one's last run");
  EXPECT_EQ(*Gap(Sealed(WithNonce(Header(0)))), 0u);
  ExpectRejected(Sealed(Header(1)), "later on, too");
  ExpectRejected(Sealed(WithNonce(Header(1), 8)), "likewise");
  EXPECT_EQ(*Gap(Sealed(WithNonce(Header(1)))), 0u);
  ExpectRejected(Sealed(WithNonce(Header(0, kEpoch - 1))), "an older epoch of the same stream");
  EXPECT_EQ(*Gap(Sealed(WithNonce(Header(0, kEpoch + 1)))), 0u) << "the device has restarted";
}

TEST_F(OpenerTest, WithoutANonceBothVersionsAreAccepted) {
  EXPECT_TRUE(Gap(Sealed(Header(0))).ok());
  EXPECT_TRUE(Gap(Sealed(WithNonce(Header(0, kEpoch + 1)))).ok());
  ExpectRejected(Sealed(WithNonce(Header(1, kEpoch + 1), 8)), "one epoch has one nonce");
  EXPECT_TRUE(Gap(Sealed(Header(0, kEpoch + 2))).ok());
}

TEST_F(OpenerTest, WhatAnEarlierOpenerHasSeenIsOld) {
  for (const RecordHeader& old : {Header(5), Header(4), Header(99, kEpoch - 1)}) {
    opener_ = Opener(Key(), {.vm = kVm, .after = Header(5)});
    ExpectRejected(Sealed(old), "not later");
    ExpectRejected(Sealed(WithNonce(old)), "with a nonce that was not requested");
  }
  opener_ = Opener(Key(), {.vm = kVm, .after = Header(5)});
  EXPECT_TRUE(Gap(Sealed(Header(6))).ok()) << "the next one";
  opener_ = Opener(Key(), {.vm = kVm, .after = Header(5)});
  EXPECT_TRUE(Gap(Sealed(Header(0, kEpoch + 1))).ok()) << "of a later epoch";
}

// The sealer's clock was set back between two runs of the daemon.
TEST_F(OpenerTest, ANonceShowsThatALowerEpochIsNew) {
  opener_ = Opener(Key(), {.vm = kVm, .nonce = Nonce(9), .after = Header(5)});
  ExpectRejected(Sealed(Header(0, kEpoch - 10)), "without it");
  EXPECT_TRUE(Gap(Sealed(WithNonce(Header(0, kEpoch - 10)))).ok());
  ExpectRejected(Sealed(WithNonce(Header(0, kEpoch - 11))), "within the run epochs only grow");
}

TEST(GuestNonceTest, IsAnotherEachTime) {
  const envelope::GuestNonce first = *DrawGuestNonce(), second = *DrawGuestNonce();
  EXPECT_NE(first, second);
  EXPECT_NE(first, envelope::GuestNonce{});
}

TEST_F(OpenerTest, EveryFlippedBitIsRejectedAndHarmless) {
  opener_ = Opener(Key(), {.vm = kVm, .nonce = Nonce(9)});
  Bytes record = Sealed(WithNonce(Header(1)));
  for (size_t bit = 0; bit < record.size() * 8; ++bit) {
    record[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    ASSERT_FALSE(opener_.Open(record).ok()) << bit;
    record[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
  EXPECT_TRUE(Gap(record).ok());
}

TEST_F(OpenerTest, EveryCutIsRejected) {
  for (const Bytes& record : {Sealed(Header(1)), Sealed(WithNonce(Header(1)))}) {
    for (size_t size = 0; size < record.size(); ++size) ASSERT_FALSE(opener_.Open(ByteSpan(record).first(size)).ok());
  }
}

constexpr Uuid kSnapshotVm{{2}};

envelope::SealedCounts Counts() {
  envelope::SealedCounts counts{.snapshot_id = 7, .trigger_id = 9, .host_time_ns = 3'000'000'005, .events = 2};
  counts.rows = {{.generation = 4, .state = 1}, {.context = 5, .name = "train", .slice = 1, .flags = 1}};
  counts.counts = {10, 11, 20, 21};
  return counts;
}

OpenResult Opened(const envelope::SealedCounts& counts) {
  return {.header = {.boot_id = 3, .vm = kSnapshotVm, .reference_time_ns = 8},
          .content = envelope::EncodeCounts(counts)};
}

TEST(SealedSnapshotTest, HasEveryNumber) {
  const auto content = SealedContentOf(Opened(Counts()), {"reads", "cycles"});
  ASSERT_TRUE(content.ok());
  const sideband::v1::Snapshot& snapshot = content->snapshot();
  EXPECT_EQ(snapshot.boot_id(), 3);
  EXPECT_EQ(snapshot.snapshot_id(), 7);
  EXPECT_EQ(snapshot.trigger_id(), 9);
  EXPECT_EQ(snapshot.reference_time_ns(), 8);
  EXPECT_EQ(snapshot.host_time().nanos(), 5);
  ASSERT_EQ(snapshot.scopes_size(), 2);
  EXPECT_EQ(snapshot.scopes(0).state(), sideband::v1::ScopeCounters::STATE_IDLE);
  EXPECT_FALSE(snapshot.scopes(0).scope().has_slice());
  EXPECT_EQ(snapshot.scopes(1).scope().context(), "train");
  EXPECT_EQ(snapshot.scopes(1).scope().slice(), 1);
  EXPECT_EQ(snapshot.scopes(1).flags(0), "overflow");
  EXPECT_EQ(snapshot.scopes(1).counters(1).event(), "cycles");
  EXPECT_EQ(snapshot.scopes(1).counters(1).count(), 21);
  EXPECT_FALSE(snapshot.scopes(1).counters(1).has_coverage());
}

TEST(SealedSnapshotTest, WhatWasCountedInNoCycleHasNoNumber) {
  envelope::SealedCounts counts = Counts();
  counts.coverage = {0, 1, 0.5, 1};
  counts.rotated = {0};
  counts.estimates = {{}, {.standard_error = 3, .lower = 9, .method = 1}};
  const auto content = SealedContentOf(Opened(counts), {"reads", "cycles"});
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(content->snapshot().scopes(0).counters_size(), 1);
  const sideband::v1::Counter& estimated = content->snapshot().scopes(1).counters(0);
  EXPECT_EQ(estimated.coverage(), 0.5);
  EXPECT_EQ(estimated.estimate().lower(), 9);
  EXPECT_FALSE(estimated.estimate().has_upper());
}

TEST(SealedSnapshotTest, AnotherNumberOfEventsIsRefused) {
  EXPECT_TRUE(absl::IsDataLoss(SealedContentOf(Opened(Counts()), {"reads"}).status()));
  EXPECT_TRUE(absl::IsDataLoss(SealedContentOf({.content = {1, 2, 3}}, {}).status()));
}

}  // namespace
}  // namespace sideband::client
