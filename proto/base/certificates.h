// SPDX-License-Identifier: Apache-2.0
//
// X.509 certificates in files and messages, and whether a chain of them ends at a trusted root.
//   SIDEBAND_ASSIGN_OR_RETURN(const CertificateRoots roots, CertificateRoots::Load({"ca.pem"}));
//   SIDEBAND_RETURN_IF_ERROR(roots.Verify(chain, absl::Now()));
#ifndef SIDEBAND_PROTO_BASE_CERTIFICATES_H_
#define SIDEBAND_PROTO_BASE_CERTIFICATES_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/base/bytes.h"
#include "proto/base/openssl_handle.h"

namespace sideband {

using CertificateChain = std::vector<CertificatePtr>;

// All certificates of a PEM file, at least one. Errors start with the path.
absl::StatusOr<CertificateChain> LoadCertificates(const std::string& path);

Bytes ToDer(const X509& certificate);
// nullptr unless the bytes, of an untrusted peer, are exactly one certificate.
CertificatePtr FromDer(ByteSpan der);

// The certificates at which trust ends. Immutable, thread-safe and movable.
class CertificateRoots {
 public:
  // PEM files. Errors start with the path of the file.
  static absl::StatusOr<CertificateRoots> Load(const std::vector<std::string>& files);

  // Whether the chain's first certificate leads to a root, by way of the others. Without `now` their validity in time
  // is not checked. PERMISSION_DENIED with OpenSSL's reason.
  absl::Status Verify(const CertificateChain& chain, std::optional<absl::Time> now) const;

 private:
  using StorePtr = std::unique_ptr<X509_STORE, OpensslDeleter<X509_STORE_free>>;
  explicit CertificateRoots(StorePtr store) : store_(std::move(store)) {}

  StorePtr store_;
};

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_CERTIFICATES_H_
