// SPDX-License-Identifier: Apache-2.0
//
// An audit log's files, put in order and followed by a ChainVerifier.
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

// The files by the sequence of their first entries; empty ones first. A file that cannot be read is the error that
// ReadFile gives; what is no regular file, which could not be read twice, is INVALID_ARGUMENT; one that does not begin
// with an entry is DATA_LOSS "FILE:1: why".
absl::StatusOr<std::vector<std::string>> OrderedAuditFiles(std::vector<std::string> paths);

// Reads all of the files, in bounded memory. The error is one of reading only: what the chain says is in `chain`.
absl::Status FeedAuditFiles(const std::vector<std::string>& paths, ChainVerifier& chain);

}  // namespace sideband

#endif  // SIDEBAND_PROTO_AUDIT_VERIFY_FILES_H_
