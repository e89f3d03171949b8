// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/snp_verifier.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "proto/attestation/snp_evidence.h"
#include "proto/attestation/throwaway_psp.h"
#include "proto/base/bytes.h"

namespace sideband::attestation {
namespace {

std::string WritePem(const std::string& name, X509& certificate) {
  const std::string path = testing::TempDir() + "/" + name;
  const BioPtr file(BIO_new_file(path.c_str(), "w"));
  PEM_write_bio_X509(file.get(), &certificate);
  return path;
}

class SnpChainTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ca_ = ThrowawaySnpCa::Create(kQuickRsaBits)->release();
    other_ca_ = ThrowawaySnpCa::Create(kQuickRsaBits)->release();
  }
  static void TearDownTestSuite() {
    delete ca_;
    delete other_ca_;
  }

  static Bytes Issue(const char* curve, const ThrowawaySnpCa::Deviation& deviation = {}) {
    const KeyPtr key(EVP_EC_gen(curve));
    return ToDer(**ca_->IssueVcek(key.get(), {}, deviation));
  }
  static SnpChain Chain(const std::string& ask_file = "") {
    return *SnpChain::Load({WritePem("chain-ark.pem", ca_->ark())}, ask_file);
  }
  static absl::Status Verify(const SnpChain& chain, ByteSpan vcek, ByteSpan ask) {
    return chain.Verify({.vcek = vcek, .ask = ask}, absl::Now()).status();
  }
  // The reason of a denial; "" if the chain is trusted.
  static std::string Refusal(const SnpChain& chain, ByteSpan vcek, ByteSpan ask) {
    const absl::Status status = Verify(chain, vcek, ask);
    EXPECT_TRUE(status.ok() || absl::IsPermissionDenied(status)) << status;
    return std::string(status.message());
  }

  static ThrowawaySnpCa* ca_;
  static ThrowawaySnpCa* other_ca_;
  const Bytes ask_ = ToDer(ca_->ask()), ark_ = ToDer(ca_->ark());
};
ThrowawaySnpCa* SnpChainTest::ca_ = nullptr;
ThrowawaySnpCa* SnpChainTest::other_ca_ = nullptr;

TEST_F(SnpChainTest, ReturnsTheVcek) {
  const Bytes vcek = Issue("P-384");
  const auto verified = Chain().Verify({.vcek = vcek, .ask = ask_}, absl::Now());
  ASSERT_TRUE(verified.ok()) << verified.status();
  EXPECT_EQ(ToDer(**verified), vcek);
}

TEST_F(SnpChainTest, TheAskIsOfTheEvidenceOrTheVerifiersOwn) {
  const Bytes vcek = Issue("P-384");
  const Bytes other_ask = ToDer(other_ca_->ask());
  EXPECT_EQ(Refusal(Chain(), vcek, {}), "the VCEK is not trusted: there is no ASK of its issuer's name");
  EXPECT_EQ(Refusal(Chain(WritePem("ask.pem", ca_->ask())), vcek, {}), "");
  // This ASK has the name of the right one, but another key.
  EXPECT_EQ(Refusal(Chain(), vcek, other_ask), "the VCEK is not trusted: certificate signature failure");
  EXPECT_EQ(Refusal(Chain(WritePem("other-ask.pem", other_ca_->ask())), vcek, ask_), "");
}

TEST_F(SnpChainTest, RefusesAnotherRoot) {
  const SnpChain chain = *SnpChain::Load({WritePem("other-ark.pem", other_ca_->ark())}, "");
  EXPECT_NE(Refusal(chain, Issue("P-384"), ask_), "");
}

TEST_F(SnpChainTest, TheRootOfTheEvidenceIsNotTrusted) {
  const SnpChain chain = *SnpChain::Load({WritePem("other-ark.pem", other_ca_->ark())}, "");
  EXPECT_FALSE(chain.Verify({.vcek = Issue("P-384"), .ask = ask_, .ark = ark_}, absl::Now()).ok());
}

TEST_F(SnpChainTest, ThereAreThreeCertificates) {
  const Bytes vcek = Issue("P-384", {.is_issued_by_ark = true});
  for (const Bytes& ask : {ask_, ark_, Bytes()}) {
    EXPECT_EQ(Refusal(Chain(), vcek, ask), "the VCEK is not trusted: there is no ASK of its issuer's name");
  }
}

