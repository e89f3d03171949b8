// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/sealing/device_sealer.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proto/base/openssl.h"
#include "proto/envelope/keys.h"
#include "proto/envelope/open.h"
#include "proto/envelope/record.h"
#include "proto/exchange/exchange_fixture.h"
#include "proto/exchange/guest_exchange.h"

namespace sideband::mcu {
namespace {

using exchange::ExchangeFixture;
using exchange::GuestExchange;
using exchange::GuestKeys;

constexpr uint64_t kMs = 1'000'000;
constexpr uint16_t kOpen = 1, kSecret = 2;

// An open VM and a confidential one with a context, of two events of contexts and one of the device.
class TwoVms final : public Device {
 public:
  TwoVms() {
    catalog_.device = ExchangeFixture::device();
    catalog_.events = {{"busy", "cycles"}, {"link", "bytes", mailbox::EventScope::kDevice}, {"reads", "reads"}};
    catalog_.slices = {{0, "slice0"}};
    catalog_.vms = {
        {.id = kOpen, .name = "open", .generation = 1},
        {.id = kSecret, .uuid = ExchangeFixture::vm(), .name = "secret", .confidential = true, .generation = 3}};
    catalog_.contexts = {{.vm = kSecret, .id = 0, .name = "train", .slice = 0, .generation = 5}};
    catalog_.has_had_confidential_vm = true;
  }
  const DeviceIdentity& identity() const override { return identity_; }
  const mailbox::Catalog& catalog() const override { return catalog_; }
  mailbox::Snapshot Latch() override {
    ++latches;
    mailbox::Snapshot snapshot{
        .trigger_id = latches, .reference_time_ns = time_ns, .counters_per_block = 3, .blocks = {}, .counters = {}};
    Add({}, 0, snapshot);
    Add({.vm = kOpen, .generation = 1}, 100, snapshot);
    Add({.vm = kSecret, .generation = 3}, 200, snapshot);
    Add({.vm = kSecret, .context = 0, .generation = 5}, 300, snapshot);
    return snapshot;
  }
  std::span<const uint64_t> DeviceCounters() override { return {}; }
  uint64_t ReferenceTimeNs() override { return time_ns; }

  uint64_t time_ns = 1000 * kMs;
  uint32_t latches = 0;
  mailbox::Catalog& catalog() { return catalog_; }

 private:
  static void Add(const mailbox::BlockHeader& block, uint64_t first, mailbox::Snapshot& snapshot) {
    snapshot.blocks.push_back(block);
    for (uint64_t i = 0; i < 3; ++i) snapshot.counters.push_back(first + i);
  }

  const DeviceIdentity identity_ = {
      .uuid = ExchangeFixture::device(), .serial = "S", .part_number = "P", .boot_id = 11};
  mailbox::Catalog catalog_;
};

class DeviceSealerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { fixture_ = new ExchangeFixture(testing::TempDir(), "{rotate_records: 3}"); }

  DeviceSealerTest()
      : roots_(*CertificateRoots::Load({fixture_->root_file()})),
        sealer_(*exchange::SealingRules::Load(fixture_->sealing_file()), {9}, device_) {}

  mailbox::Snapshot Latch(uint64_t later = 0) {
    device_.time_ns += later;
    mailbox::Snapshot snapshot = device_.Latch();
    sealer_.Seal(snapshot);
    return snapshot;
  }
  GuestKeys Exchange() {
    const Bytes drawn = *sealer_.DrawChallenge(kSecret);
    exchange::Challenge challenge;
    std::ranges::copy(drawn, challenge.begin());
    auto guest = *GuestExchange::Begin({.device = ExchangeFixture::device(), .vm = ExchangeFixture::vm()}, challenge);
    request_ = *guest.Request(fixture_->Evidence(*guest.GetReportData()));
    return *guest.Finish(*sealer_.Exchange(request_), {.roots = &roots_}, std::nullopt);
  }
  // Under the exchange's epoch of the record.
  static envelope::SealedCounts Open(const GuestKeys& keys, ByteSpan record) {
    const auto view = *envelope::ParseRecord(record);
    envelope::Ratchet ratchet(keys.secret.Clone());
    EXPECT_TRUE(ratchet.AdvanceTo(view.header.epoch).ok());
    const auto session = *envelope::SessionKeys::Derive(ratchet.secret(), envelope::KeyScope::Of(view.header));
    const auto content = envelope::OpenRecord(session, view);
    EXPECT_TRUE(content.ok()) << content.status();
    return *envelope::DecodeCounts(*content);
  }
  static envelope::RecordHeader HeaderOf(const mailbox::SealedBlocks& sealed) {
    return envelope::ParseRecord(sealed.record)->header;
  }

