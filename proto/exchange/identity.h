// SPDX-License-Identifier: Apache-2.0
//
// A sealer's identity: a key on P-256 or P-384 and its certificates, with which it signs statements; and the digests
// that these hold, that of its program included.
//   SIDEBAND_ASSIGN_OR_RETURN(const SealerIdentity identity, SealerIdentity::Load("sealer.pem", "sealer.key"));
//   SIDEBAND_ASSIGN_OR_RETURN(const Bytes signature, identity.Sign(statement));
//   SIDEBAND_RETURN_IF_ERROR(VerifySigned(roots, certificates, statement, signature, absl::Now()));
#ifndef SIDEBAND_PROTO_EXCHANGE_IDENTITY_H_
#define SIDEBAND_PROTO_EXCHANGE_IDENTITY_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/base/bytes.h"
#include "proto/base/openssl.h"
#include "proto/base/uuid.h"

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

}  // namespace sideband::exchange

#endif  // SIDEBAND_PROTO_EXCHANGE_IDENTITY_H_
