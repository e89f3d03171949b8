// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/decision_log.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/audit/entry.h"

namespace sideband::daemon {
namespace {

using Kind = Resource::Kind;

// The name that distinguishes the decision from others on the same subject; empty for a subject with a single decision.
std::string NameOf(const Resource& resource) {
  switch (resource.kind) {
    case Kind::kVmIdentity:
      return resource.vm.ToString();
    case Kind::kContext:
      return resource.context;
    case Kind::kEvent:
    case Kind::kGateGroup:
      return resource.event;
    case Kind::kDevice:
    case Kind::kVm:
    case Kind::kSelfMetrics:
    case Kind::kAuditLog:
    case Kind::kBoard:
    case Kind::kPartition:
      break;
  }
  return "";
}

std::string OutcomeText(const Decision& decision) {
  return absl::StrCat(decision.allowed ? "allow (" : "deny (", decision.reason, ")");
}

// Adds `start` followed by the names, split into as many texts as needed.
void AppendNames(const std::string& start, const std::vector<std::string>& names, std::vector<std::string>& texts) {
  std::string text = start;
  for (const std::string& name : names) {
    const bool is_first = text.size() == start.size();
    if (!is_first && text.size() + 2 + name.size() > kAuditTextBytesMax) {
      texts.push_back(std::exchange(text, start));
    }
    absl::StrAppend(&text, text.size() == start.size() ? " " : ", ", name);
  }
  texts.push_back(std::move(text));
}

std::vector<std::string> Sorted(std::vector<std::string> names) {
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

void DecisionLog::Add(const Resource& resource, Right right, const Decision& decision) {
  // The identities of all VMs are one subject.
  const Subject subject{resource.kind, !resource.context.empty(), right,
                        resource.kind == Kind::kVmIdentity ? Uuid{} : resource.vm};
  const auto [place, is_new] =
      places_.try_emplace(Key(subject.kind, subject.is_context_level, subject.right, subject.vm), entries_.size());
  if (is_new) entries_.push_back({subject, {}});
  std::vector<Outcome>& outcomes = entries_[place->second].outcomes;
  auto outcome = std::ranges::find_if(outcomes, [&](const Outcome& one) {
    return one.decision.allowed == decision.allowed && one.decision.reason == decision.reason;
  });
  if (outcome == outcomes.end()) outcome = outcomes.insert(outcomes.end(), {decision, {}});
  if (std::string name = NameOf(resource); !name.empty()) outcome->names.push_back(std::move(name));
}

std::string DecisionLog::Title(const Subject& subject) {
  const std::string whose = subject.vm.is_nil() ? "device" : absl::StrCat("vm ", subject.vm.ToString());
  switch (subject.kind) {
    case Kind::kVmIdentity:
      return "vms";
    case Kind::kContext:
      return whose + " contexts";
    case Kind::kEvent:
      return whose + (subject.is_context_level ? " context events" : " events");
    case Kind::kGateGroup:
      return whose + " gate groups";
    case Kind::kDevice:
    case Kind::kVm:
    case Kind::kSelfMetrics:
    case Kind::kAuditLog:
    case Kind::kBoard:
    case Kind::kPartition:
      break;
  }
  return whose + (subject.right == Right::kSeal ? " sealed" : "");
}

void DecisionLog::AppendTexts(const Entry& entry, std::vector<std::string>& texts) {
  const bool is_of_many = entry.subject.kind == Kind::kContext || entry.subject.kind == Kind::kEvent;
  const bool is_mixed = entry.outcomes.size() > 1;
  for (const Outcome& outcome : entry.outcomes) {
    const std::string start = absl::StrCat(Title(entry.subject), ": ", OutcomeText(outcome.decision));
    // Names are listed only for the allowed part of a mixed outcome: tenants can create any number of contexts.
    if (is_of_many && !(is_mixed && outcome.decision.allowed)) {
      texts.push_back(start + (is_mixed ? ": others" : ": all"));
    } else if (outcome.names.empty()) {
      texts.push_back(start);
    } else {
      AppendNames(start + ":", Sorted(outcome.names), texts);
    }
  }
}

std::vector<std::string> DecisionLog::Texts() const {
  std::vector<std::string> texts;
  for (const Entry& entry : entries_) AppendTexts(entry, texts);
  return texts;
}

}  // namespace sideband::daemon
