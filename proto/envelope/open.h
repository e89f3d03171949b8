// SPDX-License-Identifier: Apache-2.0
//
// Opens a single record. The opener (client/lib) decides whether it is still acceptable. Apart from keys.h, since no
// sealer can open what it has sealed: the daemon does not contain this.
//   SIDEBAND_ASSIGN_OR_RETURN(const RecordView view, ParseRecord(record));
//   SIDEBAND_ASSIGN_OR_RETURN(const SecretBytes opened, OpenRecord(keys, view));
#ifndef SIDEBAND_PROTO_ENVELOPE_OPEN_H_
#define SIDEBAND_PROTO_ENVELOPE_OPEN_H_

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/envelope/keys.h"
#include "proto/envelope/record.h"

namespace sideband::envelope {

// Returns the content in memory that is excluded from core dumps and wiped when it is freed. INVALID_ARGUMENT, without
// further detail, for a record that was not sealed with these keys in exactly this form.
absl::StatusOr<SecretBytes> OpenRecord(const SessionKeys& keys, const RecordView& record);

}  // namespace sideband::envelope

#endif  // SIDEBAND_PROTO_ENVELOPE_OPEN_H_
