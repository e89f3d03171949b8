// SPDX-License-Identifier: Apache-2.0
//
// Bytes that nobody should see: wiped when they are let go, compared in constant time, never formatted, and readable
// only with a token that few targets may make (secret_access.h).
//   Secret key = Secret::Take(std::move(bytes));   // `bytes` is wiped
//   if (key == expected) …                         // constant time
//   const ByteSpan raw = key.Read(SecretAccess::Get());
// The memory comes from OpenSSL's secure heap where the program has made one (CRYPTO_secure_malloc_init: locked,
// guarded, left out of core dumps), else from its plain heap.
#ifndef SIDEBAND_PROTO_ENVELOPE_SECRET_H_
#define SIDEBAND_PROTO_ENVELOPE_SECRET_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "proto/base/bytes.h"

namespace sideband::envelope {

// The right to read a Secret. Only SecretAccess makes one.
class SecretAccessToken {
 private:
  friend class SecretAccess;
  SecretAccessToken() = default;
};

// Thread-compatible. Moving leaves the source empty; a copy must be asked for by Clone().
class Secret {
 public:
  Secret() = default;
  // `size` zero bytes, to be filled through Write().
  explicit Secret(size_t size);
  static Secret CopyOf(ByteSpan bytes);
  // A copy of `bytes`, which are wiped.
  static Secret Take(Bytes&& bytes);
  ~Secret() { Wipe(); }
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;

  Secret Clone() const;
  size_t size() const { return size_; }
  // Overwrites and frees the bytes; the secret is empty then.
  void Wipe();

  // Views that end with the secret, its move or its wipe.
  ByteSpan Read(SecretAccessToken) const { return {data_, size_}; }
  std::span<uint8_t> Write(SecretAccessToken) { return {data_, size_}; }

  // Takes as long for equal as for unequal bytes; only the sizes may be told apart by time.
  friend bool operator==(const Secret& a, const Secret& b);

 private:
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

// Overwrites bytes in a way that the compiler may not leave out.
void WipeBytes(std::span<uint8_t> bytes);

// Overwrites a buffer with plaintext when the scope ends, by whatever way. The buffer must outlive the guard; what it
// held before a reallocation is not reached.
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

}  // namespace sideband::envelope

#endif  // SIDEBAND_PROTO_ENVELOPE_SECRET_H_
