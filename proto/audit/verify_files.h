// SPDX-License-Identifier: Apache-2.0
//
// Orders an audit log's files and verifies them with a ChainVerifier.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto files, OrderedAuditFiles({"audit.jsonl", "audit.jsonl.1"}));
//   ChainVerifier chain({});
//   SIDEBAND_RETURN_IF_ERROR(FeedAuditFiles(files, chain));
//   SIDEBAND_RETURN_IF_ERROR(chain.End());
#ifndef SIDEBAND_PROTO_AUDIT_VERIFY_FILES_H_
#define SIDEBAND_PROTO_AUDIT_VERIFY_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/audit/chain.h"

namespace sideband {

// Sorts the files by the sequence of their first entries; empty files come first. Returns ReadFile's error for an
// unreadable file, INVALID_ARGUMENT for a file that is not regular (it could not be read twice), and DATA_LOSS "FILE:1:
// reason" for a file that does not begin with an entry.
absl::StatusOr<std::vector<std::string>> OrderedAuditFiles(std::vector<std::string> paths);

// Reads all files, in bounded memory. Returns read errors only; the verification's result is in `chain`.
absl::Status FeedAuditFiles(const std::vector<std::string>& paths, ChainVerifier& chain);

}  // namespace sideband

#endif  // SIDEBAND_PROTO_AUDIT_VERIFY_FILES_H_
