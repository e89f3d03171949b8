// SPDX-License-Identifier: Apache-2.0
//
// Exchanges keys with the sealer of a confidential VM, from inside the VM. (proto/exchange/README.md)
//   SIDEBAND_ASSIGN_OR_RETURN(exchange::GuestKeys keys,
//                             ExchangeKeys(client, {.vm = "vm3"}, EvidenceOfTsm(), {.roots = &roots}));
//   Opener opener(envelope::Ratchet(std::move(keys.secret)), {.vm = keys.statement.vm, .nonce = keys.nonce});
#ifndef SIDEBAND_CLIENT_LIB_KEY_EXCHANGE_H_
#define SIDEBAND_CLIENT_LIB_KEY_EXCHANGE_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "client/lib/telemetry_client.h"
#include "proto/attestation/evidence.h"
#include "proto/base/bytes.h"
#include "proto/exchange/guest_exchange.h"

namespace sideband::client {

// Makes evidence of SEV-SNP that binds the report data.
using EvidenceSource = std::function<absl::StatusOr<Bytes>(const attestation::ReportData& report_data)>;

// Asks the guest's kernel: Linux' configfs-tsm, usually below /sys/kernel/config/tsm/report, which only root may write.
// Errors start with the path.
EvidenceSource EvidenceOfTsm(std::string folder = "/sys/kernel/config/tsm/report");
// Asks a processor that is none (proto/attestation/throwaway_psp.h), for demonstrations and tests.
EvidenceSource EvidenceOfThrowawayPsp(std::string folder, const attestation::Measurement& measurement);

struct ExchangeSubject {
  std::string device;  // empty: the first device that has the VM
  std::string vm;      // by name or UUID
};

// Errors of the calls and of the source. UNAUTHENTICATED: the sealer is not trusted, for the reason that
// exchange::GuestExchange::Finish gives. DATA_LOSS: the daemon's challenge is malformed.
absl::StatusOr<exchange::GuestKeys> ExchangeKeys(TelemetryClient& client, const ExchangeSubject& subject,
                                                 const EvidenceSource& source, const exchange::SealerTrust& trust);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_KEY_EXCHANGE_H_
