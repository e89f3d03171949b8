// SPDX-License-Identifier: Apache-2.0
//
// The messages of an exchange (README.md has the bytes). A guest's request: a public key, a nonce, and evidence that
// binds both. The sealer's answer: its statement, its certificates and its signature.
//   ExchangeRequest request{.kind = EvidenceKind::kSevSnp, .device = device, .vm = vm, .public_key = own.public_key(),
//                           .nonce = nonce, .challenge = challenge};
//   SIDEBAND_ASSIGN_OR_RETURN(const ReportData report_data, ReportDataOf(request));
//   request.evidence = Report(report_data);
//   Send(EncodeRequest(request));
#ifndef SIDEBAND_PROTO_EXCHANGE_MESSAGES_H_
#define SIDEBAND_PROTO_EXCHANGE_MESSAGES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/attestation/evidence.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"
#include "proto/envelope/hpke.h"
#include "proto/envelope/record.h"
#include "proto/exchange/identity.h"

namespace sideband::exchange {

// The most that fits a device's upload buffer (mailbox.md, UPLOAD).
inline constexpr size_t kRequestBytesMax = 16 << 10;
inline constexpr size_t kRequestFixedBytes = 140;
inline constexpr size_t kEvidenceBytesMax = kRequestBytesMax - kRequestFixedBytes;

// Drawn by the sealer for one exchange.
using Challenge = std::array<uint8_t, 32>;
// The data that evidence binds.
using ReportData = std::array<uint8_t, 64>;

struct ExchangeRequest {
  attestation::EvidenceKind kind = attestation::EvidenceKind::kSevSnp;
  Uuid device;
  Uuid vm;
  envelope::PublicKey public_key{};
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

// The statement and the answer.
//   const Bytes statement = EncodeStatement({.sealer = SealerKind::kDevice, .enc = enc});
//   SIDEBAND_ASSIGN_OR_RETURN(const AnswerView answer, ParseAnswer(bytes));   // nothing in it is verified yet
// The place where counts become records: they never leave it in another form.
enum class SealerKind : uint8_t { kDaemon = 1, kDevice = 2 };
// "daemon", "device".
const char* SealerName(SealerKind kind);

inline constexpr size_t kStatementEventsMax = 4096;
inline constexpr size_t kCertificatesMax = 8;
inline constexpr size_t kAnswerBytesMax = 256 << 10;

struct Statement {
  SealerKind sealer = SealerKind::kDaemon;
  Uuid device;
  uint64_t boot_id = 0;
  Uuid vm;
  uint32_t generation = 0;          // of the VM: the keys end with it
  envelope::PublicKey enc{};        // the encapsulated key
  Sha384Digest measurement{};       // of the sealer's program
  Sha256Digest request{};           // of the request that is answered, all its bytes
  std::vector<std::string> events;  // of each row of the VM's records, in their order; at most 255 bytes each
  bool operator==(const Statement&) const = default;
};

Bytes EncodeStatement(const Statement& statement);
// INVALID_ARGUMENT unless the bytes are exactly one statement of the known version and suite.
absl::StatusOr<Statement> ParseStatement(ByteSpan bytes);

// Views into the parsed bytes.
struct AnswerView {
  ByteSpan statement;
  std::vector<ByteSpan> certificates;  // DER, the signer's first
  ByteSpan signature;                  // of the statement: ECDSA with SHA-384, DER
};

Bytes EncodeAnswer(ByteSpan statement, const std::vector<Bytes>& certificates, ByteSpan signature);
// The bytes come from an untrusted peer. INVALID_ARGUMENT: truncated, too long, or more than kCertificatesMax.
absl::StatusOr<AnswerView> ParseAnswer(ByteSpan bytes);

// The inputs from which the records' keys are derived: HPKE's info, and the context of its export.
Bytes HpkeInfo(const Sha256Digest& request);
absl::StatusOr<Bytes> ExportContext(ByteSpan statement);

}  // namespace sideband::exchange

#endif  // SIDEBAND_PROTO_EXCHANGE_MESSAGES_H_
