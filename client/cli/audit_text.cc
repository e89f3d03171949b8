// SPDX-License-Identifier: Apache-2.0
#include "client/cli/audit_text.h"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/csv.h"
#include "client/cli/number_text.h"

namespace sideband::client {
namespace {

using nlohmann::ordered_json;

using Rows = std::initializer_list<std::pair<const char*, std::string>>;

std::string Lines(Rows rows) {
  std::string text;
  for (const auto& [name, value] : rows) absl::StrAppendFormat(&text, "%-10s %s\n", name, value);
  return text;
}

// Wraps `text` into indented lines of kTableColumns. Longer words are split.
std::string Indented(absl::string_view text) {
  constexpr size_t kIndent = 10, kWidth = kTableColumns - kIndent;
  std::string lines;
  while (!text.empty()) {
    size_t size = std::min(kWidth, text.size());
    const size_t space = text.size() <= kWidth ? absl::string_view::npos : text.rfind(' ', kWidth);
    if (space != absl::string_view::npos && space > 0) size = space;
    absl::StrAppend(&lines, std::string(kIndent, ' '), absl::StripTrailingAsciiWhitespace(text.substr(0, size)), "\n");
    text = absl::StripLeadingAsciiWhitespace(text.substr(size));
  }
  return lines;
}

std::string Line(absl::string_view sequence, absl::string_view time, absl::string_view kind, absl::string_view decision,
                 absl::string_view endpoint, absl::string_view principal, absl::string_view rest,
                 const TableStyle& style) {
  std::string line = absl::StrFormat("%8s  %-27s  %-6s  %-8s", sequence, time, kind, decision);
  if (style.wide) {
    absl::StrAppendFormat(&line, "  %-28s  %s  %s", endpoint, principal, rest);
    return absl::StrCat(absl::StripTrailingAsciiWhitespace(line), "\n");
  }
  // Principal and text follow on further lines, and the endpoint as well if the first line would be too long.
  const std::string who = absl::StrCat(principal, "  ", rest);
  const std::string with_endpoint = absl::StrCat(line, "  ", endpoint);
  if (with_endpoint.size() > kTableColumns)
    return absl::StrCat(line, "\n", Indented(absl::StrCat(endpoint, "  ", who)));
  return absl::StrCat(with_endpoint, "\n", Indented(who));
}

std::string OrDash(std::string text) { return text.empty() ? "-" : text; }

// The resource, the reason of the decision, and the counts of repeated and lost entries.
std::string About(const AuditEntry& entry) {
  std::string about = entry.resource;
  if (!entry.reason.empty()) absl::StrAppend(&about, about.empty() ? "" : "  ", "(", entry.reason, ")");
  if (entry.repeated > 0) absl::StrAppend(&about, "  ", entry.repeated, " more like this until then");
  if (entry.lost > 0)
    absl::StrAppend(&about, entry.lost, entry.lost == 1 ? " entry was" : " entries were", " not written");
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
    text +=
        Lines({{"anchor", absl::StrCat(summary.anchor_at, ", ", summary.entries_after_anchor,
                                       summary.entries_after_anchor == 1 ? " entry" : " entries", " before the end")}});
  }
  if (summary.first_sequence > 1) {
    text += Lines({{"note", absl::StrCat("entries 1 to ", summary.first_sequence - 1, " are in none of these files")}});
  }
  for (const std::string& note : summary.notes) text += Lines({{"note", note}});
  if (summary.notes_left_out > 0) text += Lines({{"note", PluralText(summary.notes_left_out, "more note")}});
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

std::string EntryTitle(const TableStyle& style) {
  return Line("SEQUENCE", "TIME", "KIND", "DECISION", "ENDPOINT", "PRINCIPAL", "ABOUT", style);
}

std::string EntryText(const AuditEntry& entry, const TableStyle& style) {
  std::string text = Line(absl::StrCat(entry.sequence), AuditTimeText(entry.time), AuditKindName(entry.kind),
                          OrDash(AuditDecisionName(entry.decision)), OrDash(entry.endpoint), OrDash(entry.principal),
                          About(entry), style);
  for (const std::string& detail : entry.detail) {
    absl::StrAppend(&text, style.wide ? absl::StrCat(std::string(10, ' '), detail, "\n") : Indented(detail));
  }
  return text;
}

std::string EntryCsvTitles() {
  return CsvLine({"sequence", "time", "kind", "decision", "endpoint", "principal", "role", "resource", "reason",
                  "policy_version", "repeated", "lost", "detail"});
}

std::string EntryCsv(const AuditEntry& entry) {
  return CsvLine({absl::StrCat(entry.sequence), AuditTimeText(entry.time), AuditKindName(entry.kind),
                  AuditDecisionName(entry.decision), entry.endpoint, entry.principal, entry.role, entry.resource,
                  entry.reason, absl::StrCat(entry.policy_version), absl::StrCat(entry.repeated),
                  absl::StrCat(entry.lost), absl::StrJoin(entry.detail, "; ")});
}

}  // namespace sideband::client
