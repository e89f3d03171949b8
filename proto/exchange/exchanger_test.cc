// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/exchanger.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <optional>
#include <string>

#include "absl/time/clock.h"
#include "proto/envelope/keys.h"
#include "proto/envelope/open.h"
#include "proto/exchange/exchange_fixture.h"
#include "proto/exchange/guest_exchange.h"
#include "proto/exchange/vm_records.h"

namespace sideband::exchange {
namespace {

class SealingFileTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    fixture_ = new ExchangeFixture(testing::TempDir());
    path_ = testing::TempDir() + "/s.yaml";  // beside the files that it names
  }

  absl::StatusOr<SealingRules> Load(const std::string& text) const {
    std::ofstream(path_) << text;
    return SealingRules::Load(path_);
  }
  std::string Error(const std::string& text) const {
    const auto rules = Load(text);
    return rules.ok() ? "no error" : std::string(rules.status().message().substr(path_.size()));
  }

  static ExchangeFixture* fixture_;
  static std::string path_;
  const std::string identity_ = "identity: {certificate: sealer.pem, key: sealer.key}\n";
  const std::string evidence_ = "evidence: {sev_snp: {roots: [ark.pem], intermediates: ask.pem, vmpl_max: 1}}\n";
};
ExchangeFixture* SealingFileTest::fixture_ = nullptr;
std::string SealingFileTest::path_;

TEST_F(SealingFileTest, HasGuestsEvidenceAndRotation) {
  const auto rules = Load(identity_ + evidence_ + "guests:\n  - {vm: " + ExchangeFixture::vm().ToString() +
                          ", measurements: [" + std::string(96, 'c') + "], host_data: " + std::string(64, 'a') +
                          ", minimum_tcb: {boot_loader: 3, microcode: 115}}\n"
                          "keys: {rotate_every: 5m, rotate_records: 10, grace: 3s}\n");
  ASSERT_TRUE(rules.ok()) << rules.status();
  const attestation::GuestPolicy* const guest = rules->FindGuest(ExchangeFixture::vm());
  ASSERT_NE(guest, nullptr);
  EXPECT_EQ(guest->measurements.front(), ExchangeFixture::measurement());
  EXPECT_EQ(guest->minimum_tcb->microcode, 115);
  EXPECT_EQ((*guest->host_data)[31], 0xAA);
  EXPECT_EQ(rules->FindGuest(ExchangeFixture::other_vm()), nullptr);
  EXPECT_NE(rules->FindVerifier(attestation::EvidenceKind::kSevSnp), nullptr);
  EXPECT_EQ(rules->FindVerifier(attestation::EvidenceKind::kTest), nullptr);
  EXPECT_EQ(rules->rotation(), (KeyRotation{.every = absl::Minutes(5), .records = 10, .grace = absl::Seconds(3)}));
}

TEST_F(SealingFileTest, EveryErrorIsOneLineWithItsPlace) {
  const std::string vm = ExchangeFixture::vm().ToString();
  EXPECT_EQ(Error(evidence_), ":1: key 'identity' is missing");
  EXPECT_EQ(Error(identity_ + "evidence: {}\n"), ":2: evidence: no kind of evidence is accepted");
  EXPECT_EQ(Error(identity_ + "evidence: {test: true}\n"), ":2: evidence for tests is refused by an optimised build");
  EXPECT_EQ(Error(identity_ + evidence_ + "guests:\n  - {vm: " + vm + "}\n"), ":4: measurements: 1 to 64 are needed");
  EXPECT_EQ(Error(identity_ + evidence_ + "guests:\n  - {vm: " + vm + ", measurements: [cc]}\n"),
            ":4: must be 96 hexadecimal digits");
  const std::string guest = "  - {vm: " + vm + ", measurements: [" + std::string(96, 'c') + "]}\n";
  EXPECT_EQ(Error(identity_ + evidence_ + "guests:\n" + guest + guest), ":5: VM " + vm + " occurs twice");
  EXPECT_NE(Error("identity: {certificate: absent.pem, key: sealer.key}\n" + evidence_).find("absent.pem"),
            std::string::npos);
}

