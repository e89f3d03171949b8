// SPDX-License-Identifier: Apache-2.0
//
// Seals a single record. The sealer (daemon/sealing, secure_mcu/sealing) chooses the sequence.
//   SIDEBAND_ASSIGN_OR_RETURN(const Bytes record, SealRecord(keys, header, content));
#ifndef SIDEBAND_PROTO_ENVELOPE_SEAL_H_
#define SIDEBAND_PROTO_ENVELOPE_SEAL_H_

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/envelope/keys.h"
#include "proto/envelope/record.h"

namespace sideband::envelope {

// The caller must use a sequence only once under `keys`. INVALID_ARGUMENT if the header is not of the keys' scope, or
// if its padded length is invalid or too small for the content. No copy of the content remains in memory.
absl::StatusOr<Bytes> SealRecord(const SessionKeys& keys, const RecordHeader& header, ByteSpan content);

}  // namespace sideband::envelope

#endif  // SIDEBAND_PROTO_ENVELOPE_SEAL_H_
