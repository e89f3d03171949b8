// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/view_auditor.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/authz/role_name.h"

namespace sideband::daemon {

namespace {

// Differs where the device, the group or a decision differs.
std::string OutcomeOf(const std::string& device, const Principal& principal, const std::vector<std::string>& texts) {
  return AuditHash(absl::StrCat(device, "\n", principal.group(), "\n", absl::StrJoin(texts, "\n")));
}

}  // namespace

bool ViewAuditor::Enter(uint64_t policy_version) {
  if (policy_version < policy_version_) return false;
  if (policy_version > policy_version_) {
    told_.clear();
    told_ever_.clear();
  }
  policy_version_ = policy_version;
  return true;
}

bool ViewAuditor::IsNews(const Key& key, uint64_t policy_version, const std::string& outcome) {
  absl::MutexLock lock(&mu_);
  // Outcomes under a replaced policy are not remembered, so each of them is audited.
  if (!Enter(policy_version)) return true;
  const auto told = told_.find(key);
  return told == told_.end() || told->second != outcome;
}

bool ViewAuditor::IsNewsOfThePast(uint64_t policy_version, const std::string& outcome) {
  absl::MutexLock lock(&mu_);
  return !Enter(policy_version) || !told_ever_.contains(outcome);
}

void ViewAuditor::Remember(const Key* key, uint64_t policy_version, const std::string& outcome) {
  absl::MutexLock lock(&mu_);
  if (!Enter(policy_version)) return;
  if (key != nullptr) told_[*key] = outcome;
  // A forgotten outcome is audited once more.
  if (told_ever_.size() >= kOutcomesMax) told_ever_.clear();
  told_ever_.insert(outcome);
}

bool ViewAuditor::Audit(const std::string& device, const VersionedPolicy& policy, const Principal& principal,
                        const std::vector<std::string>& texts, const std::string& why) {
  // Texts beyond the limit of one entry follow in further entries.
  for (size_t begin = 0; begin < texts.size(); begin += kAuditDetailMax) {
    const size_t end = std::min(begin + kAuditDetailMax, texts.size());
    const bool is_taken =
        audit_.Record({.kind = AuditKind::kView,
                       .principal = principal.identity,
                       .role = RoleName(*policy.policy, principal),
                       .resource = absl::StrCat("device ", device),
                       .reason = begin == 0 ? why : "continued",
                       .policy_version = policy.version,
                       .detail = {texts.begin() + static_cast<long>(begin), texts.begin() + static_cast<long>(end)}});
    if (!is_taken) return false;
  }
  return true;
}

bool ViewAuditor::OnView(size_t device, const VersionedPolicy& policy, const Principal& principal,
                         const DecisionLog& decisions) {
  const auto info = store_.Info(device);
  if (info == nullptr) return false;  // removed since the request
  const std::string& name = info->name;
  const std::vector<std::string> texts = decisions.Texts();
  const std::string outcome = OutcomeOf(name, principal, texts);
  const Key key(device, principal.group());
  if (!IsNews(key, policy.version, outcome)) return true;
  // Remembered only once the log has taken every entry; until then each request tries again.
  if (!Audit(name, policy, principal, texts, "first request of this role")) return false;
  Remember(&key, policy.version, outcome);
  return true;
}

void ViewAuditor::OnPastView(const DeviceInfo& device, const VersionedPolicy& policy, const Principal& principal,
                             const DecisionLog& decisions) {
  const std::vector<std::string> texts = decisions.Texts();
  const std::string outcome = OutcomeOf(device.name, principal, texts);
  if (!IsNewsOfThePast(policy.version, outcome)) return;
  if (!Audit(device.name, policy, principal, texts, "first request of this role for this past")) return;
  Remember(nullptr, policy.version, outcome);
}

}  // namespace sideband::daemon
