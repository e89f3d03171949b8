// SPDX-License-Identifier: Apache-2.0
//
// Evidence with which a guest shows that it runs in a trusted execution environment, its verification, and the policy
// that says which guests a sealer trusts.
//   const absl::StatusOr<GuestClaims> claims = verifier.Verify(evidence, report_data, absl::Now());
//   if (!claims.ok()) Refuse(claims.status());
#ifndef SIDEBAND_PROTO_ATTESTATION_EVIDENCE_H_
#define SIDEBAND_PROTO_ATTESTATION_EVIDENCE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/base/bytes.h"

namespace sideband::attestation {

// The numbers are on the wire.
enum class EvidenceKind : uint16_t {
  kTest = 1,    // unsigned; optimised builds refuse it (test_verifier.h)
  kSevSnp = 2,  // an AMD SEV-SNP report and its certificates (snp_verifier.h)
};
// "test", "sev_snp"; "unknown" for other numbers.
const char* EvidenceName(EvidenceKind kind);

// The data that a guest lets its environment bind to itself.
using ReportData = std::array<uint8_t, 64>;
// The measurement of the code and data that were loaded into the guest before it started.
using Measurement = std::array<uint8_t, 48>;
// The data that the host bound to the guest.
using HostData = std::array<uint8_t, 32>;

// Whether evidence is bound to what it has to be, compared in constant time.
bool IsBoundTo(const ReportData& expected, const ReportData& found);

// Security versions of the platform's firmware: later is greater, component by component. (TCB_VERSION of Milan and
// Genoa.)
struct TcbVersion {
  uint8_t boot_loader = 0, tee = 0, snp = 0, microcode = 0;
  // Whether no component is below that of `least`.
  bool IsAtLeast(const TcbVersion& least) const {
    return boot_loader >= least.boot_loader && tee >= least.tee && snp >= least.snp && microcode >= least.microcode;
  }
  bool operator==(const TcbVersion&) const = default;
};

// The claims of verified evidence.
struct GuestClaims {
  EvidenceKind kind = EvidenceKind::kTest;
  Measurement measurement{};
  HostData host_data{};
  TcbVersion tcb;
  bool operator==(const GuestClaims&) const = default;
};

// Immutable and thread-safe.
class Verifier {
 public:
  virtual ~Verifier() = default;
  virtual EvidenceKind kind() const = 0;
  // `evidence` comes from an untrusted peer. Without `now` the validity of certificates in time is not checked: a
  // microcontroller has no calendar. INVALID_ARGUMENT: malformed. PERMISSION_DENIED: not genuine, of an environment
  // that its host can look into, or not bound to `report_data`. The messages are for the verifier's own log.
  virtual absl::StatusOr<GuestClaims> Verify(ByteSpan evidence, const ReportData& report_data,
                                             std::optional<absl::Time> now) const = 0;
};

// The guests that a sealer trusts with the keys of a VM.
//   SIDEBAND_RETURN_IF_ERROR(CheckGuest(claims, {.measurements = {known}, .minimum_tcb = TcbVersion{3, 0, 8, 115}}));
struct GuestPolicy {
  std::vector<Measurement> measurements;  // that are allowed; empty: none
  std::optional<TcbVersion> minimum_tcb;  // of SEV-SNP
  std::optional<HostData> host_data;      // required
  std::vector<EvidenceKind> kinds;        // that are allowed; empty: every kind for which the sealer has a verifier
  bool operator==(const GuestPolicy&) const = default;
};

// PERMISSION_DENIED names the first rule that is broken, for the audit log.
absl::Status CheckGuest(const GuestClaims& claims, const GuestPolicy& policy);

}  // namespace sideband::attestation

#endif  // SIDEBAND_PROTO_ATTESTATION_EVIDENCE_H_
