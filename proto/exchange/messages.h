// SPDX-License-Identifier: Apache-2.0
//
// The messages of an exchange (README.md has the bytes). A guest's request: a public key, a nonce, and evidence that
// binds both. The sealer's answer: its statement, its certificates and its signature. SealerIdentity signs: it has
// certificates and a key on P-256 or P-384.
//   ExchangeRequest request{.kind = EvidenceKind::kSevSnp, .device = device, .vm = vm, .public_key = own.public_key(),
//                           .nonce = nonce, .challenge = challenge};
//   SIDEBAND_ASSIGN_OR_RETURN(const ReportData report_data, ReportDataOf(request));
//   request.evidence = Report(report_data);
//   Send(EncodeRequest(request));
//
//   SIDEBAND_ASSIGN_OR_RETURN(const SealerIdentity identity, SealerIdentity::Load("sealer.pem", "sealer.key"));
//   SIDEBAND_ASSIGN_OR_RETURN(const Bytes signature, identity.Sign(statement));
//   SIDEBAND_RETURN_IF_ERROR(VerifySigned(roots, certificates, statement, signature, absl::Now()));
#ifndef SIDEBAND_PROTO_EXCHANGE_MESSAGES_H_
#define SIDEBAND_PROTO_EXCHANGE_MESSAGES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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
#include "proto/envelope/record.h"

namespace sideband::exchange {

using Sha256Digest = std::array<uint8_t, 32>;
using Sha384Digest = std::array<uint8_t, 48>;
using Sha512Digest = std::array<uint8_t, 64>;

// INTERNAL if OpenSSL fails.
absl::StatusOr<Sha256Digest> Sha256(ByteSpan bytes);
absl::StatusOr<Sha512Digest> Sha512(ByteSpan bytes);

// The digest of the running program's file, which the program states to guests; it is not attested. UNAVAILABLE if the
// file cannot be read.
absl::StatusOr<Sha384Digest> MeasureThisProgram();

// Immutable, thread-safe and movable.
class SealerIdentity {
 public:
  // PEM files: the certificates with the signer's first, at most kCertificatesMax, and the key, which others must not
  // read. Errors start with the path. INVALID_ARGUMENT: no such PEM, another kind of key, a key of another certificate.
  static absl::StatusOr<SealerIdentity> Load(const std::string& certificate_file, const std::string& key_file);

  const std::vector<Bytes>& certificates() const { return certificates_; }
  // ECDSA with SHA-384, DER. INTERNAL if OpenSSL fails.
  absl::StatusOr<Bytes> Sign(ByteSpan text) const;

 private:
  SealerIdentity(std::vector<Bytes> certificates, KeyPtr key)
      : certificates_(std::move(certificates)), key_(std::move(key)) {}

  std::vector<Bytes> certificates_;
  KeyPtr key_;
};

// Whether a chain (DER, the signer's first) signed the text and leads to a root; `now` as in CertificateRoots.
// PERMISSION_DENIED says why not.
absl::Status VerifySigned(const CertificateRoots& roots, const std::vector<ByteSpan>& certificates, ByteSpan text,
                          ByteSpan signature, std::optional<absl::Time> now);

// Whether the certificate (DER) has the URI urn:uuid:DEVICE among its subject's alternative names.
bool IsOfDevice(ByteSpan certificate, const Uuid& device);

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
