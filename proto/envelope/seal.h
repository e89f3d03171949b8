// SPDX-License-Identifier: Apache-2.0
//
// Makes and opens one sealed record. Which sequence comes next, and which records are still acceptable, is for the
// sealer (daemon/sealing) and the opener (client/lib) to say.
//   SIDEBAND_ASSIGN_OR_RETURN(const Bytes record, SealRecord(keys, header, content));
//   SIDEBAND_ASSIGN_OR_RETURN(const RecordView view, ParseRecord(record));
//   SIDEBAND_ASSIGN_OR_RETURN(const Bytes content, OpenRecord(keys, view));
#ifndef SIDEBAND_PROTO_ENVELOPE_SEAL_H_
#define SIDEBAND_PROTO_ENVELOPE_SEAL_H_

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/envelope/keys.h"
#include "proto/envelope/record.h"

namespace sideband::envelope {

// The caller owes a sequence never used before under `keys`. INVALID_ARGUMENT where the header is not of the keys'
// scope, or its padded length is none or too small for the content. No copy of the content is left behind.
absl::StatusOr<Bytes> SealRecord(const SessionKeys& keys, const RecordHeader& header, ByteSpan content);

// The content, which the caller wipes after use (ScopedWipe). INVALID_ARGUMENT for a record that was not sealed with
// these keys in exactly this form, without saying why.
absl::StatusOr<Bytes> OpenRecord(const SessionKeys& keys, const RecordView& record);

}  // namespace sideband::envelope

#endif  // SIDEBAND_PROTO_ENVELOPE_SEAL_H_
