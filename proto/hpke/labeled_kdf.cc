// SPDX-License-Identifier: Apache-2.0
#include "proto/hpke/labeled_kdf.h"

#include <algorithm>
#include <initializer_list>

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

}  // namespace sideband::hpke
