// SPDX-License-Identifier: Apache-2.0
//
// What an opened record of suite 2 says, as a snapshot of the API.
//   SIDEBAND_ASSIGN_OR_RETURN(const v1::SealedContent content, SealedContentOf(opened, keys.statement.events));
#ifndef SIDEBAND_CLIENT_LIB_SEALED_SNAPSHOT_H_
#define SIDEBAND_CLIENT_LIB_SEALED_SNAPSHOT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/lib/opener.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

// `events` are those of the exchange's statement. The VM is named by its UUID, and the device not at all: records do
// not have the names. DATA_LOSS: content that is not counts, or of another number of events.
absl::StatusOr<sideband::v1::SealedContent> SealedContentOf(const OpenResult& opened,
                                                            const std::vector<std::string>& events);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_SEALED_SNAPSHOT_H_
