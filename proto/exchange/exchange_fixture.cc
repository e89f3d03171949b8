// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/exchange_fixture.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "proto/attestation/snp_evidence.h"
#include "proto/attestation/throwaway_psp.h"
#include "proto/base/throwaway_ca.h"

namespace sideband::exchange {
namespace {

void MustBeOk(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::abort();
}

std::string MeasurementDigits() { return std::string(2 * sizeof(attestation::Measurement), 'c'); }

std::string GuestLine(const Uuid& vm) {
  return absl::StrCat("  - {vm: ", vm.ToString(), ", measurements: [", MeasurementDigits(),
                      "], minimum_tcb: {snp: 8, microcode: 115}}\n");
}

}  // namespace

ExchangeFixture::ExchangeFixture(const std::string& folder, absl::string_view keys, const std::vector<Uuid>& more,
                                 const Uuid& sealing_device)
    : folder_(folder) {
  const auto ca = ThrowawayCa::Create(folder, "identity-ca");
  MustBeOk(ca.status());
  MustBeOk((*ca)->Issue("sealer", absl::StrCat("URI:urn:uuid:", sealing_device.ToString())));
  auto psp = attestation::ThrowawayPsp::Create(folder, {.rsa_bits = attestation::kQuickRsaBits});
  MustBeOk(psp.status());
  psp_ = *std::move(psp);
  std::ofstream file(sealing_file());
  file << "identity: {certificate: sealer.pem, key: sealer.key}\n"
       << "evidence: {sev_snp: {roots: [ark.pem]}}\n"
       << "keys: " << keys << "\n"
       << "guests:\n"
       << GuestLine(vm()) << GuestLine(other_vm());
  for (const Uuid& uuid : more) file << GuestLine(uuid);
}

Uuid ExchangeFixture::device() { return *Uuid::Parse("11111111-2222-4333-8444-555555555555"); }
Uuid ExchangeFixture::vm() { return *Uuid::Parse("6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10"); }
Uuid ExchangeFixture::other_vm() { return *Uuid::Parse("6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b11"); }

attestation::Measurement ExchangeFixture::measurement() {
  attestation::Measurement measurement;
  measurement.fill(0xCC);
  return measurement;
}

Bytes ExchangeFixture::Evidence(const attestation::ReportData& report_data) const {
  auto evidence = psp_->Report({.report_data = report_data, .measurement = measurement()});
  MustBeOk(evidence.status());
  return *std::move(evidence);
}

}  // namespace sideband::exchange