const Uuid kOneVm = *Uuid::Parse("6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10");
const Uuid kOtherVm = *Uuid::Parse("6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b11");
constexpr absl::Duration kDrawnAt = absl::Seconds(1000);

TEST(ChallengesTest, EachIsTakenOnceByItsVmInTime) {
  Challenges challenges({});
  const Challenge first = *challenges.Draw(kOneVm, kDrawnAt), second = *challenges.Draw(kOneVm, kDrawnAt);
  EXPECT_NE(first, second);
  EXPECT_FALSE(challenges.Take(kOtherVm, first, kDrawnAt));
  EXPECT_TRUE(challenges.Take(kOneVm, first, kDrawnAt));
  EXPECT_FALSE(challenges.Take(kOneVm, first, kDrawnAt));
  EXPECT_FALSE(challenges.Take(kOneVm, second, kDrawnAt + absl::Seconds(61)));
}

TEST(ChallengesTest, HalfOpenExchangesPushOutTheOldest) {
  Challenges challenges({.open_per_vm = 2});
  const Challenge first = *challenges.Draw(kOneVm, kDrawnAt);
  *challenges.Draw(kOneVm, kDrawnAt);
  const Challenge third = *challenges.Draw(kOneVm, kDrawnAt);
  EXPECT_FALSE(challenges.Take(kOneVm, first, kDrawnAt));
  EXPECT_TRUE(challenges.Take(kOneVm, third, kDrawnAt));
}

TEST(ChallengesTest, AFloodOfOneVmEndsAtItsRateAndLeavesOthersAlone) {
  Challenges challenges({.drawn_per_lifetime_max = 3});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(challenges.Draw(kOneVm, kDrawnAt).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(challenges.Draw(kOneVm, kDrawnAt).status()));
  EXPECT_TRUE(challenges.Draw(kOtherVm, kDrawnAt).ok());
  EXPECT_TRUE(challenges.Draw(kOneVm, kDrawnAt + absl::Seconds(61)).ok());
}

TEST(ChallengesTest, ADroppedVmHasNone) {
  Challenges challenges({});
  const Challenge challenge = *challenges.Draw(kOneVm, kDrawnAt);
  challenges.Drop(kOneVm);
  EXPECT_FALSE(challenges.Take(kOneVm, challenge, kDrawnAt));
}

constexpr absl::Duration kExchangedAt = absl::Seconds(100);

class ExchangeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { fixture_ = new ExchangeFixture(testing::TempDir()); }

  ExchangeTest()
      : rules_(*SealingRules::Load(fixture_->sealing_file())),
        roots_(*CertificateRoots::Load({fixture_->root_file()})),
        exchanger_(rules_, {.sealer = SealerKind::kDevice, .measurement = {9}}) {
    trust_.roots = &roots_;
  }

  static ExchangeTarget Target() {
    return {.device = ExchangeFixture::device(),
            .boot_id = 11,
            .vm = ExchangeFixture::vm(),
            .generation = 3,
            .events = {"sm_busy_cycles", "l2_reads"}};
  }

  GuestExchange Begin() {
    return *GuestExchange::Begin({.device = ExchangeFixture::device(), .vm = ExchangeFixture::vm()},
                                 *exchanger_.Draw(ExchangeFixture::vm(), kExchangedAt));
  }
  static Bytes RequestOf(GuestExchange& guest) { return *guest.Request(fixture_->Evidence(*guest.GetReportData())); }
  absl::StatusOr<Exchanged> Exchange(const Bytes& request, const ExchangeTarget& target = Target()) {
    return exchanger_.Exchange(request, target, kExchangedAt, absl::Now());
  }
  absl::StatusOr<GuestKeys> Finish(const GuestExchange& guest, ByteSpan answer) const {
    return guest.Finish(answer, trust_, absl::Now());
  }

  static ExchangeFixture* fixture_;
  const SealingRules rules_;
  const CertificateRoots roots_;
  Exchanger exchanger_;
  SealerTrust trust_;
};
ExchangeFixture* ExchangeTest::fixture_ = nullptr;

