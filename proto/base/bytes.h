// SPDX-License-Identifier: Apache-2.0
//
// Byte strings: little-endian cursors, hexadecimal digits, a checksum, and memory for secrets. All wire formats are
// read and written with the cursors, never by casting a packed struct.
//   ByteWriter out;
//   out.U16(7);
//   out.String("vm7");
//   const Bytes bytes = std::move(out).Take();
//
//   ByteReader in(bytes);
//   const uint16_t vm = in.U16();
//   const std::string name = in.String();
//   if (!in.ok()) return absl::DataLossError("truncated block");
//
//   const std::optional<Bytes> frame = ParseHex("9e5c0402000080");
//
//   using Counters = std::vector<uint64_t, SecretAllocator<uint64_t>>;
#ifndef SIDEBAND_PROTO_BASE_BYTES_H_
#define SIDEBAND_PROTO_BASE_BYTES_H_

#include <string.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace sideband {

// Wipes freed memory: byte strings may contain a confidential VM's counters, and a growing vector leaves copies.
template <typename T>
struct WipingAllocator {
  using value_type = T;
  WipingAllocator() = default;
  template <typename U>
  WipingAllocator(const WipingAllocator<U>&) {}  // NOLINT(google-explicit-constructor): required of allocators

  T* allocate(size_t count) { return std::allocator<T>().allocate(count); }
  void deallocate(T* memory, size_t count) {
    explicit_bzero(memory, count * sizeof(T));
    std::allocator<T>().deallocate(memory, count);
  }
  bool operator==(const WipingAllocator&) const = default;
};

using Bytes = std::vector<uint8_t, WipingAllocator<uint8_t>>;
using ByteSpan = std::span<const uint8_t>;

// Appends to an owned byte string. Not thread-safe.
class ByteWriter {
 public:
  void U8(uint8_t value) { bytes_.push_back(value); }
  void U16(uint16_t value) { Little(value, 2); }
  void U32(uint32_t value) { Little(value, 4); }
  void U64(uint64_t value) { Little(value, 8); }
  void Raw(ByteSpan bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  // One length byte and up to 255 bytes of text; longer text is truncated.
  void String(const std::string& text);
  // Overwrites the four bytes at `offset`, which must have been written already.
  void PatchU32(size_t offset, uint32_t value);

  size_t size() const { return bytes_.size(); }
  ByteSpan written() const { return bytes_; }
  Bytes Take() && { return std::move(bytes_); }

 private:
  void Little(uint64_t value, int width);

  Bytes bytes_;
};

// Reads bytes that it does not own and that must outlive it. A read past the end returns zeros (or an empty string) and
// sets ok() to false permanently, so that a decoder checks once per record. Not thread-safe.
class ByteReader {
 public:
  explicit ByteReader(ByteSpan bytes) : bytes_(bytes) {}

  uint8_t U8() { return static_cast<uint8_t>(Little(1)); }
  uint16_t U16() { return static_cast<uint16_t>(Little(2)); }
  uint32_t U32() { return static_cast<uint32_t>(Little(4)); }
  uint64_t U64() { return Little(8); }
  // A view into the constructor's bytes.
  ByteSpan Raw(size_t size);
  std::string String();

  bool ok() const { return ok_; }
  size_t remaining() const { return bytes_.size(); }

 private:
  uint64_t Little(size_t width);

  ByteSpan bytes_;
  bool ok_ = true;
};

// A view of the bytes of `text`, valid for the lifetime of `text`.
inline ByteSpan AsBytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// CRC-32C (Castagnoli; reflected, initial value and final inversion all ones): Crc32c("123456789") == 0xE3069283.
uint32_t Crc32c(ByteSpan bytes);

// Two digits per byte, in either case, without separators. nullopt for an odd number of digits and for other
// characters. The opposite direction is absl::BytesToHexString; Abseil's own parser is not used because its signature
// differs between Debian 12 and 13.
std::optional<Bytes> ParseHex(absl::string_view digits);

// Memory for secrets: in whole pages of its own, locked if the system's limit allows (else it may be swapped), excluded
// from core dumps, and wiped when it is freed. For few or large buffers: each takes at least a page and several system
// calls (about 5 microseconds). Single keys are held in envelope::Secret.

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

#endif  // SIDEBAND_PROTO_BASE_BYTES_H_
