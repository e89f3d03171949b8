// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/sealed_subscription.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "absl/time/clock.h"
#include "daemon/sealing/exchange_book.h"
#include "daemon/view/fake_world.h"
#include "proto/envelope/record.h"
#include "proto/exchange/exchange_fixture.h"
#include "proto/exchange/guest_exchange.h"
#include "proto/exchange/vm_content.h"

namespace sideband::daemon {
namespace {

class SealedSubscriptionTest : public testing::Test {
 protected:
  SealedSubscriptionTest() { world_.Publish(0, 1); }

  SealedSubscription Open(const std::string& who, const std::string& device, const std::string& vm,
                          const std::string& nonce = "") {
    sideband::v1::SubscribeSealedRequest request;
    request.set_nonce(nonce);
    request.set_device(device);
    request.set_vm(vm);
    return SealedSubscription(world_.reader, sealers_.get(), nullptr, CredentialsOf(who), request);
  }

  static std::string Describe(const StreamStep<SealedSubscription::Message>& step) {
    if (std::holds_alternative<StreamWait>(step)) return "wait";
    if (const auto* end = std::get_if<StreamEnd>(&step)) return absl::StatusCodeToString(end->status.code());
    return std::get<SealedSubscription::Message>(step).record();
  }

  static std::unique_ptr<SealerSet> Load(EpochSource& epochs) {
    const std::string path = testing::TempDir() + "/secret.key";
    std::ofstream(path) << std::string(64, '7') << "\n";
    ::chmod(path.c_str(), 0600);
    return *SealerSet::Load({{*Uuid::Parse(kSecretUuid), path}}, epochs);
  }

  // Publishes a snapshot with newly sealed records, as the collector does.
  void PublishSealed(uint64_t publication) {
    auto snapshot = std::make_shared<DeviceSnapshot>(*world_.store.Newest(0));
    snapshot->publication = publication;
    snapshot->sealed.clear();
    const Uuid vm = *Uuid::Parse(kSecretUuid);
    auto records = sealers_->Seal(snapshot->topology->catalog().device, vm, {.boot_id = 1});
    ASSERT_TRUE(records.ok()) << records.status();
    for (StreamRecord& of : *records) {
      snapshot->sealed.push_back({vm, of.stream, std::make_shared<const Bytes>(std::move(of.record))});
    }
    world_.store.Publish(0, std::move(snapshot));
  }

  static envelope::RecordHeader HeaderOf(const StreamStep<SealedSubscription::Message>& step) {
    return envelope::ParseRecord(AsBytes(std::get<SealedSubscription::Message>(step).record()))->header;
  }