TEST_F(ExchangeTest, BothEndsHaveOneSecretAndTheGuestOpensTheRecords) {
  GuestExchange guest = Begin();
  absl::StatusOr<Exchanged> done = Exchange(RequestOf(guest));
  ASSERT_TRUE(done.ok()) << done.status();
  const absl::StatusOr<GuestKeys> keys = Finish(guest, done->answer);
  ASSERT_TRUE(keys.ok()) << keys.status();
  EXPECT_TRUE(keys->secret == done->secret);
  EXPECT_EQ(keys->nonce, done->nonce);
  EXPECT_EQ(keys->statement.events, Target().events);
  EXPECT_EQ(keys->statement.boot_id, 11);
  EXPECT_EQ(done->claims.measurement, ExchangeFixture::measurement());

  VmKeys sealing({.device = Target().device, .boot_id = 11}, rules_.rotation());
  sealing.Begin(Target().vm, 3, std::move(done->secret), done->nonce, kExchangedAt);
  const Bytes content = {1, 2, 3};
  const auto records = sealing.Seal(Target().vm, {.generation = 3, .content = content}, kExchangedAt);
  ASSERT_EQ(records->size(), 1);
  const auto view = envelope::ParseRecord(records->front().record);
  ASSERT_TRUE(view.ok());
  const auto session = envelope::SessionKeys::Derive(keys->secret, envelope::KeyScope::Of(view->header));
  const auto opened = envelope::OpenRecord(*session, *view);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(Bytes(opened->begin(), opened->end()), content);
}

TEST_F(ExchangeTest, AReplayIsRefused) {
  GuestExchange guest = Begin();
  const Bytes request = RequestOf(guest);
  ASSERT_TRUE(Exchange(request).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(Exchange(request).status()));
}

TEST_F(ExchangeTest, ALateRequestIsRefused) {
  GuestExchange guest = Begin();
  const auto late = exchanger_.Exchange(RequestOf(guest), Target(), kExchangedAt + absl::Seconds(61), absl::Now());
  EXPECT_TRUE(absl::IsPermissionDenied(late.status()));
}

TEST_F(ExchangeTest, ARequestIsOfOneVmAndOneDevice) {
  GuestExchange guest = Begin();
  const Bytes request = RequestOf(guest);
  ExchangeTarget target = Target();
  target.vm = ExchangeFixture::other_vm();
  EXPECT_TRUE(absl::IsPermissionDenied(Exchange(request, target).status()));
  target = Target();
  target.device = ExchangeFixture::vm();
  EXPECT_TRUE(absl::IsPermissionDenied(Exchange(request, target).status()));
  // Neither has used up the challenge.
  EXPECT_TRUE(Exchange(request).ok());
}

// A relay: genuine evidence of one guest in the request of another.
TEST_F(ExchangeTest, EvidenceBindsEveryFieldOfItsRequest) {
  const auto refusal = [this](const std::function<void(ExchangeRequest&)>& change) {
    GuestExchange guest = Begin();
    ExchangeRequest request = *ParseRequest(RequestOf(guest));
    change(request);
    return Exchange(EncodeRequest(request)).status();
  };
  EXPECT_TRUE(refusal([](ExchangeRequest&) {}).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(refusal([](ExchangeRequest& r) { r.public_key[0] ^= 1; })));
  EXPECT_TRUE(absl::IsPermissionDenied(refusal([](ExchangeRequest& r) { r.nonce[0] ^= 1; })));
  EXPECT_TRUE(absl::IsPermissionDenied(
      refusal([this](ExchangeRequest& r) { r.challenge = *exchanger_.Draw(ExchangeFixture::vm(), kExchangedAt); })));
  EXPECT_TRUE(absl::IsPermissionDenied(refusal([](ExchangeRequest& r) { r.kind = attestation::EvidenceKind::kTest; })));
  EXPECT_FALSE(refusal([](ExchangeRequest& r) { r.evidence.pop_back(); }).ok());
}

