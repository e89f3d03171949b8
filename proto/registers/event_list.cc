// SPDX-License-Identifier: Apache-2.0
#include "proto/registers/event_list.h"

#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/base/errors.h"

namespace sideband::hpc {
namespace {

constexpr absl::string_view kTitle = "id,event";
constexpr absl::string_view kByteOrderMark = "\xEF\xBB\xBF";

// The first two fields of a line.
absl::StatusOr<ListedEvent> ParseLine(absl::string_view line) {
  std::vector<absl::string_view> fields = absl::StrSplit(line, ',');
  for (absl::string_view& field : fields) field = absl::StripAsciiWhitespace(field);
  uint32_t id = 0;
  if (fields.size() < 2 || fields[1].empty() || !absl::SimpleAtoi(fields[0], &id) || id >= kEventsMax) {
    return absl::InvalidArgumentError(absl::StrCat("must be an id from 0 to ", kEventsMax - 1, " and an event's name"));
  }
  return ListedEvent{static_cast<uint16_t>(id), std::string(fields[1])};
}

bool IsTitle(absl::string_view line) {
  const std::string title = absl::StrReplaceAll(line, {{" ", ""}, {"\t", ""}});
  return title == kTitle || absl::StartsWith(title, absl::StrCat(kTitle, ","));
}

}  // namespace

std::string FormatEventList(const std::vector<ListedEvent>& events) {
  std::string text = absl::StrCat(kTitle, "\n");
  for (const ListedEvent& event : events) absl::StrAppend(&text, event.id, ",", event.name, "\n");
  return text;
}

absl::StatusOr<std::vector<ListedEvent>> ParseEventList(absl::string_view text, const std::string& file) {
  std::vector<ListedEvent> events;
  std::set<uint16_t> ids;
  std::set<std::string> names;
  size_t number = 0;
  absl::ConsumePrefix(&text, kByteOrderMark);
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (++number == 1) {
      if (!IsTitle(line)) return LineError(file, number, absl::StrCat("must begin with '", kTitle, "'"));
      continue;
    }
    if (line.empty()) continue;
    auto event = ParseLine(line);
    if (!event.ok()) return AtLine(event.status(), file, number);
    if (!ids.insert(event->id).second)
      return LineError(file, number, absl::StrCat("id ", event->id, " is listed twice"));
    if (!names.insert(event->name).second) {
      return LineError(file, number, absl::StrCat("event '", event->name, "' is listed twice"));
    }
    events.push_back(*std::move(event));
  }
  return events;
}

}  // namespace sideband::hpc
