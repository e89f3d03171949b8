// SPDX-License-Identifier: Apache-2.0
//
// Memory for secrets: in whole pages of its own, locked if the system's limit allows (else it may be swapped), excluded
// from core dumps, and wiped when it is freed.
//   using Counters = std::vector<uint64_t, SecretAllocator<uint64_t>>;
// For few or large buffers: each takes at least a page and several system calls (about 5 microseconds). Single keys are
// held in envelope::Secret.
#ifndef SIDEBAND_PROTO_BASE_SECRET_MEMORY_H_
#define SIDEBAND_PROTO_BASE_SECRET_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <vector>

namespace sideband {

// Returns `bytes` zeros, aligned to a page, or nullptr if the system is out of memory. Thread-safe. Under the address
// sanitizer it is ordinary memory, so that accesses beyond its end are detected.
void* AllocateSecretMemory(size_t bytes);
// `bytes` must be the allocated size. Wipes the memory first. nullptr is ignored.
void FreeSecretMemory(void* memory, size_t bytes);

// Excludes the calling thread's stack from core dumps for the lifetime of the thread, since registers with secrets may
// be spilled to it.
void HideStackFromCoreDumps();

// Throws std::bad_alloc, as allocators must.
template <typename T>
struct SecretAllocator {
  using value_type = T;
  SecretAllocator() = default;
  template <typename U>
  SecretAllocator(const SecretAllocator<U>&) {}  // NOLINT(google-explicit-constructor): required of allocators

  T* allocate(size_t count) {
    if (count > std::numeric_limits<size_t>::max() / sizeof(T)) throw std::bad_alloc();
    void* const memory = AllocateSecretMemory(count * sizeof(T));
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t count) { FreeSecretMemory(memory, count * sizeof(T)); }
  bool operator==(const SecretAllocator&) const = default;
};

using SecretBytes = std::vector<uint8_t, SecretAllocator<uint8_t>>;

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_SECRET_MEMORY_H_
