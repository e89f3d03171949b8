// SPDX-License-Identifier: Apache-2.0
#include "client/cli/exchange_options.h"

#include <algorithm>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/base/bytes.h"
#include "proto/base/openssl.h"
#include "proto/base/status_macros.h"

namespace sideband::client {

void ExchangeOptions::AddTo(CLI::App& app, CLI::Option& key_file) {
  auto* const given = app.add_flag("--exchange", is_given_, "Exchange a key with the sealer, from inside the VM");
  given->excludes(&key_file);
  app.add_option("--sealer-ca", sealer_ca_, "CA certificates that the sealer's certificate is verified against")
      ->needs(given)
      ->type_name("FILE");
  app.add_flag("--accept-daemon", accepts_daemon_,
               "Also accept the daemon as the sealer, which can then read the counts; default: only the device")
      ->needs(given);
  auto* const psp = app.add_option("--throwaway-psp", psp_,
                                   "Take the evidence from the test processor in this folder; default: from the kernel")
                        ->needs(given)
                        ->type_name("DIR");
  app.add_option("--measurement", measurement_, "The guest's measurement in that evidence: 96 hexadecimal digits")
      ->needs(psp)
      ->type_name("HEX");
}

absl::StatusOr<EvidenceSource> ExchangeOptions::Source() const {
  if (psp_.empty()) return EvidenceOfTsm();
  const std::optional<Bytes> digits = ParseHex(measurement_);
  attestation::Measurement measurement{};
  if (!digits || digits->size() != measurement.size()) {
    return absl::InvalidArgumentError("--measurement: must be 96 hexadecimal digits");
  }
  std::ranges::copy(*digits, measurement.begin());
  return EvidenceOfThrowawayPsp(psp_, measurement);
}

absl::StatusOr<exchange::GuestKeys> ExchangeOptions::Run(TelemetryClient& client,
                                                         const ExchangeSubject& subject) const {
  if (sealer_ca_.empty()) return absl::InvalidArgumentError("--exchange needs --sealer-ca, the CAs of sealers");
  SIDEBAND_ASSIGN_OR_RETURN(const CertificateRoots roots, CertificateRoots::Load({sealer_ca_}));
  SIDEBAND_ASSIGN_OR_RETURN(const EvidenceSource source, Source());
  exchange::SealerTrust trust{.roots = &roots, .measurements = {}};
  if (accepts_daemon_) trust.sealers.push_back(exchange::SealerKind::kDaemon);
  return ExchangeKeys(client, subject, source, trust);
}

std::string ExchangeOptions::Describe(const exchange::Statement& statement) {
  const auto& digest = statement.measurement;
  const std::string measurement = absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), digest.size()});
  return absl::StrCat("keys exchanged with the ", exchange::SealerName(statement.sealer), " of ",
                      statement.device.ToString(), ", whose program has the measurement ", measurement);
}

}  // namespace sideband::client
