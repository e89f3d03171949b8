// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/hpke.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <memory>

#include "proto/base/openssl.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/secret_access.h"

namespace sideband::envelope {
namespace {

constexpr size_t kHashBytes = 32;

KdfContextPtr NewHkdf() {
  const KdfPtr kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  return KdfContextPtr(kdf == nullptr ? nullptr : EVP_KDF_CTX_new(kdf.get()));
}

// OSSL_PARAM takes a non-const pointer, but does not write to inputs.
OSSL_PARAM Input(const char* name, ByteSpan bytes) {
  return OSSL_PARAM_construct_octet_string(name, const_cast<uint8_t*>(bytes.data()), bytes.size());
}

// One of the two steps, with its other input.
absl::StatusOr<Secret> Derive(int mode, const Secret& key, const char* other_name, ByteSpan other, size_t size) {
  const KdfContextPtr context = NewHkdf();
  char digest[] = "SHA256";
  constexpr uint8_t kNothing = 0;  // OpenSSL does not accept a null pointer for an empty string
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
      Input(OSSL_KDF_PARAM_KEY, key.Read(SecretAccess::Get())),
      Input(other_name, other.empty() ? ByteSpan(&kNothing, 0) : other),
      OSSL_PARAM_construct_end(),
  };
  Secret derived(size);
  if (context == nullptr ||
      EVP_KDF_derive(context.get(), derived.Write(SecretAccess::Get()).data(), size, parameters) != 1) {
    return absl::InternalError("OpenSSL cannot derive a key with HKDF-SHA256");
  }
  return derived;
}

enum class Direction : int { kOpen = 0, kSeal = 1 };

absl::Status CheckKey(const Secret& key) {
  if (key.size() == kAeadKeyBytes) return absl::OkStatus();
  return absl::InvalidArgumentError("AES-256-GCM needs a key of 32 bytes");
}

absl::Status CheckSizes(ByteSpan aad, ByteSpan text) {
  constexpr size_t kSizeMax = std::numeric_limits<int>::max();  // OpenSSL counts in int
  if (aad.size() > kSizeMax || text.size() > kSizeMax) return absl::InvalidArgumentError("text too long for AES-GCM");
  return absl::OkStatus();
}

// To look it up by name takes as long as to encrypt a kilobyte, so that it is looked up once.
const EVP_CIPHER* Cipher() {
  static const EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
  return cipher;
}

// Additional data have no `out`.
bool Update(EVP_CIPHER_CTX* context, uint8_t* out, ByteSpan in) {
  int size = 0;
  return in.empty() || EVP_CipherUpdate(context, out, &size, in.data(), static_cast<int>(in.size())) == 1;
}

// OpenSSL's default nonce size is 12 bytes.
bool Begin(EVP_CIPHER_CTX* context, Direction direction, const Secret& key, const AeadNonce& nonce, ByteSpan aad) {
  return context != nullptr && Cipher() != nullptr &&
         EVP_CipherInit_ex2(context, Cipher(), key.Read(SecretAccess::Get()).data(), nonce.data(),
                            static_cast<int>(direction), nullptr) == 1 &&
         Update(context, nullptr, aad);
}

bool SealInto(EVP_CIPHER_CTX* context, std::span<const ByteSpan> parts, std::span<uint8_t> text,
              std::span<uint8_t, kAeadTagBytes> tag) {
  for (const ByteSpan part : parts) {
    if (part.size() > text.size() || !Update(context, text.data(), part)) return false;
    text = text.subspan(part.size());
  }
  int size = 0;
  return Update(context, text.data(), text) && EVP_CipherFinal_ex(context, nullptr, &size) == 1 &&
         EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, kAeadTagBytes, tag.data()) == 1;
}

using KeyContextPtr = std::unique_ptr<EVP_PKEY_CTX, OpensslDeleter<EVP_PKEY_CTX_free>>;

absl::Status OpensslFailed() { return absl::InternalError("OpenSSL cannot compute X25519"); }

KeyPtr PrivateKey(const Secret& key) {
  const ByteSpan bytes = key.Read(SecretAccess::Get());
  return KeyPtr(EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, bytes.data(), bytes.size()));
}

