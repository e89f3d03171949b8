// SPDX-License-Identifier: Apache-2.0
//
// The view that a confidential guest has of its own counts: a file with the newest record of each exchange, replaced as
// a whole (README.md, "View of a guest").
//   const Bytes file = EncodeSealedView({record});
//   SIDEBAND_ASSIGN_OR_RETURN(const std::vector<ByteSpan> records, DecodeSealedView(file));
#ifndef SIDEBAND_PROTO_ENVELOPE_SEALED_VIEW_H_
#define SIDEBAND_PROTO_ENVELOPE_SEALED_VIEW_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/base/bytes.h"

namespace sideband::envelope {

// The ending of the file's name, after that of the VM.
inline constexpr absl::string_view kSealedViewEnding = ".sbs";
// An exchange and the one before it, in its grace.
inline constexpr size_t kSealedViewRecordsMax = 2;

// A multiple of eight bytes.
Bytes EncodeSealedView(const std::vector<ByteSpan>& records);
// Views into `file`; what is in a record is not looked at. INVALID_ARGUMENT: another magic or checksum, truncated, too
// many records.
absl::StatusOr<std::vector<ByteSpan>> DecodeSealedView(ByteSpan file);

}  // namespace sideband::envelope

#endif  // SIDEBAND_PROTO_ENVELOPE_SEALED_VIEW_H_
