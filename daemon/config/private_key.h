// SPDX-License-Identifier: Apache-2.0
//
// Loads the private key of a TLS listener such that memory contains it only once.
//   SIDEBAND_ASSIGN_OR_RETURN(const PrivateKey key, LoadPrivateKey("server.key"));
//   SSL_CTX_use_PrivateKey(context, key.get());   // a reference, not a copy
//
// The file is read into OpenSSL's secure heap (locked, excluded from core dumps) if the program has created it, parsed
// there and wiped. Listeners with the same key share one object.
#ifndef SIDEBAND_DAEMON_CONFIG_PRIVATE_KEY_H_
#define SIDEBAND_DAEMON_CONFIG_PRIVATE_KEY_H_

#include <openssl/types.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace sideband::daemon {

// Shared by the listeners and the generations of their files. OpenSSL wipes the key when the last reference is
// released.
using PrivateKey = std::shared_ptr<EVP_PKEY>;

// INVALID_ARGUMENT "PATH: why" if the file cannot be read, is not a regular file, is world-readable, is larger than 64
// KiB, or does not contain an unencrypted private key in PEM form. Thread-safe.
absl::StatusOr<PrivateKey> LoadPrivateKey(const std::string& path);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_PRIVATE_KEY_H_
