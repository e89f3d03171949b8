// SPDX-License-Identifier: Apache-2.0
#include "client/cli/audit_text.h"

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace sideband::client {
namespace {

using nlohmann::ordered_json;

using Rows = std::initializer_list<std::pair<const char*, std::string>>;

std::string Lines(Rows rows) {
  std::string text;
  for (const auto& [name, value] : rows) absl::StrAppendFormat(&text, "%-10s %s\n", name, value);
  return text;
}

std::string Line(absl::string_view sequence, absl::string_view time, absl::string_view kind, absl::string_view decision,
                 absl::string_view endpoint, absl::string_view principal, absl::string_view rest) {
  std::string line = absl::StrFormat("%8s  %-27s  %-6s  %-8s  %-28s  %s  %s", sequence, time, kind, decision, endpoint,
                                     principal, rest);
  absl::StripTrailingAsciiWhitespace(&line);
  return line + "\n";
}

std::string OrDash(std::string text) { return text.empty() ? "-" : text; }

// What was asked for and why it was so decided.
std::string About(const AuditEntry& entry) {
  std::string about = entry.resource;
  if (!entry.reason.empty()) absl::StrAppend(&about, about.empty() ? "" : "  ", "(", entry.reason, ")");
  if (entry.repeated > 0) absl::StrAppend(&about, "  ", entry.repeated, " more like this until then");
  if (entry.lost > 0) absl::StrAppend(&about, entry.lost, " entries were not written");
  return about;
}

}  // namespace

std::string ChainText(const ChainSummary& summary) {
  std::string text = Lines({{"entries", absl::StrCat(summary.entries)},
                            {"sequences", absl::StrCat(summary.first_sequence, " to ", summary.last_sequence)},
                            {"from", AuditTimeText(summary.first_time)},
                            {"to", AuditTimeText(summary.last_time)},
                            {"lost", absl::StrCat(summary.lost)},
                            {"repeated", absl::StrCat(summary.repeated)},
                            {"head", summary.head}});
  if (!summary.anchor_at.empty()) {
    text += Lines(
        {{"anchor", absl::StrCat(summary.anchor_at, ", ", summary.entries_after_anchor, " entries before the end")}});
  }
  if (summary.first_sequence > 1) {
    text += Lines({{"note", absl::StrCat("entries 1 to ", summary.first_sequence - 1, " are in none of these files")}});
  }
  for (const std::string& note : summary.notes) text += Lines({{"note", note}});
  if (summary.notes_left_out > 0) text += Lines({{"note", absl::StrCat(summary.notes_left_out, " more notes")}});
  return text;
}

std::string ChainJson(const ChainSummary& summary) {
  ordered_json json;
  json["entries"] = absl::StrCat(summary.entries);
  json["first_sequence"] = absl::StrCat(summary.first_sequence);
  json["last_sequence"] = absl::StrCat(summary.last_sequence);
  if (summary.entries > 0) {
    json["first_time"] = AuditTimeText(summary.first_time);
    json["last_time"] = AuditTimeText(summary.last_time);
  }
  json["lost"] = absl::StrCat(summary.lost);
  json["repeated"] = absl::StrCat(summary.repeated);
  json["head"] = summary.head;
  if (!summary.anchor_at.empty()) {
    json["anchor"] = summary.anchor_at;
    json["entries_after_anchor"] = absl::StrCat(summary.entries_after_anchor);
  }
  json["notes"] = summary.notes;
  json["notes_left_out"] = absl::StrCat(summary.notes_left_out);
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string EntryTitle() { return Line("SEQUENCE", "TIME", "KIND", "DECISION", "ENDPOINT", "PRINCIPAL", "ABOUT"); }

std::string EntryText(const AuditEntry& entry) {
  std::string text =
      Line(absl::StrCat(entry.sequence), AuditTimeText(entry.time), AuditKindName(entry.kind),
           OrDash(AuditDecisionName(entry.decision)), OrDash(entry.endpoint), OrDash(entry.principal), About(entry));
  for (const std::string& detail : entry.detail) absl::StrAppend(&text, std::string(10, ' '), detail, "\n");
  return text;
}

}  // namespace sideband::client
