// SPDX-License-Identifier: Apache-2.0
//
// Cryptography of sealed records, by OpenSSL: HKDF-SHA256 (RFC 5869), AES-256-GCM (NIST SP 800-38D), X25519 (RFC 7748),
// and of these three hybrid public key encryption (RFC 9180) in base mode: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256,
// AES-256-GCM. A sender that knows a public key makes keys that only the holder of its private key can make, too.
//   SIDEBAND_ASSIGN_OR_RETURN(const Secret prk, HkdfExtract(salt, key_material));
//   SIDEBAND_ASSIGN_OR_RETURN(const Secret key, HkdfExpand(prk, info, 32));
//
//   SIDEBAND_ASSIGN_OR_RETURN(const Encapsulated sent, SetUpSender(public_key_of_guest, info));
//   Send(sent.enc);
//   SIDEBAND_ASSIGN_OR_RETURN(const HpkeKeys keys, SetUpReceiver(enc, own, info));
//   const AeadNonce nonce = keys.NonceFor(0);
#ifndef SIDEBAND_PROTO_ENVELOPE_HPKE_H_
#define SIDEBAND_PROTO_ENVELOPE_HPKE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/base/bytes.h"
#include "proto/base/openssl.h"
#include "proto/envelope/secret.h"

namespace sideband::envelope {

// HKDF. 32 bytes. INTERNAL if OpenSSL fails. An empty salt means 32 zero bytes, as in the RFC.
absl::StatusOr<Secret> HkdfExtract(ByteSpan salt, const Secret& key_material);
// `size` bytes, at most 255 * 32; the same error.
absl::StatusOr<Secret> HkdfExpand(const Secret& prk, ByteSpan info, size_t size);
// Extracts, then expands.
absl::StatusOr<Secret> HkdfSha256(const Secret& key_material, ByteSpan salt, ByteSpan info, size_t size);

// AES-256-GCM, in place. The caller must never repeat a nonce under a key.
inline constexpr size_t kAeadKeyBytes = 32;
inline constexpr size_t kAeadNonceBytes = 12;
inline constexpr size_t kAeadTagBytes = 16;

using AeadNonce = std::array<uint8_t, kAeadNonceBytes>;

// Encrypts `text` in place and writes the tag. On an error (wrong key size, OpenSSL failure) `text` is wiped.
absl::Status AeadSeal(const Secret& key, const AeadNonce& nonce, ByteSpan aad, std::span<uint8_t> text,
                      std::span<uint8_t, kAeadTagBytes> tag);
// Does the same with the parts, one after the other, in place of the first bytes of `text`, which never has them: they
// must not be longer.
absl::Status AeadSeal(const Secret& key, const AeadNonce& nonce, ByteSpan aad, std::span<const ByteSpan> parts,
                      std::span<uint8_t> text, std::span<uint8_t, kAeadTagBytes> tag);

// Seals many texts under one key, which is expanded once: for short texts half of the work. OpenSSL keeps the expanded
// key in ordinary memory, and wipes it. Not thread-safe.
//   SIDEBAND_ASSIGN_OR_RETURN(AeadSealer sealer, AeadSealer::Create(key));
//   SIDEBAND_RETURN_IF_ERROR(sealer.Seal(nonce, aad, text, tag));
class AeadSealer {
 public:
  // INVALID_ARGUMENT for a key of another size, INTERNAL where OpenSSL fails.
  static absl::StatusOr<AeadSealer> Create(const Secret& key);
  // The same as AeadSeal.
  absl::Status Seal(const AeadNonce& nonce, ByteSpan aad, std::span<uint8_t> text,
                    std::span<uint8_t, kAeadTagBytes> tag);

 private:
  explicit AeadSealer(CipherContextPtr context) : context_(std::move(context)) {}

  CipherContextPtr context_;
};

// Decrypts `text` in place. If the tag does not match, wipes `text` and returns INVALID_ARGUMENT without further
// detail.
absl::Status AeadOpen(const Secret& key, const AeadNonce& nonce, ByteSpan aad, std::span<uint8_t> text,
                      std::span<const uint8_t, kAeadTagBytes> tag);

// Key pairs of X25519 (RFC 7748), and their shared secret.
//   SIDEBAND_ASSIGN_OR_RETURN(const KeyPair own, KeyPair::Generate());
//   SIDEBAND_ASSIGN_OR_RETURN(const Secret shared, SharedSecret(own, public_key_of_peer));
inline constexpr size_t kX25519Bytes = 32;
using PublicKey = std::array<uint8_t, kX25519Bytes>;

// Immutable and movable.
class KeyPair {
 public:
  // INTERNAL if OpenSSL fails, or has no random numbers.
  static absl::StatusOr<KeyPair> Generate();
  // INVALID_ARGUMENT unless there are kX25519Bytes.
  static absl::StatusOr<KeyPair> OfPrivate(Secret private_key);

