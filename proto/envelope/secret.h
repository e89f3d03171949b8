// SPDX-License-Identifier: Apache-2.0
//
// Secret bytes: wiped when freed, compared in constant time, never formatted, and readable only with a token that few
// targets may create (secret_access.h).
//   Secret key = Secret::Take(std::move(bytes));   // `bytes` is wiped
//   if (key == expected) return true;              // constant time
//   const ByteSpan raw = key.Read(SecretAccess::Get());
// The memory comes from OpenSSL's secure heap if the program has created one (CRYPTO_secure_malloc_init: locked,
// guarded, excluded from core dumps), else from its plain heap.
#ifndef SIDEBAND_PROTO_ENVELOPE_SECRET_H_
#define SIDEBAND_PROTO_ENVELOPE_SECRET_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "proto/base/bytes.h"

namespace sideband::envelope {

// Permission to read a Secret. Only SecretAccess creates it.
class SecretAccessToken {
 private:
  friend class SecretAccess;
  SecretAccessToken() = default;
};

// Thread-compatible. Moving leaves the source empty. Copies require Clone().
class Secret {
 public:
  Secret() = default;
  // `size` zero bytes, to be written through Write().
  explicit Secret(size_t size);
  static Secret CopyOf(ByteSpan bytes);
  // Copies `bytes` and wipes them.
  static Secret Take(Bytes&& bytes);
  ~Secret() { Wipe(); }
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;

  Secret Clone() const;
  size_t size() const { return size_; }
  // Overwrites and frees the bytes; the secret is then empty.
  void Wipe();

  // Views, valid until the secret is destroyed, moved or wiped.
  ByteSpan Read(SecretAccessToken) const { return {data_, size_}; }
  std::span<uint8_t> Write(SecretAccessToken) { return {data_, size_}; }

  // The running time depends on the sizes only, not on the bytes.
  friend bool operator==(const Secret& a, const Secret& b);

 private:
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

// Overwrites bytes; the compiler cannot optimise it away.
void WipeBytes(std::span<uint8_t> bytes);

// Overwrites a plaintext buffer at the end of the scope, on every path. The buffer must outlive the guard. Memory that
// the buffer held before a reallocation is not wiped.
class ScopedWipe {
 public:
  explicit ScopedWipe(Bytes& bytes) : bytes_(&bytes) {}
  explicit ScopedWipe(std::string& text) : text_(&text) {}
  ~ScopedWipe();
  ScopedWipe(const ScopedWipe&) = delete;
  ScopedWipe& operator=(const ScopedWipe&) = delete;

 private:
  Bytes* const bytes_ = nullptr;
  std::string* const text_ = nullptr;
};

// Protects a process that holds keys; to be called at the start of main, before the first further thread and the first
// Secret. Disables core dumps, and creates OpenSSL's secure heap for keys: locked memory. Where the system refuses it,
// keys are in the ordinary heap.
void ProtectSecrets();

}  // namespace sideband::envelope

#endif  // SIDEBAND_PROTO_ENVELOPE_SECRET_H_
