// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/access_entry.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/authz/policy.h"

namespace sideband::daemon {
namespace {

std::vector<std::string> WhatWasShown(const Credentials& credentials) {
  std::vector<std::string> shown;
  for (const std::string& uri : credentials.certificate.uris) shown.push_back("certificate uri " + uri);
  for (const std::string& dns : credentials.certificate.dns_names) shown.push_back("certificate dns " + dns);
  if (credentials.bearer_token) shown.push_back("bearer token");
  // The peer decides how many names its certificate has.
  if (shown.size() > kAuditDetailMax) shown.resize(kAuditDetailMax);
  return shown;
}

std::string ReasonOf(const absl::Status& outcome) {
  if (outcome.ok()) return "in the policy";
  // Absent and denied objects have the same status (row_filter.h).
  if (absl::IsNotFound(outcome)) return "absent or denied";
  return absl::StrCat(absl::StatusCodeToString(outcome.code()), ": ", outcome.message());
}

std::string Joined(const std::string& note, const std::string& reason) {
  return note.empty() ? reason : absl::StrCat(note, ": ", reason);
}

}  // namespace

AuditEntry AccessEntry(const Reader& reader, const absl::StatusOr<Caller>& caller, const Credentials& credentials,
                       const Access& access, const absl::Status& outcome) {
  AuditEntry entry{.kind = AuditKind::kAccess,
                   .endpoint = access.endpoint,
                   .resource = access.resource,
                   .decision = AuditDecision::kDeny};
  if (!caller.ok()) {
    // The reason is for the log only; the response does not have it.
    entry.reason = Joined(access.note, std::string(caller.status().message()));
    entry.policy_version = reader.CurrentPolicy().version;
    entry.detail = WhatWasShown(credentials);
    return entry;
  }
  entry.principal = caller->principal.identity;
  entry.role = RoleName(*caller->policy.policy, caller->principal);
  entry.policy_version = caller->policy.version;
  entry.reason = Joined(access.note, ReasonOf(outcome));
  if (outcome.ok()) entry.decision = AuditDecision::kAllow;
  if (!access.id.empty()) entry.detail.push_back("request " + access.id);
  return entry;
}

}  // namespace sideband::daemon