TEST_F(SnpChainTest, OnlyP384AndPss) {
  EXPECT_EQ(Refusal(Chain(), Issue("P-256"), ask_), "the VCEK is not trusted: its key is not on P-384");
  EXPECT_EQ(Refusal(Chain(), Issue("P-521"), ask_), "the VCEK is not trusted: its key is not on P-384");
  const KeyPtr rsa(EVP_RSA_gen(kQuickRsaBits));
  const Bytes rsa_vcek = ToDer(**ca_->IssueVcek(rsa.get(), {}));
  EXPECT_EQ(Refusal(Chain(), rsa_vcek, ask_), "the VCEK is not trusted: its key is not on P-384");
  EXPECT_EQ(Refusal(Chain(), Issue("P-384", {.is_signed_by_pkcs1 = true}), ask_),
            "the VCEK is not trusted: a certificate is not signed by RSASSA-PSS with SHA-384");
}

TEST_F(SnpChainTest, TimeCountsWhereThereIsOne) {
  const Bytes vcek = Issue("P-384");
  const SnpChain chain = Chain();
  const absl::Time now = absl::Now();
  EXPECT_TRUE(chain.Verify({.vcek = vcek, .ask = ask_}, now + absl::Hours(29 * 24)).ok());
  for (const absl::Time then : {now - absl::Hours(2 * 24), now + absl::Hours(31 * 24), absl::UnixEpoch()}) {
    EXPECT_TRUE(absl::IsPermissionDenied(chain.Verify({.vcek = vcek, .ask = ask_}, then).status())) << then;
  }
  EXPECT_TRUE(chain.Verify({.vcek = vcek, .ask = ask_}, std::nullopt).ok());
}

TEST_F(SnpChainTest, EveryFlippedByteAndEveryCutIsRefused) {
  const SnpChain chain = Chain();
  const Bytes vcek = Issue("P-384");
  for (size_t i = 0; i < vcek.size(); ++i) {
    Bytes flipped = vcek;
    flipped[i] ^= 0x10;
    EXPECT_FALSE(Verify(chain, flipped, ask_).ok()) << i;
    EXPECT_TRUE(absl::IsInvalidArgument(Verify(chain, ByteSpan(vcek).first(i), ask_))) << i;
  }
  for (size_t i = 0; i < ask_.size(); ++i) {
    Bytes flipped = ask_;
    flipped[i] ^= 0x10;
    EXPECT_FALSE(Verify(chain, vcek, flipped).ok()) << i;
  }
  Bytes longer = vcek;
  longer.push_back(0);
  EXPECT_TRUE(absl::IsInvalidArgument(Verify(chain, longer, ask_)));
}

TEST_F(SnpChainTest, FilesAreNamedInErrors) {
  EXPECT_EQ(SnpChain::Load({"/absent.pem"}, "").status().message(), "/absent.pem: No such file or directory");
  const std::string ark = WritePem("chain-ark.pem", ca_->ark());
  EXPECT_EQ(SnpChain::Load({ark}, "/absent.pem").status().message(), "/absent.pem: No such file or directory");
}

ChipId Chip(uint8_t byte) {
  ChipId chip;
  chip.fill(byte);
  return chip;
}

class SnpVerifierTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new std::string(testing::TempDir() + "/psp");
    mkdir(folder_->c_str(), 0700);
    ThrowawayPsp::Options options{.rsa_bits = kQuickRsaBits};
    options.subject.chip_id = Chip(7);
    psp_ = ThrowawayPsp::Create(*folder_, options)->release();
  }
  void SetUp() override {
    verifier_ = *NewSnpVerifier({.roots = {*folder_ + "/ark.pem"}});
    report_.report_data.fill(0xAB);
    report_.measurement.fill(0xCD);
    report_.host_data.fill(0xEF);
  }

  absl::StatusOr<GuestClaims> Verify(ByteSpan evidence) const {
    return verifier_->Verify(evidence, report_.report_data, absl::Now());
  }
  // The reason why a signed report is refused.
  std::string Refusal(const std::function<void(SnpReport&)>& change) const {
    SnpReport report = report_;
    report.reported_tcb = {.boot_loader = 3, .tee = 0, .snp = 8, .microcode = 115};
    report.chip_id = Chip(7);
    change(report);
    const auto verified = Verify(*psp_->ReportAsIs(report));
    return verified.ok() ? "accepted" : std::string(verified.status().message());
  }

  static std::string* folder_;
  static ThrowawayPsp* psp_;
  std::unique_ptr<Verifier> verifier_;
  SnpReport report_;
};
std::string* SnpVerifierTest::folder_ = nullptr;
ThrowawayPsp* SnpVerifierTest::psp_ = nullptr;

TEST_F(SnpVerifierTest, ClaimsAreThoseOfTheReport) {
  const auto claims = Verify(*psp_->Report(report_));
  ASSERT_TRUE(claims.ok()) << claims.status();
  EXPECT_EQ(*claims, (GuestClaims{.kind = EvidenceKind::kSevSnp,
                                  .measurement = report_.measurement,
                                  .host_data = report_.host_data,
                                  .tcb = {.boot_loader = 3, .tee = 0, .snp = 8, .microcode = 115}}));
}

