// SPDX-License-Identifier: Apache-2.0
#include "daemon/sealing/exchange_book.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "daemon/base/clock.h"
#include "daemon/sealing/seal_vms.h"
#include "daemon/sealing/sealer_set.h"
#include "proto/envelope/open.h"
#include "proto/envelope/record.h"
#include "proto/exchange/exchange_fixture.h"
#include "proto/exchange/guest_exchange.h"
#include "proto/exchange/vm_records.h"

namespace sideband::daemon {
namespace {

using exchange::ExchangeFixture;
using exchange::GuestExchange;
using exchange::GuestKeys;

constexpr uint64_t kBoot = 11;

mailbox::Catalog Catalog() {
  mailbox::Catalog catalog;
  catalog.device = ExchangeFixture::device();
  catalog.reference_clock_hz = 1'000'000'000;
  catalog.events = {{.name = "reads"}, {.name = "link", .scope = mailbox::EventScope::kDevice}, {.name = "cycles"}};
  catalog.vms = {{.id = 1, .uuid = ExchangeFixture::vm(), .name = "vm", .confidential = true, .generation = 3}};
  catalog.contexts = {{.vm = 1, .id = 4, .name = "train"}};
  return catalog;
}

mailbox::Snapshot Raw() {
  mailbox::Snapshot raw{.boot_id = kBoot, .snapshot_id = 7, .trigger_id = 9, .reference_time_ns = 1000};
  raw.counters_per_block = 3;
  raw.blocks = {{.vm = 0}, {.vm = 1, .generation = 3}, {.vm = 1, .context = 4, .generation = 1}};
  raw.counters = {1, 2, 3, 40, 0, 42, 50, 0, 52};
  return raw;
}

class ExchangeBookTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { fixture_ = new ExchangeFixture(testing::TempDir()); }

  static exchange::ExchangeTarget Target() {
    return {.device = ExchangeFixture::device(),
            .boot_id = kBoot,
            .vm = ExchangeFixture::vm(),
            .generation = 3,
            .events = exchange::VmEventNames(Catalog())};
  }

  // Both ends of an exchange.
  GuestKeys Exchange() {
    const auto challenge = book_.Draw(ExchangeFixture::device(), ExchangeFixture::vm());
    GuestExchange guest =
        *GuestExchange::Begin({.device = ExchangeFixture::device(), .vm = ExchangeFixture::vm()}, *challenge);
    const Bytes request = *guest.Request(fixture_->Evidence(*guest.GetReportData()));
    const auto answer = book_.Exchange(Target(), request);
    EXPECT_TRUE(answer.ok()) << answer.status();
    return *guest.Finish(answer->bytes,
                         {.roots = &roots_, .sealers = {exchange::SealerKind::kDaemon}, .measurements = {}},
                         clock_.Now());
  }

  std::vector<SealedVmRecord> Seal(const mailbox::Snapshot& raw) {
    return *SealVms({.name = "gpu0"}, Topology(Catalog(), raw.boot_id), raw, clock_.Now(), {*sealers_, &book_});
  }

  static ExchangeFixture* fixture_;
  FakeClock clock_{absl::Now()};
  EpochSource epochs_{clock_, [] { return uint16_t{7}; }};
  const std::unique_ptr<SealerSet> sealers_ = *SealerSet::Load({}, epochs_);
  ExchangeBook book_{*exchange::SealingRules::Load(fixture_->sealing_file()), {}, clock_};
  const CertificateRoots roots_ = *CertificateRoots::Load({fixture_->root_file()});
};
ExchangeFixture* ExchangeBookTest::fixture_ = nullptr;

TEST_F(ExchangeBookTest, TheGuestOpensWhatTheSnapshotHas) {
  EXPECT_TRUE(Seal(Raw()).empty());
  const GuestKeys keys = Exchange();
  EXPECT_TRUE(book_.HasExchange(ExchangeFixture::device(), ExchangeFixture::vm(), keys.nonce));
  const auto sealed = Seal(Raw());
  ASSERT_EQ(sealed.size(), 1);
  EXPECT_EQ(sealed[0].stream, kExchangedStream);
  const auto view = envelope::ParseRecord(*sealed[0].record);
  EXPECT_EQ(view->header.guest_nonce, keys.nonce);
  EXPECT_EQ(view->header.reference_time_ns, 1000);
  const auto session = envelope::SessionKeys::Derive(keys.secret, envelope::KeyScope::Of(view->header));
  const auto content = envelope::OpenRecord(*session, *view);
  ASSERT_TRUE(content.ok());
  const envelope::SealedCounts counts = *envelope::DecodeCounts(*content);
  EXPECT_EQ(keys.statement.events, (std::vector<std::string>{"reads", "cycles"}));
  ASSERT_EQ(counts.rows.size(), 2);
  EXPECT_EQ(counts.rows[1].name, "train");
  EXPECT_EQ(counts.Counts(0)[1], 42);
  EXPECT_EQ(counts.Counts(1)[0], 50);
  EXPECT_EQ(counts.host_time_ns, static_cast<uint64_t>(absl::ToUnixNanos(clock_.Now())));
}

TEST_F(ExchangeBookTest, ARestartOfVmOrDeviceDestroysTheKeys) {
  Exchange();
  mailbox::Snapshot raw = Raw();
  raw.blocks[1].generation = 4;
  EXPECT_TRUE(Seal(raw).empty());
  EXPECT_TRUE(Seal(Raw()).empty());
  Exchange();
  raw = Raw();
  raw.boot_id = kBoot + 1;
  EXPECT_TRUE(Seal(raw).empty());
  EXPECT_TRUE(Seal(Raw()).empty());
}

TEST_F(ExchangeBookTest, AVmThatIsGoneHasNoKeys) {
  Exchange();
  book_.KeepOnly(ExchangeFixture::device(), {});
  EXPECT_FALSE(book_.StatusOf(ExchangeFixture::device(), ExchangeFixture::vm()));
  EXPECT_TRUE(Seal(Raw()).empty());
}

TEST_F(ExchangeBookTest, RotationsOnDemandAreSeenInTheRecords) {
  Exchange();
  EXPECT_EQ(envelope::ParseRecord(*Seal(Raw())[0].record)->header.epoch, 0);
  EXPECT_EQ(*book_.Rotate(ExchangeFixture::device(), ExchangeFixture::vm()), 1);
  EXPECT_EQ(envelope::ParseRecord(*Seal(Raw())[0].record)->header.epoch, 1);
  EXPECT_TRUE(absl::IsNotFound(book_.Rotate(ExchangeFixture::device(), ExchangeFixture::other_vm()).status()));
}

TEST_F(ExchangeBookTest, AVmThatNobodyIsTrustedWithHasNoChallenge) {
  EXPECT_TRUE(book_.Serves(ExchangeFixture::vm()));
  EXPECT_FALSE(book_.Serves(ExchangeFixture::device()));
  EXPECT_TRUE(absl::IsNotFound(book_.Draw(ExchangeFixture::device(), ExchangeFixture::device()).status()));
}

}  // namespace
}  // namespace sideband::daemon
