// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/csv_rows.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::sim {
namespace {

std::string Shown(absl::string_view field) { return absl::StrCat("'", absl::CHexEscape(field.substr(0, 80)), "'"); }

bool IsWholeNumber(absl::string_view field) {
  const auto is_digit = [](unsigned char c) { return absl::ascii_isdigit(c); };
  return !field.empty() && std::ranges::all_of(field, is_digit);
}

// Removes the first row from the text, which is not empty: up to a line end outside of quotes.
absl::string_view TakeRow(absl::string_view* text) {
  size_t end = 0;
  for (bool is_quoted = false; end < text->size() && (is_quoted || (*text)[end] != '\n'); ++end) {
    if ((*text)[end] == '"') is_quoted = !is_quoted;
  }
  const absl::string_view row = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return row;
}

// Removes a quoted field from the row, which begins with its quote. A doubled quote within is a quote.
absl::StatusOr<std::string> TakeQuoted(absl::string_view* row) {
  std::string field;
  for (size_t i = 1; i < row->size(); ++i) {
    if ((*row)[i] != '"') {
      field += (*row)[i];
    } else if (row->substr(i + 1, 1) == "\"") {
      field += (*row)[i++];
    } else {
      row->remove_prefix(i + 1);
      return field;
    }
  }
  return absl::InvalidArgumentError("a quoted field has no end");
}

// Removes the first field and the white space around it.
absl::StatusOr<std::string> TakeField(absl::string_view* row) {
  *row = absl::StripLeadingAsciiWhitespace(*row);
  std::string quoted;
  const bool is_quoted = absl::StartsWith(*row, "\"");
  if (is_quoted) {
    SIDEBAND_ASSIGN_OR_RETURN(quoted, TakeQuoted(row));
  }
  const absl::string_view rest = absl::StripAsciiWhitespace(row->substr(0, row->find(',')));
  row->remove_prefix(std::min(row->find(','), row->size()));
  if (absl::StrContains(rest, '"')) return absl::InvalidArgumentError("a quote within a field that is not quoted");
  if (!is_quoted) return std::string(rest);
  if (rest.empty()) return quoted;
  return absl::InvalidArgumentError(absl::StrCat("expected a comma behind the quoted field ", Shown(quoted)));
}

absl::StatusOr<std::vector<std::string>> Split(absl::string_view row) {
  std::vector<std::string> fields;
  do {
    SIDEBAND_ASSIGN_OR_RETURN(fields.emplace_back(), TakeField(&row));
  } while (absl::ConsumePrefix(&row, ","));
  return fields;
}

// The places of the wanted columns in a file's rows.
class Header {
 public:
  static absl::StatusOr<Header> Parse(const std::vector<std::string>& names, std::span<const CsvColumn> columns) {
    Header header(names.size(), columns);
    for (const CsvColumn& column : columns) {
      SIDEBAND_ASSIGN_OR_RETURN(header.places_.emplace_back(), header.Find(names, column));
    }
    return header;
  }

  absl::StatusOr<CsvRow> Row(const std::vector<std::string>& fields, size_t line) const {
    if (fields.size() != size_) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected ", size_, " fields as in the header row, not ", fields.size()));
    }
    std::vector<std::string> wanted;
    for (size_t i = 0; i < columns_.size(); ++i) {
      wanted.push_back(places_[i] ? fields[*places_[i]] : std::string(*columns_[i].otherwise));
    }
    return CsvRow(columns_, std::move(wanted), line);
  }

 private:
  Header(size_t size, std::span<const CsvColumn> columns) : size_(size), columns_(columns) {}

  absl::StatusOr<std::optional<size_t>> Find(const std::vector<std::string>& names, const CsvColumn& column) const {
    const auto found = std::find(names.begin(), names.end(), column.name);
    if (found == names.end()) {
      if (column.otherwise) return std::nullopt;
      return Missing(names, column.name);
    }
    if (std::count(names.begin(), names.end(), column.name) > 1) {
      return absl::InvalidArgumentError(absl::StrCat("column '", column.name, "' is there twice"));
    }
    return static_cast<size_t>(found - names.begin());
  }

