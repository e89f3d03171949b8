// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/sealing_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "proto/exchange/exchange_fixture.h"

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

}  // namespace
}  // namespace sideband::exchange
