// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/evidence.h"

#include <gtest/gtest.h>

#include <string>

namespace sideband::attestation {
namespace {

TEST(EvidenceTest, NumbersAndNamesOfKindsStay) {
  EXPECT_EQ(static_cast<uint16_t>(EvidenceKind::kTest), 1);
  EXPECT_EQ(static_cast<uint16_t>(EvidenceKind::kSevSnp), 2);
  EXPECT_STREQ(EvidenceName(EvidenceKind::kTest), "test");
  EXPECT_STREQ(EvidenceName(EvidenceKind::kSevSnp), "sev_snp");
  EXPECT_STREQ(EvidenceName(EvidenceKind{0}), "unknown");
}

TEST(EvidenceTest, EveryBitOfTheReportDataBinds) {
  const ReportData expected = {1, 2, 3};
  EXPECT_TRUE(IsBoundTo(expected, expected));
  for (size_t bit = 0; bit < 8 * expected.size(); ++bit) {
    ReportData found = expected;
    found[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    EXPECT_FALSE(IsBoundTo(expected, found)) << bit;
  }
}

const GuestClaims kClaims = {.kind = EvidenceKind::kSevSnp,
                             .measurement = {1},
                             .host_data = {2},
                             .tcb = {.boot_loader = 3, .tee = 2, .snp = 8, .microcode = 115}};

// "" if the guest is allowed.
std::string Refusal(const GuestPolicy& policy) {
  const absl::Status status = CheckGuest(kClaims, policy);
  EXPECT_TRUE(status.ok() || absl::IsPermissionDenied(status)) << status;
  return std::string(status.message());
}

TEST(GuestPolicyTest, TellsWhichRuleIsBroken) {
  constexpr char kMeasurement[] = "the guest's measurement is not on the list";
  constexpr char kFirmware[] = "the platform's firmware is older than the policy allows";
  constexpr char kHostData[] = "the guest's host data is not the required one";
  constexpr char kKind[] = "this kind of evidence is not allowed";
  const struct {
    const char* what;
    GuestPolicy policy;
    const char* refusal;
  } rows[] = {
      {"no measurement is allowed", {}, kMeasurement},
      {"another measurement", {.measurements = {{9}}}, kMeasurement},
      {"the only measurement", {.measurements = {{1}}}, ""},
      {"the last of several", {.measurements = {{9}, {8}, {1}}}, ""},
      {"firmware of exactly this version",
       {.measurements = {{1}}, .minimum_tcb = TcbVersion{.boot_loader = 3, .tee = 2, .snp = 8, .microcode = 115}},
       ""},
      {"any firmware", {.measurements = {{1}}, .minimum_tcb = TcbVersion{}}, ""},
      {"a later boot loader", {.measurements = {{1}}, .minimum_tcb = TcbVersion{.boot_loader = 4}}, kFirmware},
      {"a later TEE", {.measurements = {{1}}, .minimum_tcb = TcbVersion{.tee = 3}}, kFirmware},
      {"later SNP firmware", {.measurements = {{1}}, .minimum_tcb = TcbVersion{.snp = 9}}, kFirmware},
      {"later microcode", {.measurements = {{1}}, .minimum_tcb = TcbVersion{.microcode = 116}}, kFirmware},
      {"one later component among earlier ones",
       {.measurements = {{1}}, .minimum_tcb = TcbVersion{.boot_loader = 1, .tee = 1, .snp = 9, .microcode = 1}},
       kFirmware},
      {"the host data", {.measurements = {{1}}, .host_data = HostData{2}}, ""},
      {"other host data", {.measurements = {{1}}, .host_data = HostData{3}}, kHostData},
      {"host data of zeros is required, too", {.measurements = {{1}}, .host_data = HostData{}}, kHostData},
      {"the kind of evidence", {.measurements = {{1}}, .kinds = {EvidenceKind::kTest, EvidenceKind::kSevSnp}}, ""},
      {"another kind of evidence", {.measurements = {{1}}, .kinds = {EvidenceKind::kTest}}, kKind},
  };
  for (const auto& row : rows) EXPECT_EQ(Refusal(row.policy), row.refusal) << row.what;
}

}  // namespace

}  // namespace sideband::attestation
