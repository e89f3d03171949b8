// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/secret.h"

#include <openssl/crypto.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>

namespace sideband::envelope {

Secret::Secret(size_t size) : size_(size) {
  if (size == 0) return;
  data_ = static_cast<uint8_t*>(OPENSSL_secure_zalloc(size));
  if (data_ == nullptr) std::abort();  // out of memory; operator new would end the program, too
}

Secret Secret::CopyOf(ByteSpan bytes) {
  Secret secret(bytes.size());
  std::copy(bytes.begin(), bytes.end(), secret.data_);
  return secret;
}

Secret Secret::Take(Bytes&& bytes) {
  const ScopedWipe wipe(bytes);
  return CopyOf(bytes);
}

Secret::Secret(Secret&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this == &other) return *this;
  Wipe();
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

Secret Secret::Clone() const { return CopyOf({data_, size_}); }

void Secret::Wipe() {
  OPENSSL_secure_clear_free(data_, size_);
  data_ = nullptr;
  size_ = 0;
}

bool operator==(const Secret& a, const Secret& b) {
  // Sizes are public. The time of the comparison must not tell where the contents differ.
  return a.size_ == b.size_ && CRYPTO_memcmp(a.data_, b.data_, a.size_) == 0;
}

void WipeBytes(std::span<uint8_t> bytes) { OPENSSL_cleanse(bytes.data(), bytes.size()); }

ScopedWipe::~ScopedWipe() {
  if (bytes_ != nullptr) WipeBytes(*bytes_);
  if (text_ != nullptr) OPENSSL_cleanse(text_->data(), text_->size());
}

void ProtectSecrets() {
  constexpr size_t kSecureHeapBytes = 1 << 20, kSmallestBytes = 32;
  prctl(PR_SET_DUMPABLE, 0);
  CRYPTO_secure_malloc_init(kSecureHeapBytes, kSmallestBytes);
}

}  // namespace sideband::envelope
