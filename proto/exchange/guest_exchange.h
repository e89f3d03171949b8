// SPDX-License-Identifier: Apache-2.0
//
// The guest's end of an exchange: makes a key pair inside its trusted environment, and verifies what the sealer says of
// itself before it trusts anything.
//   SIDEBAND_ASSIGN_OR_RETURN(auto exchange, GuestExchange::Begin({.device = device, .vm = vm}, challenge));
//   SIDEBAND_ASSIGN_OR_RETURN(const Bytes request, exchange.Request(Report(*exchange.GetReportData())));
//   SIDEBAND_ASSIGN_OR_RETURN(const GuestKeys keys, exchange.Finish(Send(request), trust, absl::Now()));
#ifndef SIDEBAND_PROTO_EXCHANGE_GUEST_EXCHANGE_H_
#define SIDEBAND_PROTO_EXCHANGE_GUEST_EXCHANGE_H_

#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/attestation/evidence.h"
#include "proto/base/bytes.h"
#include "proto/base/openssl.h"
#include "proto/base/uuid.h"
#include "proto/envelope/hpke.h"
#include "proto/envelope/secret.h"
#include "proto/exchange/messages.h"

namespace sideband::exchange {

// The sealers that a guest accepts.
struct SealerTrust {
  const CertificateRoots* roots = nullptr;
  std::vector<SealerKind> sealers = {SealerKind::kDevice};
  std::vector<Sha384Digest> measurements;  // empty: any
};

struct GuestKeys {
  envelope::Secret secret;  // of the exchange's epoch 0 (envelope::Ratchet)
  envelope::GuestNonce nonce{};
  Statement statement;
};

// Not thread-safe; movable. One object makes one exchange.
class GuestExchange {
 public:
  struct Subject {
    attestation::EvidenceKind kind = attestation::EvidenceKind::kSevSnp;
    Uuid device;
    Uuid vm;
  };
  // INTERNAL if the system has no random numbers.
  static absl::StatusOr<GuestExchange> Begin(const Subject& subject, const Challenge& challenge);

  // The data that the evidence has to bind.
  absl::StatusOr<ReportData> GetReportData() const { return ReportDataOf(request_); }
  // OUT_OF_RANGE: evidence of more than kEvidenceBytesMax.
  absl::StatusOr<Bytes> Request(Bytes evidence);
  // After Request. PERMISSION_DENIED: the answer is not of a trusted sealer, of this request, VM and device, or of a
  // kind of sealer that is not accepted; INVALID_ARGUMENT: malformed.
  absl::StatusOr<GuestKeys> Finish(ByteSpan answer, const SealerTrust& trust, std::optional<absl::Time> now) const;

 private:
  GuestExchange(envelope::KeyPair own, ExchangeRequest request) : own_(std::move(own)), request_(std::move(request)) {}

  absl::Status CheckStatement(const Statement& statement, const Sha256Digest& request, const SealerTrust& trust) const;

  envelope::KeyPair own_;
  ExchangeRequest request_;
  Bytes sent_;
};

}  // namespace sideband::exchange

#endif  // SIDEBAND_PROTO_EXCHANGE_GUEST_EXCHANGE_H_
