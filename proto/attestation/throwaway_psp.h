// SPDX-License-Identifier: Apache-2.0
//
// A secure processor of SEV-SNP for a demonstration or a test, for want of one: a chip's endorsement key under a test
// CA in the layout of AMD's (throwaway_snp_ca.h), which signs whatever report it is asked for. Unsuitable for other
// purposes.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto psp, ThrowawayPsp::Create(folder));
//   SIDEBAND_ASSIGN_OR_RETURN(const Bytes evidence, psp->Report({.report_data = data, .measurement = measurement}));
#ifndef SIDEBAND_PROTO_ATTESTATION_THROWAWAY_PSP_H_
#define SIDEBAND_PROTO_ATTESTATION_THROWAWAY_PSP_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/attestation/snp_report.h"
#include "proto/attestation/vcek.h"
#include "proto/base/bytes.h"
#include "proto/base/openssl.h"

namespace sideband::attestation {

// Not thread-safe.
class ThrowawayPsp {
 public:
  struct Options {
    int rsa_bits = 4096;  // kQuickRsaBits in tests
    VcekSubject subject{.tcb = {.boot_loader = 3, .tee = 0, .snp = 8, .microcode = 115}, .chip_id = {}};
  };
  // Writes FOLDER/{ark,ask,vcek}.pem and vcek.key (mode 0600). The folder must exist.
  static absl::StatusOr<std::unique_ptr<ThrowawayPsp>> Create(const std::string& folder, const Options& options);
  static absl::StatusOr<std::unique_ptr<ThrowawayPsp>> Create(const std::string& folder) { return Create(folder, {}); }
  // Errors start with the path of the file. INVALID_ARGUMENT also for a key of another certificate.
  static absl::StatusOr<std::unique_ptr<ThrowawayPsp>> Load(const std::string& folder);

  // Evidence: the report, with the chip's own values of each TCB and of the chip ID, signed; and its certificates.
  absl::StatusOr<Bytes> Report(SnpReport report) const;
  // The same without changing the report's TCB and chip ID: the lies of tests.
  absl::StatusOr<Bytes> ReportAsIs(SnpReport report) const;

 private:
  ThrowawayPsp(Bytes ask, Bytes vcek, KeyPtr key, const VcekSubject& subject)
      : ask_(std::move(ask)), vcek_(std::move(vcek)), key_(std::move(key)), subject_(subject) {}

  const Bytes ask_, vcek_;
  const KeyPtr key_;
  const VcekSubject subject_;
};

}  // namespace sideband::attestation

#endif  // SIDEBAND_PROTO_ATTESTATION_THROWAWAY_PSP_H_
