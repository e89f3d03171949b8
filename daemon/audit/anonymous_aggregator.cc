// SPDX-License-Identifier: Apache-2.0
#include "daemon/audit/anonymous_aggregator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

bool IsNobodys(const AuditEntry& entry) {
  return entry.kind == AuditKind::kAccess && entry.principal.empty() && entry.decision == AuditDecision::kDeny;
}

// The key omits the requested resource: a peer can make up any number of paths and filters.
std::string KeyOf(const AuditEntry& entry) {
  std::string key = absl::StrCat(entry.endpoint, "\n", entry.reason);
  for (const std::string& shown : entry.detail) absl::StrAppend(&key, "\n", shown);
  return key;
}

// Never a result of KeyOf(), which has a line break.
constexpr char kOtherKinds[] = "";

// The summary of the kinds beyond kinds_max.
AuditEntry OfOtherKinds(const AuditEntry& entry) {
  return {.decision = AuditDecision::kDeny,
          .reason = "other kinds, counted together",
          .policy_version = entry.policy_version};
}

}  // namespace

bool AnonymousAggregator::Count(const AuditEntry& entry, absl::Duration now) {
  if (!IsNobodys(entry)) return false;
  std::string key = KeyOf(entry);
  if (kinds_.size() >= options_.kinds_max && !kinds_.contains(key)) key = kOtherKinds;
  const auto [place, is_new] = kinds_.try_emplace(key);
  Kind& kind = place->second;
  if (is_new) {
    kind.end = now + options_.window;
    next_end_ = std::min(next_end_, kind.end);
    return false;
  }
  const uint64_t repeated = kind.last.repeated + 1;
  kind.last = key == kOtherKinds ? OfOtherKinds(entry) : entry;
  kind.last.repeated = repeated;
  return true;
}

std::vector<AuditEntry> AnonymousAggregator::TakeEnded(absl::Duration now) {
  std::vector<AuditEntry> summaries;
  if (now < next_end_) return summaries;
  next_end_ = absl::InfiniteDuration();
  absl::erase_if(kinds_, [&](auto& entry) {
    Kind& kind = entry.second;
    if (kind.end > now) {
      next_end_ = std::min(next_end_, kind.end);
      return false;
    }
    if (kind.last.repeated > 0) summaries.push_back(std::move(kind.last));
    return true;
  });
  return summaries;
}

}  // namespace sideband::daemon
