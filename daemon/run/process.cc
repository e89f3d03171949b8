// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/process.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

#include "proto/envelope/secret.h"

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
constexpr int64_t kFreedBytesMax = 8 << 20;
// All threads that allocate wait meanwhile: 50 ms for 50 MiB, 5 ms for counting them.
constexpr absl::Duration kTrimPause = absl::Seconds(10);

// Resident memory that is not allocated: programs, stacks, and what was freed. The allocator itself does not know which
// of its free pages are resident.
int64_t UnusedBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t virtual_pages = 0, resident_pages = 0;
  if (!(file >> virtual_pages >> resident_pages)) return 0;
  const struct mallinfo2 used = mallinfo2();
  return resident_pages * sysconf(_SC_PAGESIZE) - static_cast<int64_t>(used.uordblks + used.hblkhd);
}

}  // namespace

void MemoryTrim::Trim(absl::Duration now) {
  if (now < next_) return;
  next_ = now + kTrimPause;
  const int64_t unused = UnusedBytes();
  kept_ = std::min(kept_, unused);
  if (unused < kept_ + kFreedBytesMax) return;
  malloc_trim(kFreedBytesMax / 2);
  kept_ = UnusedBytes();
}

void PrepareProcess() {
  envelope::ProtectSecrets();
  KeepMemorySmall();
  RaiseFileLimit();
}

}  // namespace sideband::daemon
