// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/vm_records.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <tuple>

#include "proto/envelope/keys.h"
#include "proto/envelope/open.h"

namespace sideband::exchange {
namespace {

const Uuid kVm = *Uuid::Parse("6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10");
constexpr VmKeys::Owner kOwner = {.device = {}, .boot_id = 7};
const Bytes kContent = {1, 2, 3};

envelope::Secret Root(uint8_t byte = 1) { return envelope::Secret::CopyOf(Bytes(32, byte)); }
envelope::GuestNonce Nonce(uint8_t byte) { return {byte}; }

envelope::RecordHeader HeaderOf(const Bytes& record) { return envelope::ParseRecord(record)->header; }

class VmKeysTest : public testing::Test {
 protected:
  absl::StatusOr<std::vector<SealedNow>> Seal(absl::Duration now, uint32_t generation = 3) {
    return keys_.Seal(kVm, {.generation = generation, .reference_time_ns = 5, .content = kContent}, now);
  }
  envelope::RecordHeader Next(absl::Duration now) { return HeaderOf(Seal(now)->front().record); }

  VmKeys keys_{kOwner, {.every = absl::Seconds(60), .records = 4, .grace = absl::Seconds(10)}};
};

TEST_F(VmKeysTest, WithoutAnExchangeThereIsNothing) {
  EXPECT_TRUE(Seal(absl::ZeroDuration())->empty());
  EXPECT_FALSE(keys_.StatusOf(kVm));
  EXPECT_TRUE(absl::IsNotFound(keys_.Rotate(kVm, absl::ZeroDuration()).status()));
}

TEST_F(VmKeysTest, EpochsChangeByCountTimeAndDemand) {
  keys_.Begin(kVm, 3, Root(), Nonce(1), absl::ZeroDuration());
  for (uint64_t i = 0; i < 4; ++i) EXPECT_EQ(Next(absl::ZeroDuration()).sequence, i);
  EXPECT_EQ(Next(absl::ZeroDuration()).epoch, 1);  // by count
  EXPECT_EQ(Next(absl::Seconds(60)).epoch, 2);     // by time
  EXPECT_EQ(*keys_.Rotate(kVm, absl::Seconds(61)), 3);
  const envelope::RecordHeader header = Next(absl::Seconds(61));
  EXPECT_EQ(header.epoch, 3);
  EXPECT_EQ(header.sequence, 0);
  EXPECT_EQ(keys_.StatusOf(kVm)->records, 7);
  EXPECT_EQ(keys_.StatusOf(kVm)->epoch, 3);
}

TEST_F(VmKeysTest, TheExchangeBeforeGoesOnForItsGrace) {
  keys_.Begin(kVm, 3, Root(1), Nonce(1), absl::ZeroDuration());
  keys_.Begin(kVm, 3, Root(2), Nonce(2), absl::Seconds(1));
  const auto both = *Seal(absl::Seconds(2));
  ASSERT_EQ(both.size(), 2);
  EXPECT_EQ(both[0].nonce, Nonce(2));
  EXPECT_EQ(both[1].nonce, Nonce(1));
  EXPECT_EQ(Seal(absl::Seconds(11))->size(), 1);
}

TEST_F(VmKeysTest, AnotherGenerationDestroysTheKeys) {
  keys_.Begin(kVm, 3, Root(), Nonce(1), absl::ZeroDuration());
  EXPECT_TRUE(Seal(absl::ZeroDuration(), 4)->empty());
  EXPECT_FALSE(keys_.Has(kVm));
  EXPECT_TRUE(Seal(absl::ZeroDuration(), 3)->empty());
}

TEST_F(VmKeysTest, AnExchangeWithoutEpochsLeftEnds) {
  keys_.Begin(kVm, 3, Root(), Nonce(1), absl::ZeroDuration());
  for (uint64_t epoch = 1; epoch < envelope::kExchangeEpochsMax; ++epoch) {
    ASSERT_EQ(*keys_.Rotate(kVm, absl::ZeroDuration()), epoch);
  }
  EXPECT_TRUE(absl::IsResourceExhausted(keys_.Rotate(kVm, absl::ZeroDuration()).status()));
  EXPECT_TRUE(Seal(absl::ZeroDuration()).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(Seal(absl::Seconds(60)).status())) << "the last key's time is over";
  EXPECT_FALSE(keys_.Has(kVm));
}

TEST_F(VmKeysTest, RecordsNeverGetShorter) {
  keys_.Begin(kVm, 3, Root(), Nonce(1), absl::ZeroDuration());
  const Bytes longer(100, 1);
  EXPECT_EQ(HeaderOf(keys_.Seal(kVm, {.generation = 3, .content = longer}, {})->front().record).padded_length, 128);
  EXPECT_EQ(Next(absl::ZeroDuration()).padded_length, 128);
}

// Restarts, resets, jumps of the clock, exchanges and rotations in any order: no (key, nonce) twice. The key is a
// function of the exchange's secret and the header's scope.
TEST_F(VmKeysTest, NoKeyAndNonceTwiceWhateverHappens) {
  std::mt19937_64 random(20261126);
  std::set<std::tuple<uint64_t, uint64_t, uint64_t>> used;  // exchange, epoch, sequence
  std::map<envelope::GuestNonce, uint64_t> exchange_of;
  uint64_t exchanges = 0;
  auto keys = std::make_unique<VmKeys>(kOwner, KeyRotation{.every = absl::Seconds(5), .records = 6});
  absl::Duration now;
  for (int step = 0; step < 20'000; ++step) {
    now += absl::Milliseconds(static_cast<int64_t>(random() % 4000));
    const uint64_t what = random() % 100;
    if (what < 2) keys = std::make_unique<VmKeys>(kOwner, KeyRotation{.every = absl::Seconds(5), .records = 6});
    if (what < 2) now = absl::ZeroDuration();  // a restart begins at any time
    if (what < 10) {
      const auto number = ++exchanges;
      envelope::GuestNonce nonce{};
      for (size_t i = 0; i < sizeof(number); ++i) nonce[i] = static_cast<uint8_t>(number >> 8 * i);
      exchange_of[nonce] = number;
      keys->Begin(kVm, 3, Root(static_cast<uint8_t>(number)), nonce, now);
    } else if (what < 20) {
      keys->Rotate(kVm, now).IgnoreError();
    } else {
      const auto sealed = keys->Seal(kVm, {.generation = 3, .content = kContent}, now);
      ASSERT_TRUE(sealed.ok());
      for (const SealedNow& one : *sealed) {
        const envelope::RecordHeader header = HeaderOf(one.record);
        ASSERT_TRUE(used.emplace(exchange_of.at(one.nonce), header.epoch, header.sequence).second);
      }
    }
  }
  EXPECT_GT(used.size(), 10'000);
}

TEST_F(VmKeysTest, WhoTakesTheNewestSecretCannotOpenEarlierEpochs) {
  keys_.Begin(kVm, 3, Root(), Nonce(1), absl::ZeroDuration());
  const Bytes early = Seal(absl::ZeroDuration())->front().record;
  envelope::Ratchet taken(Root());
  ASSERT_TRUE(taken.AdvanceTo(1).ok());
  const auto view = envelope::ParseRecord(early);
  const auto session = envelope::SessionKeys::Derive(taken.secret(), envelope::KeyScope::Of(view->header));
  EXPECT_FALSE(envelope::OpenRecord(*session, *view).ok());
}

mailbox::Catalog Catalog() {
  mailbox::Catalog catalog;
  catalog.events = {{.name = "reads"},
                    {.name = "link_bytes", .scope = mailbox::EventScope::kDevice},
                    {.name = "hidden", .masked = true},
                    {.name = "cycles"}};
  catalog.vms = {{.id = 2, .name = "vm", .slice = 1}};
  catalog.contexts = {{.vm = 2, .id = 5, .name = "train", .slice = 3}};
  return catalog;
}

TEST(VmContentTest, HasTheRowsOfTheVmAndTheEventsOfContexts) {
  mailbox::Snapshot snapshot{.snapshot_id = 7, .trigger_id = 9, .counters_per_block = 4};
  snapshot.blocks = {{.vm = 0}, {.vm = 2, .generation = 4, .flags = 1}, {.vm = 2, .context = 5}, {.vm = 3}};
  snapshot.counters = {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33};
  EXPECT_EQ(VmEventNames(Catalog()), (std::vector<std::string>{"reads", "cycles"}));
  const envelope::SealedCounts counts = VmCounts(Catalog(), snapshot, 2);
  EXPECT_EQ(counts.snapshot_id, 7);
  EXPECT_EQ(counts.trigger_id, 9);
  ASSERT_EQ(counts.rows.size(), 2);
  EXPECT_EQ(counts.rows[0], (envelope::CountsRow{.slice = 1, .generation = 4, .state = 1, .flags = 1}));
  EXPECT_EQ(counts.rows[1], (envelope::CountsRow{.context = 5, .name = "train", .slice = 3, .state = 1}));
  EXPECT_EQ(counts.Counts(0)[1], 13);
  EXPECT_EQ(counts.Counts(1)[0], 20);
}

TEST(VmContentTest, AVmWithoutBlocksHasNoRows) {
  EXPECT_TRUE(VmCounts(Catalog(), {.counters_per_block = 4}, 2).rows.empty());
}

}  // namespace

}  // namespace sideband::exchange
