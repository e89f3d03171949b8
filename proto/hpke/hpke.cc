// SPDX-License-Identifier: Apache-2.0
#include "proto/hpke/hpke.h"

#include <algorithm>
#include <initializer_list>

#include "proto/base/status_macros.h"
#include "proto/envelope/hkdf.h"
#include "proto/envelope/secret_access.h"

namespace sideband::hpke {
namespace {

using envelope::SecretAccess;

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

}  // namespace

absl::StatusOr<Secret> LabeledExtract(ByteSpan suite, const Secret* salt, absl::string_view label,
                                      const Secret& key_material) {
  const Secret labeled = Joined({BytesOf(kVersion), suite, BytesOf(label), key_material.Read(SecretAccess::Get())});
  return envelope::HkdfExtract(salt == nullptr ? ByteSpan() : salt->Read(SecretAccess::Get()), labeled);
}

absl::StatusOr<Secret> LabeledExtract(ByteSpan suite, absl::string_view label, ByteSpan key_material) {
  return LabeledExtract(suite, nullptr, label, Secret::CopyOf(key_material));
}

absl::StatusOr<Secret> LabeledExpand(ByteSpan suite, const Secret& prk, absl::string_view label, ByteSpan info,
                                     size_t size) {
  const uint8_t length[] = {static_cast<uint8_t>(size >> 8), static_cast<uint8_t>(size)};
  const Secret labeled = Joined({length, BytesOf(kVersion), suite, BytesOf(label), info});
  return envelope::HkdfExpand(prk, labeled.Read(SecretAccess::Get()), size);
}

namespace {

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

absl::StatusOr<HpkeKeys> HpkeKeys::Schedule(const Secret& shared_secret, ByteSpan info) {
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes context, ScheduleContext(info));
  SIDEBAND_ASSIGN_OR_RETURN(const Secret secret, LabeledExtract(kHpkeSuite, &shared_secret, "secret", Secret()));
  SIDEBAND_ASSIGN_OR_RETURN(Secret key, LabeledExpand(kHpkeSuite, secret, "key", context, envelope::kAeadKeyBytes));
  SIDEBAND_ASSIGN_OR_RETURN(Secret base_nonce,
                            LabeledExpand(kHpkeSuite, secret, "base_nonce", context, envelope::kAeadNonceBytes));
  SIDEBAND_ASSIGN_OR_RETURN(Secret exporter, LabeledExpand(kHpkeSuite, secret, "exp", context, kSecretBytes));
  return HpkeKeys(std::move(key), std::move(base_nonce), std::move(exporter));
}

envelope::AeadNonce HpkeKeys::NonceFor(uint64_t sequence) const {
  envelope::AeadNonce nonce;
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

}  // namespace sideband::hpke