KeyPtr NewKey() {
  const KeyContextPtr context(EVP_PKEY_CTX_new_id(EVP_PKEY_X25519, nullptr));
  EVP_PKEY* key = nullptr;
  if (context == nullptr || EVP_PKEY_keygen_init(context.get()) != 1) return nullptr;
  return EVP_PKEY_keygen(context.get(), &key) == 1 ? KeyPtr(key) : nullptr;
}

constexpr absl::string_view kVersion = "HPKE-v1";

// The parts, one after the other, in memory that is wiped.
Secret Joined(std::initializer_list<ByteSpan> parts) {
  size_t size = 0;
  for (const ByteSpan part : parts) size += part.size();
  Secret joined(size);
  auto end = joined.Write(SecretAccess::Get()).begin();
  for (const ByteSpan part : parts) end = std::ranges::copy(part, end).out;
  return joined;
}

ByteSpan BytesOf(absl::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

constexpr size_t kSecretBytes = 32;
constexpr uint8_t kModeBase = 0;

absl::StatusOr<Bytes> ScheduleContext(ByteSpan info) {
  // Hashes of what is public.
  SIDEBAND_ASSIGN_OR_RETURN(const Secret psk_id_hash, LabeledExtract(kHpkeSuite, "psk_id_hash", {}));
  SIDEBAND_ASSIGN_OR_RETURN(const Secret info_hash, LabeledExtract(kHpkeSuite, "info_hash", info));
  ByteWriter context;
  context.U8(kModeBase);
  context.Raw(psk_id_hash.Read(SecretAccess::Get()));
  context.Raw(info_hash.Read(SecretAccess::Get()));
  return std::move(context).Take();
}

}  // namespace

absl::StatusOr<Secret> HkdfExtract(ByteSpan salt, const Secret& key_material) {
  return Derive(EVP_KDF_HKDF_MODE_EXTRACT_ONLY, key_material, OSSL_KDF_PARAM_SALT, salt, kHashBytes);
}

absl::StatusOr<Secret> HkdfExpand(const Secret& prk, ByteSpan info, size_t size) {
  return Derive(EVP_KDF_HKDF_MODE_EXPAND_ONLY, prk, OSSL_KDF_PARAM_INFO, info, size);
}

absl::StatusOr<Secret> HkdfSha256(const Secret& key_material, ByteSpan salt, ByteSpan info, size_t size) {
  SIDEBAND_ASSIGN_OR_RETURN(const Secret prk, HkdfExtract(salt, key_material));
  return HkdfExpand(prk, info, size);
}

absl::Status AeadSeal(const Secret& key, const AeadNonce& nonce, ByteSpan aad, std::span<uint8_t> text,
                      std::span<uint8_t, kAeadTagBytes> tag) {
  return AeadSeal(key, nonce, aad, {}, text, tag);
}

absl::StatusOr<AeadSealer> AeadSealer::Create(const Secret& key) {
  SIDEBAND_RETURN_IF_ERROR(CheckKey(key));
  CipherContextPtr context(EVP_CIPHER_CTX_new());
  if (context == nullptr || Cipher() == nullptr ||
      EVP_CipherInit_ex2(context.get(), Cipher(), key.Read(SecretAccess::Get()).data(), nullptr,
                         static_cast<int>(Direction::kSeal), nullptr) != 1) {
    return absl::InternalError("OpenSSL cannot seal with AES-256-GCM");
  }
  return AeadSealer(std::move(context));
}

absl::Status AeadSealer::Seal(const AeadNonce& nonce, ByteSpan aad, std::span<uint8_t> text,
                              std::span<uint8_t, kAeadTagBytes> tag) {
  absl::Status status = CheckSizes(aad, text);
  if (status.ok() && (EVP_CipherInit_ex2(context_.get(), nullptr, nullptr, nonce.data(),
                                         static_cast<int>(Direction::kSeal), nullptr) != 1 ||
                      !Update(context_.get(), nullptr, aad) || !SealInto(context_.get(), {}, text, tag))) {
    status = absl::InternalError("OpenSSL cannot seal with AES-256-GCM");
  }
  if (!status.ok()) WipeBytes(text);
  return status;
}