TEST_F(SnpVerifierTest, EveryFlippedByteOfTheReportIsRefused) {
  const Bytes evidence = *psp_->Report(report_);
  for (size_t bit = 0; bit < 8 * kSnpReportBytes; bit += 3) {
    Bytes flipped = evidence;
    flipped[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    EXPECT_FALSE(Verify(flipped).ok()) << "bit " << bit;
  }
}

TEST_F(SnpVerifierTest, RefusesWhatItsHostOrAnotherCouldHaveMade) {
  EXPECT_EQ(Refusal([](SnpReport&) {}), "accepted");
  EXPECT_EQ(Refusal([](SnpReport& r) { r.policy |= kSnpPolicyDebug; }), "the host may debug the guest");
  EXPECT_EQ(Refusal([](SnpReport& r) { r.policy |= kSnpPolicyMigrate; }), "the host may migrate the guest");
  EXPECT_EQ(Refusal([](SnpReport& r) { r.policy &= ~kSnpPolicyReserved; }),
            "the guest's policy is none: bit 17 is not 1");
  EXPECT_EQ(Refusal([](SnpReport& r) { r.vmpl = 0xFFFFFFFF; }), "the guest's software has too little privilege");
  EXPECT_EQ(Refusal([](SnpReport& r) { r.vmpl = 1; }), "the guest's software has too little privilege");
  for (uint8_t TcbVersion::*const component :
       {&TcbVersion::boot_loader, &TcbVersion::tee, &TcbVersion::snp, &TcbVersion::microcode}) {
    EXPECT_EQ(Refusal([&](SnpReport& r) { ++(r.reported_tcb.*component); }),
              "the VCEK is of other firmware than the report");
  }
  EXPECT_EQ(Refusal([](SnpReport& r) { r.chip_id = Chip(8); }), "the VCEK is of another chip than the report");
  EXPECT_EQ(Refusal([](SnpReport& r) { r.report_data[63] ^= 1; }), "the report is bound to something else");
  constexpr char kOtherSignature[] = "the report is not signed by a VCEK with ECDSA P-384 and SHA-384";
  EXPECT_EQ(Refusal([](SnpReport& r) { r.signature_algorithm = 0; }), kOtherSignature);
  EXPECT_EQ(Refusal([](SnpReport& r) { r.signature_algorithm = 2; }), kOtherSignature);
  EXPECT_EQ(Refusal([](SnpReport& r) { r.flags = 1 << 2; }), kOtherSignature);
  EXPECT_EQ(Refusal([](SnpReport& r) { r.version = 9; }), "SEV-SNP report of an unknown version");
}

// A host may launch a guest under old firmware, or keep the right to go back to it.
TEST_F(SnpVerifierTest, TheClaimedTcbIsTheOldestOfTheReport) {
  const TcbVersion whole = {.boot_loader = 3, .tee = 0, .snp = 8, .microcode = 115};
  for (TcbVersion SnpReport::*const tcb :
       {&SnpReport::launch_tcb, &SnpReport::current_tcb, &SnpReport::committed_tcb}) {
    for (const TcbVersion& old : {TcbVersion{}, TcbVersion{3, 0, 7, 115}, TcbVersion{4, 1, 9, 114}}) {
      SnpReport report = report_;
      report.chip_id = Chip(7);
      report.reported_tcb = report.launch_tcb = report.current_tcb = report.committed_tcb = whole;
      report.*tcb = old;
      const auto claims = Verify(*psp_->ReportAsIs(report));
      ASSERT_TRUE(claims.ok()) << claims.status();
      EXPECT_FALSE(claims->tcb.IsAtLeast(whole));
      EXPECT_TRUE(claims->tcb.IsAtLeast({.snp = old.snp == 0 ? uint8_t{0} : uint8_t{7}}));
    }
  }
}

TEST_F(SnpVerifierTest, ALowerPrivilegeCanBeAllowed) {
  verifier_ = *NewSnpVerifier({.roots = {*folder_ + "/ark.pem"}, .vmpl_max = 2});
  EXPECT_EQ(Refusal([](SnpReport& r) { r.vmpl = 2; }), "accepted");
  EXPECT_NE(Refusal([](SnpReport& r) { r.vmpl = 3; }), "accepted");
  EXPECT_TRUE(absl::IsInvalidArgument(NewSnpVerifier({.roots = {*folder_ + "/ark.pem"}, .vmpl_max = 4}).status()));
}

TEST_F(SnpVerifierTest, AnotherRootRefusesAndTimeCountsWhereThereIsOne) {
  const std::string other = testing::TempDir() + "/other-psp";
  mkdir(other.c_str(), 0700);
  ASSERT_TRUE(ThrowawayPsp::Create(other, {.rsa_bits = kQuickRsaBits}).ok());
  const Bytes evidence = *psp_->Report(report_);
  EXPECT_FALSE((*NewSnpVerifier({.roots = {other + "/ark.pem"}}))->Verify(evidence, report_.report_data, {}).ok());
  const absl::Time late = absl::Now() + absl::Hours(24 * 60);
  EXPECT_FALSE(verifier_->Verify(evidence, report_.report_data, late).ok());
  EXPECT_TRUE(verifier_->Verify(evidence, report_.report_data, std::nullopt).ok());
}

TEST_F(SnpVerifierTest, TheAskMayBeTheVerifiersOwn) {
  const Bytes evidence = *psp_->Report(report_);
  const SnpCertificates both = *ParseCertificateTable(ByteSpan(evidence).subspan(kSnpReportBytes));
  ByteWriter alone;
  alone.Raw(ByteSpan(evidence).first(kSnpReportBytes));
  alone.Raw(EncodeCertificateTable({.vcek = both.vcek, .ask = {}}));
  EXPECT_FALSE(Verify(alone.written()).ok());
  verifier_ = *NewSnpVerifier({.roots = {*folder_ + "/ark.pem"}, .intermediates = *folder_ + "/ask.pem"});
  EXPECT_TRUE(Verify(alone.written()).ok());
}

TEST_F(SnpVerifierTest, EveryTruncationIsRefused) {
  const Bytes evidence = *psp_->Report(report_);
  for (size_t size = 0; size < evidence.size(); ++size) {
    EXPECT_FALSE(Verify(ByteSpan(evidence).first(size)).ok()) << size;
  }
}

TEST_F(SnpVerifierTest, AReportIsNotSignedByTheCertificateOfItsSigner) {
  const Bytes evidence = *psp_->Report(report_);
  const SnpCertificates both = *ParseCertificateTable(ByteSpan(evidence).subspan(kSnpReportBytes));
  ByteWriter swapped;
  swapped.Raw(ByteSpan(evidence).first(kSnpReportBytes));
  swapped.Raw(EncodeCertificateTable({.vcek = both.ask, .ask = both.vcek}));
  EXPECT_EQ(Verify(swapped.written()).status().message(), "the VCEK is not trusted: its key is not on P-384");
}

TEST_F(SnpVerifierTest, AReportOfAnotherVmIsNotAccepted) {
  const Bytes evidence = *psp_->Report(report_);
  ReportData other = report_.report_data;
  other[0] ^= 1;
  const absl::Status status = verifier_->Verify(evidence, other, absl::Now()).status();
  EXPECT_TRUE(absl::IsPermissionDenied(status));
  EXPECT_EQ(status.message(), "the report is bound to something else");
}

TEST_F(SnpVerifierTest, AReportNeedsItsOwnChipsKey) {
  const std::string other = testing::TempDir() + "/second-psp";
  mkdir(other.c_str(), 0700);
  ThrowawayPsp::Options options{.rsa_bits = kQuickRsaBits};
  options.subject.chip_id = Chip(7);
  const Bytes theirs = *(*ThrowawayPsp::Create(other, options))->Report(report_);
  ByteWriter mixed;
  mixed.Raw(ByteSpan(theirs).first(kSnpReportBytes));
  mixed.Raw(ByteSpan(*psp_->Report(report_)).subspan(kSnpReportBytes));
  EXPECT_EQ(Verify(mixed.written()).status().message(), "the report is not signed by its VCEK");
}

TEST_F(SnpVerifierTest, MalformedBytesAreToldFromDenials) {
  const Bytes evidence = *psp_->Report(report_);
  EXPECT_TRUE(absl::IsInvalidArgument(Verify({}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Verify(ByteSpan(evidence).first(kSnpReportBytes)).status()));
  ByteWriter no_certificates;
  no_certificates.Raw(ByteSpan(evidence).first(kSnpReportBytes));
  no_certificates.Raw(EncodeCertificateTable({}));
  EXPECT_TRUE(absl::IsInvalidArgument(Verify(no_certificates.written()).status()));
}

TEST_F(SnpVerifierTest, FilesAreNamedInErrors) {
  EXPECT_EQ(NewSnpVerifier({.roots = {"/absent.pem"}}).status().message(), "/absent.pem: No such file or directory");
}

}  // namespace

}  // namespace sideband::attestation
