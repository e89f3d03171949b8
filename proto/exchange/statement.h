// SPDX-License-Identifier: Apache-2.0
//
// What a sealer says of itself in the answer to a request, and the answer: the statement, the sealer's certificates and
// its signature (README.md has the bytes).
//   const Bytes statement = EncodeStatement({.sealer = SealerKind::kDevice, .enc = enc});
//   SIDEBAND_ASSIGN_OR_RETURN(const AnswerView answer, ParseAnswer(bytes));   // nothing in it is verified yet
#ifndef SIDEBAND_PROTO_EXCHANGE_STATEMENT_H_
#define SIDEBAND_PROTO_EXCHANGE_STATEMENT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"
#include "proto/exchange/digest.h"
#include "proto/hpke/x25519.h"

namespace sideband::exchange {

// Where counts become records: what lies outside of it never has them.
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
  hpke::PublicKey enc{};            // the encapsulated key
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

// From which the records' keys are derived: HPKE's info, and the context of its export.
Bytes HpkeInfo(const Sha256Digest& request);
absl::StatusOr<Bytes> ExportContext(ByteSpan statement);

}  // namespace sideband::exchange

#endif  // SIDEBAND_PROTO_EXCHANGE_STATEMENT_H_
