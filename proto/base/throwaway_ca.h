// SPDX-License-Identifier: Apache-2.0
//
// A certificate authority that lives as long as a demonstration or a test. Not for anything else: its key lies beside
// the certificates, nothing is revoked, and everything is valid for thirty days.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto ca, ThrowawayCa::Create(folder));
//   SIDEBAND_RETURN_IF_ERROR(ca->Issue("server", "DNS:localhost,IP:127.0.0.1"));
//   SIDEBAND_RETURN_IF_ERROR(ca->Issue("operator", "URI:spiffe://example.org/operator"));
#ifndef SIDEBAND_PROTO_BASE_THROWAWAY_CA_H_
#define SIDEBAND_PROTO_BASE_THROWAWAY_CA_H_

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sideband {

// Not thread-safe.
class ThrowawayCa {
 public:
  // Writes FOLDER/ca.pem. The folder must exist.
  static absl::StatusOr<std::unique_ptr<ThrowawayCa>> Create(const std::string& folder);

  std::string ca_file() const { return folder_ + "/ca.pem"; }

  // Writes FOLDER/NAME.pem and FOLDER/NAME.key (mode 0600): a P-256 key and a certificate for it, for servers and
  // clients. `alternative_names` in OpenSSL's notation, "URI:…,DNS:…,IP:…".
  absl::Status Issue(const std::string& name, const std::string& alternative_names);

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(X509* certificate) const { X509_free(certificate); }
  };
  using Key = std::unique_ptr<EVP_PKEY, Free>;
  using Certificate = std::unique_ptr<X509, Free>;

  explicit ThrowawayCa(std::string folder) : folder_(std::move(folder)) {}

  absl::StatusOr<Certificate> Sign(const std::string& common_name, EVP_PKEY* key, int extension,
                                   const std::string& value);
  absl::Status WriteCertificate(const std::string& name, X509* certificate) const;
  absl::Status WriteKey(const std::string& name, EVP_PKEY* key) const;

  const std::string folder_;
  Key key_;
  long next_serial_ = 1;
};

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_THROWAWAY_CA_H_
