// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/view_auditor.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/authz/role_name.h"

namespace sideband::daemon {

bool ViewAuditor::IsNews(const Key& key, uint64_t policy_version, const std::string& outcome) {
  absl::MutexLock lock(&mu_);
  if (policy_version < policy_version_) return true;  // a straggler under an old policy
  if (policy_version > policy_version_) told_.clear();
  policy_version_ = policy_version;
  std::string& told = told_[key];
  if (told == outcome) return false;
  told = outcome;
  return true;
}

void ViewAuditor::OnView(size_t device, const VersionedPolicy& policy, const Principal& principal,
                         const DecisionLog& decisions) {
  const std::vector<std::string> texts = decisions.Texts();
  if (!IsNews(Key(device, principal.group()), policy.version, AuditHash(absl::StrJoin(texts, "\n")))) return;
  for (size_t begin = 0; begin < texts.size(); begin += kAuditDetailMax) {
    const size_t end = std::min(begin + kAuditDetailMax, texts.size());
    audit_.Record({.kind = AuditKind::kView,
                   .principal = principal.identity,
                   .role = RoleName(*policy.policy, principal),
                   .resource = absl::StrCat("device ", devices_[device].name),
                   .reason = begin == 0 ? "the first to ask of its role" : "continued",
                   .policy_version = policy.version,
                   .detail = {texts.begin() + static_cast<long>(begin), texts.begin() + static_cast<long>(end)}});
  }
}

}  // namespace sideband::daemon
