// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/memory_meter.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

// Other threads of a program may allocate, too.
std::atomic<size_t> held{0};
std::atomic<size_t> most{0};

void* Allocate(size_t size) {
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) std::abort();
  const size_t now = held += malloc_usable_size(memory);
  if (now > most) most = now;
  return memory;
}

void Free(void* memory) {
  if (memory != nullptr) held -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(size_t size) { return Allocate(size); }
void* operator new[](size_t size) { return Allocate(size); }
void operator delete(void* memory) noexcept { Free(memory); }
void operator delete[](void* memory) noexcept { Free(memory); }
void operator delete(void* memory, size_t) noexcept { Free(memory); }
void operator delete[](void* memory, size_t) noexcept { Free(memory); }

namespace sideband::tests {

MemoryMeter::MemoryMeter() : start_(held) { most = start_; }

size_t MemoryMeter::peak() const { return most - start_; }

}  // namespace sideband::tests
