// SPDX-License-Identifier: Apache-2.0
#include "client/hpc/event_choice.h"

#include <algorithm>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::client {
namespace {

// No event's name begins with a digit.
bool IsNumber(absl::string_view word) { return !word.empty() && word[0] >= '0' && word[0] <= '9'; }

absl::StatusOr<hpc::ListedEvent> ByNumber(const std::string& word, const std::vector<hpc::ListedEvent>& listed) {
  uint32_t id = 0;
  if (!absl::SimpleAtoi(word, &id) || id >= hpc::kEventsMax) {
    return absl::OutOfRangeError(
        absl::StrCat("--event: '", word, "' is no number of an event, from 0 to ", hpc::kEventsMax - 1));
  }
  const auto found = std::ranges::find(listed, id, &hpc::ListedEvent::id);
  return hpc::ListedEvent{static_cast<uint16_t>(id), found == listed.end() ? absl::StrCat(id) : found->name};
}

absl::StatusOr<hpc::ListedEvent> ByName(const std::string& word, const std::vector<hpc::ListedEvent>& listed) {
  const auto found = std::ranges::find(listed, word, &hpc::ListedEvent::name);
  if (found != listed.end()) return *found;
  std::vector<std::string> names;
  for (const hpc::ListedEvent& event : listed) names.push_back(event.name);
  return absl::NotFoundError(absl::StrCat("--event: unknown event '", word, "'", DidYouMean(word, names)));
}

}  // namespace

absl::StatusOr<std::vector<hpc::ListedEvent>> ChooseEvents(const std::vector<std::string>& words,
                                                           const std::vector<hpc::ListedEvent>& listed) {
  std::vector<hpc::ListedEvent> chosen;
  for (const std::string& word : words) {
    SIDEBAND_ASSIGN_OR_RETURN(chosen.emplace_back(), IsNumber(word) ? ByNumber(word, listed) : ByName(word, listed));
  }
  return chosen;
}

std::vector<uint16_t> IdsOf(const std::vector<hpc::ListedEvent>& events) {
  std::vector<uint16_t> ids;
  for (const hpc::ListedEvent& event : events) ids.push_back(event.id);
  return ids;
}

bool HasName(const std::vector<std::string>& words) { return !std::ranges::all_of(words, IsNumber); }

}  // namespace sideband::client
