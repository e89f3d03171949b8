// SPDX-License-Identifier: Apache-2.0
//
// HKDF-SHA256 (RFC 5869) by OpenSSL.
//   SIDEBAND_ASSIGN_OR_RETURN(const Secret prk, HkdfExtract(salt, key_material));
//   SIDEBAND_ASSIGN_OR_RETURN(const Secret key, HkdfExpand(prk, info, 32));
#ifndef SIDEBAND_PROTO_ENVELOPE_HKDF_H_
#define SIDEBAND_PROTO_ENVELOPE_HKDF_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/envelope/secret.h"

namespace sideband::envelope {

// 32 bytes. INTERNAL if OpenSSL fails. An empty salt means 32 zero bytes, as in the RFC.
absl::StatusOr<Secret> HkdfExtract(ByteSpan salt, const Secret& key_material);
// `size` bytes, at most 255 * 32, likewise.
absl::StatusOr<Secret> HkdfExpand(const Secret& prk, ByteSpan info, size_t size);
// Both.
absl::StatusOr<Secret> HkdfSha256(const Secret& key_material, ByteSpan salt, ByteSpan info, size_t size);

}  // namespace sideband::envelope

#endif  // SIDEBAND_PROTO_ENVELOPE_HKDF_H_
