// SPDX-License-Identifier: Apache-2.0
#include "proto/base/secret_memory.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

namespace sideband {
namespace {

// The address sanitizer does not detect accesses beyond the end of mapped pages.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kOwnPages = false;
#elif defined(__has_feature)
constexpr bool kOwnPages = !__has_feature(address_sanitizer);
#else
constexpr bool kOwnPages = true;
#endif

void* AllocatePages(size_t bytes) {
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  madvise(pages, bytes, MADV_DONTDUMP);
  // Locks pages when they are written, so that a length merely claimed by a device takes no memory. Locking may fail by
  // RLIMIT_MEMLOCK; the memory is then unlocked.
  mlock2(pages, bytes, MLOCK_ONFAULT);
  return pages;
}

}  // namespace

void* AllocateSecretMemory(size_t bytes) {
  const size_t size = std::max<size_t>(bytes, 1);
  return kOwnPages ? AllocatePages(size) : calloc(1, size);
}

void FreeSecretMemory(void* memory, size_t bytes) {
  if (memory == nullptr) return;
  const size_t size = std::max<size_t>(bytes, 1);
  explicit_bzero(memory, size);
  if (kOwnPages) {
    munmap(memory, size);
  } else {
    free(memory);
  }
}

void HideStackFromCoreDumps() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* stack = nullptr;
  size_t size = 0;
  if (pthread_attr_getstack(&attributes, &stack, &size) == 0) madvise(stack, size, MADV_DONTDUMP);
  pthread_attr_destroy(&attributes);
}

}  // namespace sideband
