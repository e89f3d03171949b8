// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/process.h"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>

#include "proto/envelope/secret_process.h"

namespace sideband::daemon {
namespace {

// Raises the soft limit of open files to the hard limit; connections per peer are limited elsewhere.
void RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Snapshots and scrapes of large devices are allocated and freed every second on several threads. Large blocks are
// mapped, so that they return to the system at once, and threads share a few heaps.
void KeepMemorySmall() {
  constexpr int kLargeBytes = 256 << 10, kHeaps = 2;
  mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  mallopt(M_ARENA_MAX, kHeaps);
}

// Less than this is not worth the faults of its next use.
constexpr size_t kFreedBytesMax = 8 << 20;

}  // namespace

void MemoryTrim::Trim() {
  const size_t freed = mallinfo2().fordblks;
  kept_ = std::min(kept_, freed);
  if (freed < kept_ + kFreedBytesMax) return;
  malloc_trim(kFreedBytesMax / 2);
  kept_ = mallinfo2().fordblks;
}

void PrepareProcess() {
  envelope::ProtectSecrets();
  KeepMemorySmall();
  RaiseFileLimit();
}

}  // namespace sideband::daemon
