// SPDX-License-Identifier: Apache-2.0
//
// HKDF-SHA256 (RFC 5869), extract and expand, by OpenSSL.
#ifndef SIDEBAND_PROTO_ENVELOPE_HKDF_H_
#define SIDEBAND_PROTO_ENVELOPE_HKDF_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/envelope/secret.h"

namespace sideband::envelope {

// Derives `size` bytes, at most 255 * 32. INTERNAL if OpenSSL fails. An empty salt means 32 zero bytes, as in the RFC.
absl::StatusOr<Secret> HkdfSha256(const Secret& key_material, ByteSpan salt, ByteSpan info, size_t size);

}  // namespace sideband::envelope

#endif  // SIDEBAND_PROTO_ENVELOPE_HKDF_H_
