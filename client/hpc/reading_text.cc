// SPDX-License-Identifier: Apache-2.0
#include "client/hpc/reading_text.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "client/cli/number_text.h"

namespace sideband::client {
namespace {

using Align = Table::Align;
using Fit = Table::Fit;

// What was added; a new generation of a context begins at 0.
std::string ChangeText(uint64_t before, uint64_t now, const TableStyle& style) {
  return now >= before ? CountText(now - before, style) : absl::StrCat("-", CountText(before - now, style));
}

constexpr TableStyle kPlain = {.raw = true};

}  // namespace

std::string ReadingText::Table(const EventReading& reading, const TableStyle& style) {
  client::Table table({{"EVENT", Align::kLeft, Fit::kMiddle},
                       {"COUNT", Align::kRight},
                       {"CHANGE", Align::kRight, Fit::kIfAny},
                       {"CYCLE", Align::kRight, Fit::kIfAny}});
  for (size_t i = 0; i < events_.size(); ++i) {
    table.Add({events_[i].name, CountText(reading.counts[i], style),
               before_.empty() ? "" : ChangeText(before_[i], reading.counts[i], style),
               reading.stamps.empty() ? "" : CountText(reading.stamps[i], style)});
  }
  const std::string space = before_.empty() ? "" : "\n";
  before_ = reading.counts;
  return space + table.Render(style);
}

std::string ReadingText::JsonLine(const EventReading& reading) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (size_t i = 0; i < events_.size(); ++i) {
    nlohmann::ordered_json row = {
        {"event", events_[i].name}, {"id", events_[i].id}, {"count", absl::StrCat(reading.counts[i])}};
    if (!before_.empty()) row["change"] = ChangeText(before_[i], reading.counts[i], kPlain);
    if (!reading.stamps.empty()) row["cycle"] = absl::StrCat(reading.stamps[i]);
    rows.push_back(std::move(row));
  }
  before_ = reading.counts;
  const nlohmann::ordered_json line = {{"events", std::move(rows)}};
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace sideband::client