absl::Status AeadSeal(const Secret& key, const AeadNonce& nonce, ByteSpan aad, std::span<const ByteSpan> parts,
                      std::span<uint8_t> text, std::span<uint8_t, kAeadTagBytes> tag) {
  absl::Status sizes = CheckKey(key);
  if (sizes.ok()) sizes = CheckSizes(aad, text);
  if (!sizes.ok()) {
    WipeBytes(text);
    return sizes;
  }
  const CipherContextPtr context(EVP_CIPHER_CTX_new());
  if (!Begin(context.get(), Direction::kSeal, key, nonce, aad) || !SealInto(context.get(), parts, text, tag)) {
    WipeBytes(text);
    return absl::InternalError("OpenSSL cannot seal with AES-256-GCM");
  }
  return absl::OkStatus();
}

absl::Status AeadOpen(const Secret& key, const AeadNonce& nonce, ByteSpan aad, std::span<uint8_t> text,
                      std::span<const uint8_t, kAeadTagBytes> tag) {
  SIDEBAND_RETURN_IF_ERROR(CheckKey(key));
  SIDEBAND_RETURN_IF_ERROR(CheckSizes(aad, text));
  const CipherContextPtr context(EVP_CIPHER_CTX_new());
  AeadNonce::value_type expected[kAeadTagBytes];  // the control takes no const
  std::copy(tag.begin(), tag.end(), expected);
  int size = 0;
  if (!Begin(context.get(), Direction::kOpen, key, nonce, aad) || !Update(context.get(), text.data(), text) ||
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, kAeadTagBytes, expected) != 1 ||
      EVP_CipherFinal_ex(context.get(), nullptr, &size) != 1) {
    // The tag is verified last; unauthenticated plaintext must not remain in memory.
    WipeBytes(text);
    return absl::InvalidArgumentError("not sealed with this key");
  }
  return absl::OkStatus();
}

absl::StatusOr<KeyPair> KeyPair::Generate() {
  const KeyPtr key = NewKey();
  Secret private_key(kX25519Bytes);
  size_t size = kX25519Bytes;
  if (key == nullptr ||
      EVP_PKEY_get_raw_private_key(key.get(), private_key.Write(SecretAccess::Get()).data(), &size) != 1) {
    return OpensslFailed();
  }
  return OfPrivate(std::move(private_key));
}

absl::StatusOr<KeyPair> KeyPair::OfPrivate(Secret private_key) {
  if (private_key.size() != kX25519Bytes) return absl::InvalidArgumentError("a private key of a wrong size");
  const KeyPtr key = PrivateKey(private_key);
  PublicKey public_key;
  size_t size = public_key.size();
  if (key == nullptr || EVP_PKEY_get_raw_public_key(key.get(), public_key.data(), &size) != 1) return OpensslFailed();
  return KeyPair(std::move(private_key), public_key);
}

absl::StatusOr<Secret> SharedSecret(const KeyPair& own, const PublicKey& peer) {
  const KeyPtr private_key = PrivateKey(own.private_key());
  const KeyPtr public_key(EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr, peer.data(), peer.size()));
  const KeyContextPtr context(private_key == nullptr ? nullptr : EVP_PKEY_CTX_new(private_key.get(), nullptr));
  if (context == nullptr || public_key == nullptr || EVP_PKEY_derive_init(context.get()) != 1 ||
      EVP_PKEY_derive_set_peer(context.get(), public_key.get()) != 1) {
    return OpensslFailed();
  }
  Secret shared(kX25519Bytes);
  size_t size = kX25519Bytes;
  // OpenSSL fails for a result of zero; the comparison does not rest on it.
  const bool is_derived = EVP_PKEY_derive(context.get(), shared.Write(SecretAccess::Get()).data(), &size) == 1;
  if (!is_derived || shared == Secret(kX25519Bytes)) return absl::InvalidArgumentError("a public key of small order");
  return shared;
}

absl::StatusOr<Secret> LabeledExtract(ByteSpan suite, const Secret* salt, absl::string_view label,
                                      const Secret& key_material) {
  const Secret labeled = Joined({BytesOf(kVersion), suite, BytesOf(label), key_material.Read(SecretAccess::Get())});
  return HkdfExtract(salt == nullptr ? ByteSpan() : salt->Read(SecretAccess::Get()), labeled);
}

absl::StatusOr<Secret> LabeledExtract(ByteSpan suite, absl::string_view label, ByteSpan key_material) {
  return LabeledExtract(suite, nullptr, label, Secret::CopyOf(key_material));
}

