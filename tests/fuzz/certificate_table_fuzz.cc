// SPDX-License-Identifier: Apache-2.0
//
// The certificates that come with an SEV-SNP report. They are within the table, and survive encoding.
#include <algorithm>

#include "proto/attestation/snp_evidence.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

using attestation::SnpCertificates;

constexpr size_t kEntriesBytes = 4 * 24;  // of three certificates, and the end
constexpr ByteSpan SnpCertificates::*kAll[] = {&SnpCertificates::vcek, &SnpCertificates::ask, &SnpCertificates::ark};

void CheckWithin(ByteSpan part, ByteSpan table) {
  if (part.empty()) return;
  FUZZ_CHECK(part.data() >= table.data() && part.data() + part.size() <= table.data() + table.size());
}

void CheckEncoding(const SnpCertificates& certificates) {
  const Bytes encoded = attestation::EncodeCertificateTable(certificates);
  const auto again = attestation::ParseCertificateTable(encoded);
  FUZZ_CHECK(again.ok());
  for (const auto certificate : kAll) FUZZ_CHECK(std::ranges::equal(*again.*certificate, certificates.*certificate));
}

void Check(ByteSpan table) {
  const auto certificates = attestation::ParseCertificateTable(table);
  if (!certificates.ok()) return;
  FUZZ_CHECK(table.size() <= attestation::kTableBytesMax);
  size_t bytes = kEntriesBytes;
  for (const auto certificate : kAll) {
    CheckWithin(*certificates.*certificate, table);
    bytes += (*certificates.*certificate).size();
  }
  // Certificates may overlap in a table, but not in one that is made of them.
  if (bytes <= attestation::kTableBytesMax) CheckEncoding(*certificates);
}

std::vector<Bytes> Seeds() {
  const Bytes vcek(30, 1), ask(20, 2), ark(10, 3);
  return {attestation::EncodeCertificateTable({}), attestation::EncodeCertificateTable({.vcek = vcek, .ask = ask}),
          attestation::EncodeCertificateTable({.vcek = vcek, .ask = ask, .ark = ark})};
}

int RunInput(const uint8_t* data, size_t size) {
  Check({data, size});
  return 0;
}

FUZZ_TARGET(certificate_table_fuzz);

}  // namespace
}  // namespace sideband::fuzz