  FakeWorld world_;
  EpochSource epochs_{world_.clock, [] { return uint16_t{5}; }};
  const std::unique_ptr<SealerSet> sealers_ = Load(epochs_);
};

TEST_F(SealedSubscriptionTest, EachRecordOnceTheNewestFirst) {
  for (const char* name : {"secret", kSecretUuid}) {
    SealedSubscription subscription = Open("tenant-c", "gpu0", name);
    const uint64_t first = world_.store.Newest(0)->publication;
    EXPECT_EQ(Describe(subscription.Next()), "sealed-" + std::to_string(first));
    EXPECT_EQ(Describe(subscription.Next()), "wait");
    world_.Publish(0, first + 2);
    EXPECT_EQ(Describe(subscription.Next()), "sealed-" + std::to_string(first + 2));
  }
}

TEST_F(SealedSubscriptionTest, EverythingElseIsNotFound) {
  EXPECT_EQ(Describe(Open("ops", "gpu0", "secret").Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(Open("tenant-a", "gpu0", "secret").Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(Open("tenant-a", "gpu0", "vm0").Next()), "NOT_FOUND") << "not confidential";
  EXPECT_EQ(Describe(Open("tenant-c", "gpu1", "secret").Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(Open("tenant-c", "gpu0", "").Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(Open("stranger", "gpu0", "secret").Next()), "UNAUTHENTICATED");
}

TEST_F(SealedSubscriptionTest, WithoutADeviceTheVmIsLookedFor) {
  const uint64_t first = world_.store.Newest(0)->publication;
  EXPECT_EQ(Describe(Open("tenant-c", "", "secret").Next()), "sealed-" + std::to_string(first));
  EXPECT_EQ(Describe(Open("tenant-a", "", "secret").Next()), "NOT_FOUND");
}

TEST_F(SealedSubscriptionTest, ARecordThatIsNotMadeYetIsWaitedFor) {
  auto without = std::make_shared<DeviceSnapshot>(*world_.store.Newest(0));
  without->sealed.clear();
  world_.store.Publish(0, without);
  SealedSubscription subscription = Open("tenant-c", "gpu0", "secret");
  EXPECT_EQ(Describe(subscription.Next()), "wait");
  world_.Publish(0, 2);
  EXPECT_EQ(Describe(subscription.Next()), "sealed-2");
}

TEST_F(SealedSubscriptionTest, AVmWithoutAKeyEndsTheStream) {
  const auto keyless = *SealerSet::Load({}, epochs_);
  for (const std::string& nonce : {std::string(), std::string(envelope::kGuestNonceBytes, 'n')}) {
    sideband::v1::SubscribeSealedRequest request;
    request.set_vm("secret");
    request.set_nonce(nonce);
    const auto describe = [&](const char* who) {
      return Describe(SealedSubscription(world_.reader, keyless.get(), nullptr, CredentialsOf(who), request).Next());
    };
    EXPECT_EQ(describe("tenant-c"), "FAILED_PRECONDITION");
    EXPECT_EQ(describe("tenant-a"), "NOT_FOUND") << "another tenant learns nothing about the key";
  }
}

TEST_F(SealedSubscriptionTest, WithANonceTheRecordsAreTheStreamsOwn) {
  const std::string nonce(envelope::kGuestNonceBytes, 'n');
  SealedSubscription own = Open("tenant-c", "gpu0", "secret", nonce), shared = Open("tenant-c", "gpu0", "secret");
  PublishSealed(10);
  EXPECT_EQ(HeaderOf(shared.Next()).version(), envelope::kRecordVersion1);
  EXPECT_EQ(Describe(own.Next()), "wait") << "what was sealed before is not for it";
  for (const uint64_t sequence : {0, 1}) {
    PublishSealed(11 + sequence);
    const envelope::RecordHeader header = HeaderOf(own.Next());
    EXPECT_EQ(header.sequence, sequence) << "no gap from its beginning on";
    ASSERT_TRUE(header.guest_nonce.has_value());
    EXPECT_EQ(std::string(header.guest_nonce->begin(), header.guest_nonce->end()), nonce);
    EXPECT_EQ(Describe(own.Next()), "wait");
  }
  EXPECT_EQ(HeaderOf(shared.Next()).sequence, 2u);
}

TEST_F(SealedSubscriptionTest, AStreamThatEndsIsSealedForNoLonger) {
  {
    SealedSubscription own = Open("tenant-c", "gpu0", "secret", std::string(envelope::kGuestNonceBytes, 'n'));
    own.Next();
    PublishSealed(2);
    EXPECT_EQ(world_.store.Newest(0)->sealed.size(), 2u);
    const SealedSubscription moved = std::move(own);  // as StreamReactor's constructor does
    PublishSealed(3);
    EXPECT_EQ(world_.store.Newest(0)->sealed.size(), 2u);
  }
  PublishSealed(4);
  EXPECT_EQ(world_.store.Newest(0)->sealed.size(), 1u);
}

TEST_F(SealedSubscriptionTest, ANonceIsOfOneLengthAndNotNothing) {
  const std::string nonce(envelope::kGuestNonceBytes, 'n');
  for (const std::string& bad :
       {nonce.substr(1), nonce + "n", std::string("n"), std::string(envelope::kGuestNonceBytes, '\0')}) {
    EXPECT_EQ(Describe(Open("tenant-c", "gpu0", "secret", bad).Next()), "INVALID_ARGUMENT");
    EXPECT_EQ(Describe(Open("stranger", "gpu0", "secret", bad).Next()), "UNAUTHENTICATED");
  }
  EXPECT_EQ(Describe(Open("tenant-a", "gpu0", "secret", nonce).Next()), "NOT_FOUND");
  std::vector<SealedSubscription> streams;
  for (size_t i = 0; i <= kNonceStreamsPerVmMax; ++i) {
    streams.push_back(Open("tenant-c", "gpu0", "secret", nonce));
    EXPECT_EQ(Describe(streams.back().Next()), i < kNonceStreamsPerVmMax ? "wait" : "RESOURCE_EXHAUSTED");
  }
}

TEST_F(SealedSubscriptionTest, ARightThatIsTakenEndsTheStream) {
  SealedSubscription subscription = Open("tenant-c", "gpu0", "secret");
  subscription.Next();
  world_.policy.Replace(
      *Policy::Parse("version: 1\n"
                     "tenants:\n"
                     "  - name: c\n"
                     "    identities: ['spiffe://example.org/tenant-c']\n"
                     "    vms: [{uuid: 00000000-0000-0000-0000-0000000000a2}]\n",
                     "policy.yaml"));
  EXPECT_EQ(Describe(subscription.Next()), "NOT_FOUND");
}

// A VM whose guest has exchanged keys with the daemon.
class ExchangedSubscriptionTest : public SealedSubscriptionTest {
 protected:
  static std::unique_ptr<exchange::ExchangeFixture> Fixture() {
    return std::make_unique<exchange::ExchangeFixture>(testing::TempDir(), "{}",
                                                       std::vector<Uuid>{*Uuid::Parse(kSecretUuid)});
  }

  // Returns the exchange's nonce.
  std::string Exchange() {
    const mailbox::Catalog& catalog = world_.topology->catalog();
    const exchange::ExchangeTarget target{
        .device = catalog.device, .boot_id = 1, .vm = vm_, .generation = 0, .events = exchange::VmEventNames(catalog)};
    auto guest =
        *exchange::GuestExchange::Begin({.device = catalog.device, .vm = vm_}, *book_.Draw(catalog.device, vm_));
    const Bytes request = *guest.Request(fixture_->Evidence(*guest.GetReportData()));
    const auto answer = book_.Exchange(target, request);
    const CertificateRoots roots = *CertificateRoots::Load({fixture_->root_file()});
    const auto keys = guest.Finish(
        answer->bytes, {.roots = &roots, .sealers = {exchange::SealerKind::kDaemon}, .measurements = {}}, std::nullopt);
    return std::string(keys->nonce.begin(), keys->nonce.end());
  }

  void Publish(uint64_t publication) {
    auto snapshot = std::make_shared<DeviceSnapshot>(*world_.store.Newest(0));
    snapshot->publication = publication;
    snapshot->sealed.clear();
    auto records = book_.Seal({snapshot->topology->catalog().device, 1, vm_}, {.generation = 0});
    for (exchange::SealedNow& one : *records) {
      snapshot->sealed.push_back({vm_, kExchangedStream, std::make_shared<const Bytes>(std::move(one.record))});
    }
    world_.store.Publish(0, std::move(snapshot));
  }

  SealedSubscription OpenExchanged(const std::string& who, const std::string& nonce) {
    sideband::v1::SubscribeSealedRequest request;
    request.set_vm("secret");
    request.set_nonce(nonce);
    return SealedSubscription(world_.reader, sealers_.get(), &book_, CredentialsOf(who), request);
  }

  const Uuid vm_ = *Uuid::Parse(kSecretUuid);
  const std::unique_ptr<exchange::ExchangeFixture> fixture_ = Fixture();
  FakeClock today_{absl::Now()};  // when the fixture's certificates are valid
  ExchangeBook book_{*exchange::SealingRules::Load(fixture_->sealing_file()), {}, today_};
};

TEST_F(ExchangedSubscriptionTest, AStreamHasTheRecordsOfItsExchangeUntilThatEnds) {
  const std::string first = Exchange(), second = Exchange();
  SealedSubscription of_first = OpenExchanged("tenant-c", first), of_second = OpenExchanged("tenant-c", second);
  Publish(10);
  EXPECT_EQ(HeaderOf(of_first.Next()).sequence, 0);
  const envelope::RecordHeader header = HeaderOf(of_second.Next());
  EXPECT_EQ(std::string(header.guest_nonce->begin(), header.guest_nonce->end()), second);
  EXPECT_EQ(header.suite, envelope::kSuiteHpke);
  EXPECT_EQ(Describe(of_second.Next()), "wait");
  book_.KeepOnly(world_.topology->catalog().device, {});
  EXPECT_EQ(Describe(of_second.Next()), "FAILED_PRECONDITION");
}

TEST_F(ExchangedSubscriptionTest, OthersDoNotLearnOfAnExchange) {
  const std::string nonce = Exchange();
  Publish(10);
  EXPECT_EQ(Describe(OpenExchanged("tenant-a", nonce).Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(OpenExchanged("ops", nonce).Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(OpenExchanged("stranger", nonce).Next()), "UNAUTHENTICATED");
}

}  // namespace
}  // namespace sideband::daemon
