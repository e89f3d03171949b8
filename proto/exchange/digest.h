// SPDX-License-Identifier: Apache-2.0
//
// SHA-2 digests by OpenSSL.
//   SIDEBAND_ASSIGN_OR_RETURN(const Sha256Digest digest, Sha256(request));
#ifndef SIDEBAND_PROTO_EXCHANGE_DIGEST_H_
#define SIDEBAND_PROTO_EXCHANGE_DIGEST_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"

namespace sideband::exchange {

using Sha256Digest = std::array<uint8_t, 32>;
using Sha384Digest = std::array<uint8_t, 48>;
using Sha512Digest = std::array<uint8_t, 64>;

// INTERNAL if OpenSSL fails.
absl::StatusOr<Sha256Digest> Sha256(ByteSpan bytes);
absl::StatusOr<Sha512Digest> Sha512(ByteSpan bytes);

// Of the running program's file: what it says of itself to guests. Nobody attests it. UNAVAILABLE if it cannot be read.
absl::StatusOr<Sha384Digest> MeasureThisProgram();

}  // namespace sideband::exchange

#endif  // SIDEBAND_PROTO_EXCHANGE_DIGEST_H_
