// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "absl/status/status.h"
#include "proto/audit/chain.h"
#include "proto/audit/entry.h"
#include "proto/base/status_macros.h"

namespace sideband {
namespace {

bool ReadMore(std::string& bytes);

absl::Status UseChainVerifier(const std::string& head_noted_elsewhere, std::string bytes) {
  //@ proto/audit/chain.h
  return absl::OkStatus();
}

absl::Status UseAuditLine(const AuditEntry& entry, std::string head) {
  //@ proto/audit/entry.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband
