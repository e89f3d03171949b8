// SPDX-License-Identifier: Apache-2.0
//
// What a guest sends to the sealer of its VM: a public key, a nonce, and evidence that binds both (README.md has the
// bytes).
//   ExchangeRequest request{.kind = EvidenceKind::kSevSnp, .device = device, .vm = vm, .public_key = own.public_key(),
//                           .nonce = nonce, .challenge = challenge};
//   SIDEBAND_ASSIGN_OR_RETURN(const ReportData report_data, ReportDataOf(request));
//   request.evidence = Report(report_data);
//   Send(EncodeRequest(request));
#ifndef SIDEBAND_PROTO_EXCHANGE_REQUEST_H_
#define SIDEBAND_PROTO_EXCHANGE_REQUEST_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "proto/attestation/evidence.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"
#include "proto/envelope/record.h"
#include "proto/hpke/x25519.h"

namespace sideband::exchange {

// As many as fit a device's upload buffer (mailbox.md, UPLOAD).
inline constexpr size_t kRequestBytesMax = 16 << 10;
inline constexpr size_t kRequestFixedBytes = 140;
inline constexpr size_t kEvidenceBytesMax = kRequestBytesMax - kRequestFixedBytes;

// Drawn by the sealer for one exchange.
using Challenge = std::array<uint8_t, 32>;
// What evidence binds.
using ReportData = std::array<uint8_t, 64>;

struct ExchangeRequest {
  attestation::EvidenceKind kind = attestation::EvidenceKind::kSevSnp;
  Uuid device;
  Uuid vm;
  hpke::PublicKey public_key{};
  envelope::GuestNonce nonce{};
  Challenge challenge{};
  Bytes evidence;
  bool operator==(const ExchangeRequest&) const = default;
};

Bytes EncodeRequest(const ExchangeRequest& request);
// The bytes come from an untrusted peer. INVALID_ARGUMENT unless they are exactly one request of the known version,
// suite (envelope::kSuiteHpke) and kinds of evidence.
absl::StatusOr<ExchangeRequest> ParseRequest(ByteSpan bytes);

// SHA-512 of everything in the request but the evidence. INTERNAL if OpenSSL fails.
absl::StatusOr<ReportData> ReportDataOf(const ExchangeRequest& request);

}  // namespace sideband::exchange

#endif  // SIDEBAND_PROTO_EXCHANGE_REQUEST_H_
