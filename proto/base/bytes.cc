// SPDX-License-Identifier: Apache-2.0
#include "proto/base/bytes.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <charconv>
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

void ByteWriter::Little(uint64_t value, int width) {
  for (int i = 0; i < width; ++i) bytes_.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

void ByteWriter::String(const std::string& text) {
  const size_t size = std::min<size_t>(text.size(), 255);
  U8(static_cast<uint8_t>(size));
  Raw(AsBytes(text).first(size));
}

void ByteWriter::PatchU32(size_t offset, uint32_t value) {
  for (size_t i = 0; i < 4; ++i) bytes_.at(offset + i) = static_cast<uint8_t>(value >> (8 * i));
}

uint64_t ByteReader::Little(size_t width) {
  uint64_t value = 0;
  const ByteSpan field = Raw(width);
  for (size_t i = 0; i < field.size(); ++i) value |= uint64_t{field[i]} << (8 * i);
  return value;
}

ByteSpan ByteReader::Raw(size_t size) {
  if (size > bytes_.size()) {
    // Without the remaining bytes all later reads fail, too.
    ok_ = false;
    bytes_ = {};
    return {};
  }
  const ByteSpan field = bytes_.first(size);
  bytes_ = bytes_.subspan(size);
  return field;
}

std::string ByteReader::String() {
  const ByteSpan text = Raw(U8());
  return std::string(text.begin(), text.end());
}

uint32_t Crc32c(ByteSpan bytes) {
  // Castagnoli's polynomial, bits reflected: the CRC of iSCSI (RFC 3720).
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

std::optional<Bytes> ParseHex(absl::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  Bytes bytes(digits.size() / 2);
  const char* next = digits.data();
  for (uint8_t& byte : bytes) {
    const auto [end, error] = std::from_chars(next, next + 2, byte, 16);
    if (error != std::errc() || end != next + 2) return std::nullopt;
    next = end;
  }
  return bytes;
}

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