  const PublicKey& public_key() const { return public_key_; }
  const Secret& private_key() const { return private_key_; }

 private:
  KeyPair(Secret private_key, const PublicKey& public_key)
      : private_key_(std::move(private_key)), public_key_(public_key) {}

  Secret private_key_;
  PublicKey public_key_;
};

// INVALID_ARGUMENT for a public key of small order, with which the result would be zero whatever the private key (RFC
// 9180, section 7.1.4).
absl::StatusOr<Secret> SharedSecret(const KeyPair& own, const PublicKey& peer);

// suite_id of DHKEM(X25519, HKDF-SHA256), and of HPKE with it, HKDF-SHA256 and AES-256-GCM.
inline constexpr uint8_t kKemSuite[] = {'K', 'E', 'M', 0x00, 0x20};
inline constexpr uint8_t kHpkeSuite[] = {'H', 'P', 'K', 'E', 0x00, 0x20, 0x00, 0x01, 0x00, 0x02};

// LabeledExtract and LabeledExpand of HPKE, with HKDF-SHA256 (RFC 9180, section 4).
// INTERNAL if OpenSSL fails. A salt of nullptr is the empty one.
absl::StatusOr<Secret> LabeledExtract(ByteSpan suite, const Secret* salt, absl::string_view label,
                                      const Secret& key_material);
// Extracts from public key material, without a salt.
absl::StatusOr<Secret> LabeledExtract(ByteSpan suite, absl::string_view label, ByteSpan key_material);
// `size` must be at most 255 * 32.
absl::StatusOr<Secret> LabeledExpand(ByteSpan suite, const Secret& prk, absl::string_view label, ByteSpan info,
                                     size_t size);

// The keys that both ends have (RFC 9180, section 5.1, "Context"). Immutable and movable.
class HpkeKeys {
 public:
  // The key schedule of base mode. `shared_secret` is that of the key encapsulation. INTERNAL if OpenSSL fails.
  static absl::StatusOr<HpkeKeys> Schedule(const Secret& shared_secret, ByteSpan info);

  const Secret& key() const { return key_; }
  // The base nonce xor the sequence as a big-endian number: unique for every sequence.
  AeadNonce NonceFor(uint64_t sequence) const;
  // Another secret of both ends, for a purpose that `context` names; at most 255 * 32 bytes.
  absl::StatusOr<Secret> Export(ByteSpan context, size_t size) const;

 private:
  HpkeKeys(Secret key, Secret base_nonce, Secret exporter)
      : key_(std::move(key)), base_nonce_(std::move(base_nonce)), exporter_(std::move(exporter)) {}

  Secret key_, base_nonce_, exporter_;
};

struct Encapsulated {
  PublicKey enc;  // to be sent
  HpkeKeys keys;
};

// Makes a key pair of its own that is used once. INVALID_ARGUMENT for a public key of small order; INTERNAL if OpenSSL
// fails.
absl::StatusOr<Encapsulated> SetUpSender(const PublicKey& receiver, ByteSpan info);
// Takes a given key pair, which must never have been used: for test vectors.
absl::StatusOr<Encapsulated> SetUpSenderWith(const KeyPair& ephemeral, const PublicKey& receiver, ByteSpan info);
// Any 32 bytes are an `enc` but those of small order (INVALID_ARGUMENT): that the keys are the sender's shows when they
// open something.
absl::StatusOr<HpkeKeys> SetUpReceiver(const PublicKey& enc, const KeyPair& receiver, ByteSpan info);

// DeriveKeyPair (section 7.1.3) from key material of at least 32 random bytes.
absl::StatusOr<KeyPair> DeriveKeyPair(const Secret& key_material);
// ExtractAndExpand (section 4.1): the shared secret of the encapsulation.
absl::StatusOr<Secret> KemSecret(const Secret& dh, const PublicKey& enc, const PublicKey& receiver);

}  // namespace sideband::envelope

#endif  // SIDEBAND_PROTO_ENVELOPE_HPKE_H_
