// SPDX-License-Identifier: Apache-2.0
//
// Seals and opens a single record. The sealer (daemon/sealing) chooses the sequence; the opener (client/lib) decides
// whether a record is still acceptable.
//   SIDEBAND_ASSIGN_OR_RETURN(const Bytes record, SealRecord(keys, header, content));
//   SIDEBAND_ASSIGN_OR_RETURN(const RecordView view, ParseRecord(record));
//   SIDEBAND_ASSIGN_OR_RETURN(const SecretBytes opened, OpenRecord(keys, view));
#ifndef SIDEBAND_PROTO_ENVELOPE_SEAL_H_
#define SIDEBAND_PROTO_ENVELOPE_SEAL_H_

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/base/secret_memory.h"
#include "proto/envelope/keys.h"
#include "proto/envelope/record.h"

namespace sideband::envelope {

// The caller must use a sequence only once under `keys`. INVALID_ARGUMENT if the header is not of the keys' scope, or
// if its padded length is invalid or too small for the content. No copy of the content remains in memory.
absl::StatusOr<Bytes> SealRecord(const SessionKeys& keys, const RecordHeader& header, ByteSpan content);

// Returns the content in memory that is excluded from core dumps and wiped when it is freed. INVALID_ARGUMENT, without
// further detail, for a record that was not sealed with these keys in exactly this form.
absl::StatusOr<SecretBytes> OpenRecord(const SessionKeys& keys, const RecordView& record);

}  // namespace sideband::envelope

#endif  // SIDEBAND_PROTO_ENVELOPE_SEAL_H_