absl::StatusOr<Secret> LabeledExpand(ByteSpan suite, const Secret& prk, absl::string_view label, ByteSpan info,
                                     size_t size) {
  const uint8_t length[] = {static_cast<uint8_t>(size >> 8), static_cast<uint8_t>(size)};
  const Secret labeled = Joined({length, BytesOf(kVersion), suite, BytesOf(label), info});
  return HkdfExpand(prk, labeled.Read(SecretAccess::Get()), size);
}

absl::StatusOr<HpkeKeys> HpkeKeys::Schedule(const Secret& shared_secret, ByteSpan info) {
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes context, ScheduleContext(info));
  SIDEBAND_ASSIGN_OR_RETURN(const Secret secret, LabeledExtract(kHpkeSuite, &shared_secret, "secret", Secret()));
  SIDEBAND_ASSIGN_OR_RETURN(Secret key, LabeledExpand(kHpkeSuite, secret, "key", context, kAeadKeyBytes));
  SIDEBAND_ASSIGN_OR_RETURN(Secret base_nonce,
                            LabeledExpand(kHpkeSuite, secret, "base_nonce", context, kAeadNonceBytes));
  SIDEBAND_ASSIGN_OR_RETURN(Secret exporter, LabeledExpand(kHpkeSuite, secret, "exp", context, kSecretBytes));
  return HpkeKeys(std::move(key), std::move(base_nonce), std::move(exporter));
}

AeadNonce HpkeKeys::NonceFor(uint64_t sequence) const {
  AeadNonce nonce;
  std::ranges::copy(base_nonce_.Read(SecretAccess::Get()), nonce.begin());
  for (size_t i = 0; i < sizeof(sequence); ++i) nonce[nonce.size() - 1 - i] ^= static_cast<uint8_t>(sequence >> 8 * i);
  return nonce;
}

absl::StatusOr<Secret> HpkeKeys::Export(ByteSpan context, size_t size) const {
  return LabeledExpand(kHpkeSuite, exporter_, "sec", context, size);
}

absl::StatusOr<Secret> KemSecret(const Secret& dh, const PublicKey& enc, const PublicKey& receiver) {
  SIDEBAND_ASSIGN_OR_RETURN(const Secret prk, LabeledExtract(kKemSuite, nullptr, "eae_prk", dh));
  ByteWriter context;
  context.Raw(enc);
  context.Raw(receiver);
  return LabeledExpand(kKemSuite, prk, "shared_secret", context.written(), kSecretBytes);
}

absl::StatusOr<KeyPair> DeriveKeyPair(const Secret& key_material) {
  SIDEBAND_ASSIGN_OR_RETURN(const Secret prk, LabeledExtract(kKemSuite, nullptr, "dkp_prk", key_material));
  SIDEBAND_ASSIGN_OR_RETURN(Secret private_key, LabeledExpand(kKemSuite, prk, "sk", {}, kX25519Bytes));
  return KeyPair::OfPrivate(std::move(private_key));
}

absl::StatusOr<Encapsulated> SetUpSenderWith(const KeyPair& ephemeral, const PublicKey& receiver, ByteSpan info) {
  SIDEBAND_ASSIGN_OR_RETURN(const Secret dh, SharedSecret(ephemeral, receiver));
  SIDEBAND_ASSIGN_OR_RETURN(const Secret shared, KemSecret(dh, ephemeral.public_key(), receiver));
  SIDEBAND_ASSIGN_OR_RETURN(HpkeKeys keys, HpkeKeys::Schedule(shared, info));
  return Encapsulated{ephemeral.public_key(), std::move(keys)};
}

absl::StatusOr<Encapsulated> SetUpSender(const PublicKey& receiver, ByteSpan info) {
  SIDEBAND_ASSIGN_OR_RETURN(const KeyPair ephemeral, KeyPair::Generate());
  return SetUpSenderWith(ephemeral, receiver, info);
}

absl::StatusOr<HpkeKeys> SetUpReceiver(const PublicKey& enc, const KeyPair& receiver, ByteSpan info) {
  SIDEBAND_ASSIGN_OR_RETURN(const Secret dh, SharedSecret(receiver, enc));
  SIDEBAND_ASSIGN_OR_RETURN(const Secret shared, KemSecret(dh, enc, receiver.public_key()));
  return HpkeKeys::Schedule(shared, info);
}

}  // namespace sideband::envelope
