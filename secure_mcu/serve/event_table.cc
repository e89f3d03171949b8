// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/event_table.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace sideband::mcu {
namespace {

bool IsMetricName(const std::string& name) {
  if (name.empty() || absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) return false;
  for (const unsigned char c : name) {
    if (!absl::ascii_islower(c) && !absl::ascii_isdigit(c) && c != '_') return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<uint16_t> EventTable::Add(const std::string& name, mailbox::EventScope scope) {
  if (!IsMetricName(name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("event '", name, "' must be made of a-z, 0-9 and '_', and not start with a digit"));
  }
  const auto [entry, is_new] = index_.try_emplace(name, static_cast<uint16_t>(events_.size()));
  if (!is_new) {
    if (events_[entry->second].scope == scope) return entry->second;
    return absl::InvalidArgumentError(absl::StrCat("event '", name, "' is both of slices and of the whole device"));
  }
  if (events_.size() == mailbox::kEventsMax) {
    return absl::InvalidArgumentError(absl::StrCat("more than ", mailbox::kEventsMax, " events"));
  }
  events_.push_back({.name = name,
                     .unit = absl::EndsWith(name, "_cycles") ? "cycles" : "events",
                     .scope = scope,
                     .description = absl::StrReplaceAll(name, {{"_", " "}})});
  return entry->second;
}

std::optional<uint16_t> EventTable::Find(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> EventTable::names() const {
  std::vector<std::string> names;
  for (const mailbox::EventInfo& event : events_) names.push_back(event.name);
  return names;
}

}  // namespace sideband::mcu
