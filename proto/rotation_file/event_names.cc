// SPDX-License-Identifier: Apache-2.0
#include "proto/rotation_file/event_names.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband {

absl::StatusOr<std::vector<NamedEvent>> ReadEventNames(const YamlNode& list) {
  std::vector<NamedEvent> events;
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, list.List());
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(std::string name, node.String());
    if (std::ranges::find(events, name, &NamedEvent::name) != events.end()) {
      return node.Error(absl::StrCat("event '", name, "' is listed twice"));
    }
    events.push_back({std::move(name), node.line()});
  }
  return events;
}

EventNumbers::EventNumbers(std::vector<std::string> names, std::string path)
    : names_(std::move(names)), path_(std::move(path)) {
  for (size_t event = 0; event < names_.size(); ++event) numbers_[names_[event]] = static_cast<uint16_t>(event);
}

absl::StatusOr<uint16_t> EventNumbers::Of(const NamedEvent& event) const {
  const auto number = numbers_.find(event.name);
  if (number != numbers_.end()) return number->second;
  return LineError(path_, event.line, absl::StrCat("no event '", event.name, "'", DidYouMean(event.name, names_)));
}

absl::StatusOr<std::vector<uint16_t>> EventNumbers::Of(const std::vector<NamedEvent>& events) const {
  std::vector<uint16_t> numbers;
  for (const NamedEvent& event : events) {
    SIDEBAND_ASSIGN_OR_RETURN(const uint16_t number, Of(event));
    numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

absl::StatusOr<mailbox::EventSet> EventNumbers::SetOf(const std::vector<NamedEvent>& events) const {
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<uint16_t> numbers, Of(events));
  mailbox::EventSet set;
  if (!numbers.empty()) set = mailbox::EmptySet(names_.size());
  for (const uint16_t number : numbers) mailbox::Insert(number, set);
  return set;
}

}  // namespace sideband
