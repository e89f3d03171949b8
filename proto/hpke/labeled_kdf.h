// SPDX-License-Identifier: Apache-2.0
//
// LabeledExtract and LabeledExpand of HPKE, with HKDF-SHA256 (RFC 9180, section 4).
//   SIDEBAND_ASSIGN_OR_RETURN(const Secret eae_prk, LabeledExtract(kKemSuite, nullptr, "eae_prk", dh));
//   SIDEBAND_ASSIGN_OR_RETURN(const Secret shared, LabeledExpand(kKemSuite, eae_prk, "shared_secret", context, 32));
#ifndef SIDEBAND_PROTO_HPKE_LABELED_KDF_H_
#define SIDEBAND_PROTO_HPKE_LABELED_KDF_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/base/bytes.h"
#include "proto/envelope/secret.h"

namespace sideband::hpke {

using envelope::Secret;

// suite_id of DHKEM(X25519, HKDF-SHA256), and of HPKE with it, HKDF-SHA256 and AES-256-GCM.
inline constexpr uint8_t kKemSuite[] = {'K', 'E', 'M', 0x00, 0x20};
inline constexpr uint8_t kHpkeSuite[] = {'H', 'P', 'K', 'E', 0x00, 0x20, 0x00, 0x01, 0x00, 0x02};

// INTERNAL if OpenSSL fails. A salt of nullptr is the empty one.
absl::StatusOr<Secret> LabeledExtract(ByteSpan suite, const Secret* salt, absl::string_view label,
                                      const Secret& key_material);
// Of public key material.
absl::StatusOr<Secret> LabeledExtract(ByteSpan suite, absl::string_view label, ByteSpan key_material);
// `size` must be at most 255 * 32.
absl::StatusOr<Secret> LabeledExpand(ByteSpan suite, const Secret& prk, absl::string_view label, ByteSpan info,
                                     size_t size);

}  // namespace sideband::hpke

#endif  // SIDEBAND_PROTO_HPKE_LABELED_KDF_H_
