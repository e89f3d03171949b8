// SPDX-License-Identifier: Apache-2.0
//
// The parts that an exchange needs in a test: a sealer's identity, a secure processor, and the sealing file that names
// both.
//   const ExchangeFixture fixture(testing::TempDir());
//   const SealingRules rules = *SealingRules::Load(fixture.sealing_file());
//   const Bytes evidence = fixture.Evidence(report_data);
#ifndef SIDEBAND_PROTO_EXCHANGE_EXCHANGE_FIXTURE_H_
#define SIDEBAND_PROTO_EXCHANGE_EXCHANGE_FIXTURE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/attestation/evidence.h"
#include "proto/attestation/throwaway_psp.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"

namespace sideband::exchange {

// Ends the test's process if a file cannot be written.
class ExchangeFixture {
 public:
  // Writes into the folder, which must exist. `keys` is the value of the sealing file's `keys`; `more` are VMs with the
  // policy of vm(); the identity is one of `sealing_device`.
  explicit ExchangeFixture(const std::string& folder, absl::string_view keys = "{}", const std::vector<Uuid>& more = {},
                           const Uuid& sealing_device = device());

  std::string sealing_file() const { return folder_ + "/sealing.yaml"; }
  std::string root_file() const { return folder_ + "/identity-ca.pem"; }
  // With the ark.pem, ask.pem, vcek.pem and vcek.key of the processor.
  const std::string& psp_folder() const { return folder_; }

  static Uuid device();
  static Uuid vm();
  // Another VM, with the same policy.
  static Uuid other_vm();
  static attestation::Measurement measurement();

  // The evidence of a guest with that measurement.
  Bytes Evidence(const attestation::ReportData& report_data) const;
  const attestation::ThrowawayPsp& psp() const { return *psp_; }

 private:
  const std::string folder_;
  std::unique_ptr<attestation::ThrowawayPsp> psp_;
};

}  // namespace sideband::exchange

#endif  // SIDEBAND_PROTO_EXCHANGE_EXCHANGE_FIXTURE_H_
