// SPDX-License-Identifier: Apache-2.0
//
// Validates PEM files before gRPC, which reports a bad file only by a log line and a channel that never connects.
#ifndef SIDEBAND_CLIENT_LIB_PEM_H_
#define SIDEBAND_CLIENT_LIB_PEM_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sideband::client {

// The PEM texts of one side of a mutual TLS connection.
struct TlsMaterial {
  std::string ca;
  std::string certificate;
  std::string key;
};

// Reads the files and checks that they contain certificates and the client certificate's own private key (without a
// password). If both client paths are empty, those two members stay empty. Errors start with the path of the faulty
// file.
absl::StatusOr<TlsMaterial> LoadTlsMaterial(const std::string& ca_file, const std::string& cert_file,
                                            const std::string& key_file);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_PEM_H_