TEST_F(ExchangeTest, AnotherMeasurementAndAnUnknownVmAreRefused) {
  GuestExchange guest = Begin();
  attestation::Measurement other{};
  const Bytes evidence = *fixture_->psp().Report({.report_data = *guest.GetReportData(), .measurement = other});
  EXPECT_TRUE(absl::IsPermissionDenied(Exchange(*guest.Request(evidence)).status()));
  EXPECT_TRUE(absl::IsNotFound(exchanger_.Draw(ExchangeFixture::device(), kExchangedAt).status()));
}

TEST_F(ExchangeTest, APublicKeyOfSmallOrderIsRefused) {
  ExchangeRequest request{.device = Target().device, .vm = Target().vm, .nonce = {1}};
  request.challenge = *exchanger_.Draw(Target().vm, kExchangedAt);
  request.evidence = fixture_->Evidence(*ReportDataOf(request));  // the key is all zeros
  EXPECT_TRUE(absl::IsPermissionDenied(Exchange(EncodeRequest(request)).status()));
}

TEST_F(ExchangeTest, EveryFlippedBitOfAnAnswerIsRefused) {
  GuestExchange guest = Begin();
  const Bytes answer = Exchange(RequestOf(guest))->answer;
  for (size_t bit = 0; bit < 8 * answer.size(); bit += 5) {
    Bytes flipped = answer;
    flipped[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    EXPECT_FALSE(Finish(guest, flipped).ok()) << "bit " << bit;
  }
  for (size_t size = 0; size < answer.size(); size += 3) {
    EXPECT_FALSE(Finish(guest, ByteSpan(answer).first(size)).ok()) << size;
  }
}

TEST_F(ExchangeTest, AnAnswerToAnotherRequestIsRefused) {
  GuestExchange first = Begin(), second = Begin();
  const Bytes of_first = Exchange(RequestOf(first))->answer;
  RequestOf(second);
  EXPECT_TRUE(absl::IsPermissionDenied(Finish(second, of_first).status()));
  EXPECT_TRUE(Finish(first, of_first).ok());
}

TEST_F(ExchangeTest, AGuestDecidesWhichSealersItTrusts) {
  GuestExchange guest = Begin();
  const Bytes answer = Exchange(RequestOf(guest))->answer;
  trust_.sealers = {SealerKind::kDaemon};
  EXPECT_TRUE(absl::IsPermissionDenied(Finish(guest, answer).status()));
  trust_.sealers = {SealerKind::kDaemon, SealerKind::kDevice};
  trust_.measurements = {{8}};
  EXPECT_TRUE(absl::IsPermissionDenied(Finish(guest, answer).status()));
  trust_.measurements = {{8}, {9}};
  EXPECT_TRUE(Finish(guest, answer).ok());
  const CertificateRoots foreign = *CertificateRoots::Load({fixture_->psp_folder() + "/ark.pem"});
  trust_.roots = &foreign;
  EXPECT_TRUE(absl::IsPermissionDenied(Finish(guest, answer).status()));
}

TEST_F(ExchangeTest, ADevicesCertificateNamesTheDevice) {
  GuestExchange guest = *GuestExchange::Begin({.device = ExchangeFixture::vm(), .vm = ExchangeFixture::vm()},
                                              *exchanger_.Draw(ExchangeFixture::vm(), kExchangedAt));
  ExchangeTarget target = Target();
  target.device = ExchangeFixture::vm();  // not the certificate's
  const auto done = Exchange(RequestOf(guest), target);
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_TRUE(absl::IsPermissionDenied(Finish(guest, done->answer).status()));
}

}  // namespace
}  // namespace sideband::exchange
