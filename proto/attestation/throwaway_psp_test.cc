// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/throwaway_psp.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "absl/time/clock.h"
#include "proto/attestation/snp_verifier.h"

namespace sideband::attestation {
namespace {

std::string NewFolder(const std::string& name) {
  const std::string folder = testing::TempDir() + "/" + name;
  std::filesystem::create_directory(folder);
  return folder;
}

std::unique_ptr<ThrowawayPsp> NewPsp(const std::string& folder, const VcekSubject& subject = {}) {
  return *ThrowawayPsp::Create(folder, {.rsa_bits = kQuickRsaBits, .subject = subject});
}

TEST(ThrowawayPspTest, IsTheSameAfterLoading) {
  const std::string folder = NewFolder("loaded");
  ChipId chip;
  chip.fill(0x5A);
  const TcbVersion tcb = {.boot_loader = 4, .tee = 1, .snp = 23, .microcode = 213};
  NewPsp(folder, {.tcb = tcb, .chip_id = chip});
  const auto psp = ThrowawayPsp::Load(folder);
  ASSERT_TRUE(psp.ok()) << psp.status();
  const ReportData data = {1};
  const Bytes evidence = *(*psp)->Report({.report_data = data, .measurement = {2}, .host_data = {3}});
  const auto verifier = *NewSnpVerifier({.roots = {folder + "/ark.pem"}});
  const auto claims = verifier->Verify(evidence, data, absl::Now());
  ASSERT_TRUE(claims.ok()) << claims.status();
  EXPECT_EQ(*claims, (GuestClaims{.kind = EvidenceKind::kSevSnp, .measurement = {2}, .host_data = {3}, .tcb = tcb}));
  const SnpReport report = *ParseSnpReport(ByteSpan(evidence).first(kSnpReportBytes));
  EXPECT_EQ(report.chip_id, chip);
  EXPECT_EQ(report.current_tcb, tcb);
}

TEST(ThrowawayPspTest, TheKeyIsTheOwnersAlone) {
  const std::string folder = NewFolder("mode");
  NewPsp(folder);
  struct stat file;
  ASSERT_EQ(stat((folder + "/vcek.key").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
}

TEST(ThrowawayPspTest, FailuresNameTheFile) {
  EXPECT_EQ(ThrowawayPsp::Load("/absent").status().message(), "/absent/ask.pem: No such file or directory");
  EXPECT_EQ(ThrowawayPsp::Create("/absent", {.rsa_bits = kQuickRsaBits}).status().code(), absl::StatusCode::kNotFound);
  const std::string folder = NewFolder("mixed"), other = NewFolder("other");
  NewPsp(folder);
  NewPsp(other);
  std::filesystem::copy_file(other + "/vcek.key", folder + "/vcek.key",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(ThrowawayPsp::Load(folder).status().message(), folder + "/vcek.key: not the private key of vcek.pem");
}

}  // namespace

}  // namespace sideband::attestation
