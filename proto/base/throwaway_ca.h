// SPDX-License-Identifier: Apache-2.0
//
// A certificate authority for a demonstration or a test. Unsuitable for other purposes: its certificates are valid for
// thirty days, private keys are stored beside them, and there is no revocation.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto ca, ThrowawayCa::Create(folder));
//   SIDEBAND_RETURN_IF_ERROR(ca->Issue("server", "DNS:localhost,IP:127.0.0.1"));
//   SIDEBAND_RETURN_IF_ERROR(ca->Issue("operator", "URI:spiffe://example.org/operator"));
#ifndef SIDEBAND_PROTO_BASE_THROWAWAY_CA_H_
#define SIDEBAND_PROTO_BASE_THROWAWAY_CA_H_

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/openssl.h"

namespace sideband {

// Not thread-safe.
class ThrowawayCa {
 public:
  // Writes FOLDER/NAME.pem. The folder must exist.
  static absl::StatusOr<std::unique_ptr<ThrowawayCa>> Create(const std::string& folder, const std::string& name = "ca");

  std::string ca_file() const { return CertFile(name_); }
  std::string CertFile(const std::string& name) const { return folder_ + "/" + name + ".pem"; }
  std::string KeyFile(const std::string& name) const { return folder_ + "/" + name + ".key"; }

  // Writes FOLDER/NAME.pem and FOLDER/NAME.key (mode 0600): a P-256 key and its certificate, for servers and clients.
  // `alternative_names` is in OpenSSL's notation, "URI:…,DNS:…,IP:…".
  absl::Status Issue(const std::string& name, const std::string& alternative_names);

 private:
  // An extension by OpenSSL's number and notation.
  using Extension = std::pair<int, std::string>;

  ThrowawayCa(std::string folder, std::string name) : folder_(std::move(folder)), name_(std::move(name)) {}

  absl::StatusOr<CertificatePtr> Sign(const std::string& common_name, EVP_PKEY* key,
                                      const std::vector<Extension>& extensions);

  const std::string folder_;
  const std::string name_;
  KeyPtr key_;
  long next_serial_ = 1;
};

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_THROWAWAY_CA_H_