  static ExchangeFixture* fixture_;
  const CertificateRoots roots_;
  TwoVms device_;
  DeviceSealer sealer_;
  Bytes request_;
};
ExchangeFixture* DeviceSealerTest::fixture_ = nullptr;

TEST_F(DeviceSealerTest, WithoutAnExchangeTheBlocksAreGoneAllTheSame) {
  const mailbox::Snapshot snapshot = Latch();
  ASSERT_EQ(snapshot.blocks.size(), 2);
  EXPECT_EQ(snapshot.blocks[1].vm, kOpen);
  EXPECT_EQ(snapshot.counters, (mailbox::CounterValues{0, 1, 2, 100, 101, 102}));
  EXPECT_TRUE(snapshot.sealed.empty());
}

TEST_F(DeviceSealerTest, AGuestOpensWhatItsVmHasCounted) {
  const GuestKeys keys = Exchange();
  EXPECT_EQ(keys.statement.sealer, exchange::SealerKind::kDevice);
  EXPECT_EQ(keys.statement.boot_id, 11);
  EXPECT_EQ(keys.statement.measurement, exchange::Sha384Digest{9});
  EXPECT_EQ(keys.statement.events, (std::vector<std::string>{"busy", "reads"}));
  const mailbox::Snapshot snapshot = Latch();
  ASSERT_EQ(snapshot.blocks.size(), 2);
  ASSERT_EQ(snapshot.sealed.size(), 1);
  EXPECT_EQ(snapshot.sealed[0].vm, kSecret);
  const envelope::SealedCounts counts = Open(keys, snapshot.sealed[0].record);
  EXPECT_EQ(counts.trigger_id, snapshot.trigger_id);
  EXPECT_EQ(counts.host_time_ns, 0);
  ASSERT_EQ(counts.rows.size(), 2);
  EXPECT_EQ(counts.rows[1].name, "train");
  EXPECT_EQ(counts.counts, (envelope::SecretVector<uint64_t>{200, 202, 300, 302}));
}

TEST_F(DeviceSealerTest, FrequentLatchesHaveTheSameRecord) {
  const GuestKeys keys = Exchange();
  const auto first = Latch().sealed;
  for (int i = 0; i < 9; ++i) EXPECT_EQ(Latch(kMs).sealed, first);
  EXPECT_EQ(sealer_.Records(kSecret), 1u);
  const auto second = Latch(kMs).sealed;
  EXPECT_NE(second, first);
  EXPECT_EQ(HeaderOf(second[0]).sequence, HeaderOf(first[0]).sequence + 1);
}

TEST_F(DeviceSealerTest, TheFirstSnapshotAfterAnExchangeHasItsRecord) {
  const GuestKeys before = Exchange();
  const auto old = Latch().sealed;
  const GuestKeys keys = Exchange();
  const auto both = Latch(kMs).sealed;
  ASSERT_EQ(both.size(), 2) << "the exchange before has its grace";
  EXPECT_EQ(HeaderOf(both[0]).guest_nonce, keys.nonce);
  EXPECT_EQ(HeaderOf(both[1]).guest_nonce, before.nonce);
  EXPECT_EQ(Open(keys, both[0].record), Open(before, both[1].record));
}

TEST_F(DeviceSealerTest, KeysAreRotatedByCountAndOnDemand) {
  const GuestKeys keys = Exchange();
  std::vector<uint64_t> epochs;
  for (int i = 0; i < 4; ++i) epochs.push_back(HeaderOf(Latch(10 * kMs).sealed[0]).epoch);
  EXPECT_EQ(epochs, (std::vector<uint64_t>{0, 0, 0, 1}));
  EXPECT_EQ(*sealer_.Rotate(kSecret), 2u);
  EXPECT_EQ(*sealer_.Rotate(kSecret), 2u) << "it has sealed nothing yet";
  const auto sealed = Latch(10 * kMs).sealed;
  EXPECT_EQ(HeaderOf(sealed[0]).epoch, 2u);
  EXPECT_EQ(Open(keys, sealed[0].record).counts[0], 200u);
  EXPECT_EQ(*sealer_.Rotate(kSecret), 2u) << "nobody spends the epochs";
  Latch(1000 * kMs);
  EXPECT_EQ(*sealer_.Rotate(kSecret), 3u);
}

TEST_F(DeviceSealerTest, BookmarksFollowTheirBlocks) {
  mailbox::Snapshot snapshot = device_.Latch();
  std::swap(snapshot.blocks[1], snapshot.blocks[3]);  // the open VM is last
  snapshot.bookmarks = {{.number = 1, .block = 1}, {.number = 2, .block = 3}, {.number = 3, .block = 0}};
  sealer_.Seal(snapshot);
  ASSERT_EQ(snapshot.bookmarks.size(), 2) << "a confidential VM's is gone";
  EXPECT_EQ(snapshot.bookmarks[0].block, 1);
  EXPECT_EQ(snapshot.blocks[snapshot.bookmarks[0].block].vm, kOpen);
  EXPECT_EQ(snapshot.bookmarks[1].block, 0);
}

TEST_F(DeviceSealerTest, TheLastRecordsCostNothing) {
  Exchange();
  const auto last = Latch().sealed;
  device_.time_ns += 500 * kMs;
  mailbox::Snapshot snapshot = device_.Latch();
  sealer_.AddLast(snapshot);
  EXPECT_EQ(snapshot.sealed, last);
  EXPECT_EQ(snapshot.blocks.size(), 2);
  EXPECT_EQ(sealer_.Records(kSecret), 1u);
}

TEST_F(DeviceSealerTest, AnExchangeLeavesTheLastRecordsUntilTheNext) {
  Exchange();
  const auto last = Latch().sealed;
  Exchange();
  mailbox::Snapshot snapshot = device_.Latch();
  sealer_.AddLast(snapshot);
  EXPECT_EQ(snapshot.sealed, last);
  EXPECT_EQ(Latch().sealed.size(), 2u) << "both exchanges have records";
}

TEST_F(DeviceSealerTest, ChallengesExpireWithoutALatch) {
  for (int i = 0; i < 64; ++i) ASSERT_TRUE(sealer_.DrawChallenge(kSecret).ok()) << i;
  EXPECT_TRUE(absl::IsResourceExhausted(sealer_.DrawChallenge(kSecret).status()));
  device_.time_ns += 61'000 * kMs;
  EXPECT_TRUE(sealer_.DrawChallenge(kSecret).ok());
}

TEST_F(DeviceSealerTest, OtherVmsHaveNoKeys) {
  for (const uint16_t vm : {uint16_t{0}, kOpen, uint16_t{9}}) {
    EXPECT_TRUE(absl::IsNotFound(sealer_.DrawChallenge(vm).status())) << vm;
    EXPECT_TRUE(absl::IsNotFound(sealer_.Rotate(vm).status())) << vm;
    EXPECT_EQ(sealer_.Records(vm), std::nullopt) << vm;
  }
  EXPECT_TRUE(absl::IsNotFound(sealer_.Rotate(kSecret).status())) << "no exchange yet";
}

TEST_F(DeviceSealerTest, AReplayIsRefusedAndChangesNothing) {
  const GuestKeys keys = Exchange();
  Latch();
  EXPECT_FALSE(sealer_.Exchange(request_).ok());
  EXPECT_FALSE(sealer_.Exchange(Bytes(200, 1)).ok());
  EXPECT_EQ(HeaderOf(Latch(10 * kMs).sealed[0]).guest_nonce, keys.nonce);
}

TEST_F(DeviceSealerTest, KeysEndWithTheirVm) {
  Exchange();
  Latch();
  const mailbox::Catalog with = device_.catalog();
  std::erase_if(device_.catalog().vms, [](const auto& vm) { return vm.id == kSecret; });
  Latch(10 * kMs);
  device_.catalog() = with;
  EXPECT_TRUE(Latch(10 * kMs).sealed.empty());
}

}  // namespace
}  // namespace sideband::mcu
