// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/event_table.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip_file/event_descriptions.h"

namespace sideband::mcu {
namespace {

constexpr absl::string_view kShared = " Of a unit that slices share, for the slice of each request.";

bool IsMetricName(const std::string& name) {
  if (name.empty() || absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) return false;
  for (const unsigned char c : name) {
    if (!absl::ascii_islower(c) && !absl::ascii_isdigit(c) && c != '_') return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<uint16_t> EventTable::Add(const std::string& name, mailbox::EventScope scope, bool prescaled,
                                         bool masked) {
  if (!IsMetricName(name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("event '", name, "' must be made of a-z, 0-9 and '_', and not start with a digit"));
  }
  const absl::string_view unit = absl::EndsWith(name, "_cycles") ? "cycles" : "events";
  const mailbox::EventInfo event{.name = name,
                                 .unit = prescaled ? absl::StrCat(kPrescale, " ", unit) : std::string(unit),
                                 .scope = scope,
                                 .description = EventDescription(name),
                                 .masked = masked};
  if (const auto known = Find(name)) return Same(*known, event);
  if (events_.size() == mailbox::kEventsMax) {
    return absl::InvalidArgumentError(absl::StrCat("more than ", mailbox::kEventsMax, " events"));
  }
  const auto index = static_cast<uint16_t>(events_.size());
  index_.emplace(name, index);
  events_.push_back(event);
  return index;
}

absl::StatusOr<uint16_t> EventTable::Same(uint16_t counter, const mailbox::EventInfo& event) {
  mailbox::EventInfo& known = events_[counter];
  if (known.scope != event.scope) {
    return absl::InvalidArgumentError(
        absl::StrCat("event '", event.name, "' is both of slices and of the whole device"));
  }
  if (known.unit != event.unit) {
    return absl::InvalidArgumentError(absl::StrCat("event '", event.name, "' is counted both in full and prescaled"));
  }
  // The catalogue marks an event as masked only where every unit masks it.
  known.masked = known.masked && event.masked;
  return counter;
}

void EventTable::DescribeAsShared(uint16_t counter) {
  std::string& description = events_[counter].description;
  // A string of the catalogue has a length of one byte.
  const bool fits = description.size() + kShared.size() <= 255;
  if (fits && !absl::EndsWith(description, kShared)) absl::StrAppend(&description, kShared);
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
