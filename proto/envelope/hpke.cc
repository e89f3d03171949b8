// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/hpke.h"

#include <openssl/evp.h>

#include <algorithm>
#include <initializer_list>
#include <memory>

#include "proto/base/openssl.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/primitives.h"
#include "proto/envelope/secret_access.h"

namespace sideband::envelope {
namespace {

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
