// SPDX-License-Identifier: Apache-2.0
#include "proto/base/text.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/base/visible.h"

namespace sideband {
namespace {

// Levenshtein distance, with one row of the table in memory.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t substitute = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substitute, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// Whether `word` is `whole` with some letters left out, as tls_config is tls_server_config.
bool IsShortFor(absl::string_view word, absl::string_view whole) {
  constexpr size_t kLettersMin = 4;
  if (word.size() < kLettersMin || whole.size() > 2 * word.size()) return false;
  size_t found = 0;
  for (const char letter : whole) {
    if (found < word.size() && letter == word[found]) ++found;
  }
  return found == word.size();
}

bool IsInputError(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kFailedPrecondition:
      return true;
    default:
      return false;
  }
}

// The shortest candidate that begins with the word, in either case; empty if none does. A part of a name, as screens
// show it, is nearer than another name.
std::string ShortestThatBeginsWith(absl::string_view word, std::span<const std::string> candidates) {
  std::string shortest;
  for (const std::string& candidate : candidates) {
    if (word.empty() || !absl::StartsWithIgnoreCase(candidate, word)) continue;
    if (shortest.empty() || candidate.size() < shortest.size()) shortest = candidate;
  }
  return shortest;
}

}  // namespace

std::string NearestMatch(absl::string_view word, std::span<const std::string> candidates) {
  std::string nearest = ShortestThatBeginsWith(word, candidates);
  if (!nearest.empty()) return nearest;
  // Accepts at most half the word's length in edits.
  size_t fewest = word.size() / 2 + 1;
  for (const std::string& candidate : candidates) {
    const size_t difference = std::max(candidate.size(), word.size()) - std::min(candidate.size(), word.size());
    if (difference >= fewest) continue;  // the distance is at least the difference of the sizes
    if (const size_t distance = EditDistance(word, candidate); distance < fewest) {
      fewest = distance;
      nearest = candidate;
    }
  }
  if (!nearest.empty()) return nearest;
  const auto longer =
      std::ranges::find_if(candidates, [&](const std::string& candidate) { return IsShortFor(word, candidate); });
  return longer == candidates.end() ? "" : *longer;
}

std::string MustBeOneOf(std::span<const std::string> words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    const char* const before = i == 0 ? ", must be " : i + 1 == words.size() ? " or " : ", ";
    absl::StrAppend(&text, before, words[i]);
  }
  return text;
}

std::string DidYouMean(absl::string_view word, std::span<const std::string> candidates) {
  const std::string nearest = NearestMatch(word, candidates);
  return nearest.empty() ? "" : absl::StrCat(" (did you mean '", Visible(nearest), "'?)");
}

absl::Status AtLine(const absl::Status& status, absl::string_view file, size_t line) {
  if (status.ok()) return status;
  const std::string place = line == 0 ? std::string(file) : absl::StrCat(file, ":", line);
  return absl::Status(status.code(), absl::StrCat(place, ": ", status.message()));
}

absl::Status LineError(absl::string_view file, size_t line, absl::string_view what) {
  return AtLine(absl::InvalidArgumentError(what), file, line);
}

int ReportAndExitCode(absl::string_view program, const absl::Status& status) {
  if (status.ok()) return 0;
  const std::string line = absl::StrCat(program, ": ", Visible(status.message()), "\n");
  std::fputs(line.c_str(), stderr);
  return IsInputError(status.code()) ? 2 : 1;
}

int ReportAndExitCode(absl::string_view program, const ErrorList& errors) {
  int code = 0;
  for (const absl::Status& error : errors.All()) code = std::max(code, ReportAndExitCode(program, error));
  return code;
}

}  // namespace sideband