  // A name that begins the column's, else the nearest, of those that are no column.
  std::string Guess(const std::vector<std::string>& names, absl::string_view column) const {
    std::vector<std::string> others;
    for (const std::string& name : names) {
      if (name.empty() || std::ranges::find(columns_, name, &CsvColumn::name) != columns_.end()) continue;
      if (absl::StartsWith(column, name)) return name;
      others.push_back(name);
    }
    return NearestMatch(column, others);
  }

  absl::Status Missing(const std::vector<std::string>& names, absl::string_view column) const {
    const std::string row = Shown(absl::StrJoin(names, ","));
    if (names.size() == 1 && names[0].find_first_of(";\t") != std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat("columns are separated by commas, not as in ", row));
    }
    if (std::ranges::any_of(names, IsWholeNumber)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the first row must name the columns, such as '", column, "': it is ", row));
    }
    const std::string nearest = Guess(names, column);
    return absl::InvalidArgumentError(
        absl::StrCat("the header row has no column '", column, "'",
                     nearest.empty() ? "" : absl::StrCat(" (is it ", Shown(nearest), "?)")));
  }

  size_t size_;
  std::span<const CsvColumn> columns_;
  std::vector<std::optional<size_t>> places_;
};

}  // namespace

absl::StatusOr<uint64_t> CsvRow::Whole(size_t column, uint64_t high) const {
  const absl::string_view text = field(column);
  uint64_t value = 0;
  // SimpleAtoi also accepts leading white space and signs.
  const bool digits = !text.empty() && absl::ascii_isdigit(static_cast<unsigned char>(text[0]));
  if (digits && absl::SimpleAtoi(text, &value) && value <= high) return value;
  return absl::InvalidArgumentError(
      absl::StrCat(columns_[column].name, ": expected a whole number up to ", high, ", not ", Shown(text)));
}

absl::Status CsvRow::CheckName(size_t column, size_t size_max) const {
  const absl::string_view name = field(column);
  const absl::string_view what = columns_[column].name;
  if (name.size() > size_max) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " ", Shown(name), " is longer than ", size_max, " characters"));
  }
  const auto is_graph = [](unsigned char c) { return absl::ascii_isgraph(c); };
  if (std::all_of(name.begin(), name.end(), is_graph)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " ", Shown(name), " must be printable ASCII without spaces"));
}

absl::Status ForEachCsvRow(absl::string_view text, const std::string& path, std::span<const CsvColumn> columns,
                           const std::function<absl::Status(const CsvRow&)>& use) {
  std::optional<Header> header;
  const auto take = [&](absl::string_view row, size_t line) -> absl::Status {
    SIDEBAND_ASSIGN_OR_RETURN(const std::vector<std::string> fields, Split(row));
    if (header) {
      SIDEBAND_ASSIGN_OR_RETURN(const CsvRow parsed, header->Row(fields, line));
      return use(parsed);
    }
    SIDEBAND_ASSIGN_OR_RETURN(header, Header::Parse(fields, columns));
    return absl::OkStatus();
  };
  size_t line = 1;
  // Spreadsheet programs write a byte order mark before the first column.
  absl::ConsumePrefix(&text, "\xef\xbb\xbf");
  while (!text.empty()) {
    const absl::string_view row = TakeRow(&text);
    const absl::string_view stripped = absl::StripAsciiWhitespace(row);
    if (!stripped.empty()) SIDEBAND_RETURN_IF_ERROR(AtLine(take(stripped, line), path, line));
    line += 1 + static_cast<size_t>(std::ranges::count(row, '\n'));
  }
  return header ? absl::OkStatus() : LineError(path, 1, "the header row is missing");
}

}  // namespace sideband::sim
