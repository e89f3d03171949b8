// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/secret_process.h"

#include <openssl/crypto.h>
#include <sys/prctl.h>

#include <cstddef>

namespace sideband::envelope {

void ProtectSecrets() {
  constexpr size_t kSecureHeapBytes = 1 << 20, kSmallestBytes = 32;
  prctl(PR_SET_DUMPABLE, 0);
  CRYPTO_secure_malloc_init(kSecureHeapBytes, kSmallestBytes);
}

}  // namespace sideband::envelope
