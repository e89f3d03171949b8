// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/process.h"

#include <malloc.h>
#include <openssl/crypto.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cstddef>

namespace sideband::daemon {
namespace {

// Keys lie in locked memory and in no core dump.
void ProtectSecrets() {
  constexpr size_t kSecureHeapBytes = 1 << 20, kSmallestBytes = 32;
  prctl(PR_SET_DUMPABLE, 0);
  CRYPTO_secure_malloc_init(kSecureHeapBytes, kSmallestBytes);
}

// As many connections as the system lets us have; what each peer may hold is bounded elsewhere.
void RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Snapshots and scrapes of large devices come and go every second, on several threads. What is large goes back to the
// system at once, and threads share their heaps: the daemon stays as small as what it holds.
void KeepMemorySmall() {
  constexpr int kLargeBytes = 256 << 10, kHeaps = 2;
  mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  mallopt(M_ARENA_MAX, kHeaps);
}

}  // namespace

void PrepareProcess() {
  ProtectSecrets();
  KeepMemorySmall();
  RaiseFileLimit();
}

}  // namespace sideband::daemon
