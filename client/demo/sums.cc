// SPDX-License-Identifier: Apache-2.0
#include "client/demo/sums.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace sideband::client {
namespace {

struct Comparison {
  bool has_whole = false;
  uint64_t whole = 0;
  uint64_t parts = 0;
  int count = 0;  // of the parts
};

// A count of a table.
bool ParseCount(absl::string_view cell, uint64_t& count) {
  return absl::SimpleAtoi(absl::StrReplaceAll(cell, {{",", ""}, {"~", ""}}), &count);
}

std::string Check(const std::string& what, const Comparison& sum, Sums sums) {
  if (!sum.has_whole) return absl::StrCat(what, " is missing");
  if (sum.count == 0 && sums == Sums::kEqual) return absl::StrCat(what, " has no parts");
  const bool adds_up = sums == Sums::kEqual ? sum.parts == sum.whole : sum.parts <= sum.whole;
  return adds_up ? "" : absl::StrCat(what, " is ", sum.whole, ", its parts add up to ", sum.parts);
}

// An event's counts in tables, one after the other: the cell after its name.
std::vector<uint64_t> CountsOf(absl::string_view output, absl::string_view event) {
  std::vector<uint64_t> counts;
  for (const absl::string_view line : absl::StrSplit(output, '\n')) {
    const std::vector<absl::string_view> cells = absl::StrSplit(line, ' ', absl::SkipEmpty());
    const auto name = std::find(cells.begin(), cells.end(), event);
    uint64_t count = 0;
    if (cells.end() - name >= 2 && ParseCount(*(name + 1), count)) counts.push_back(count);
  }
  return counts;
}

std::string CheckTables(const std::vector<uint64_t>& counts, absl::string_view event, size_t tables) {
  if (counts.size() >= tables) return "";
  return absl::StrCat(event, " is there ", counts.size(), " times, not ", tables);
}

}  // namespace

std::string CheckScrapeSums(absl::string_view output, absl::string_view event, Sums sums) {
  if (sums == Sums::kNone) return "";
  Comparison sum;
  for (const absl::string_view line : absl::StrSplit(output, '\n')) {
    uint64_t count = 0;
    if (!absl::SimpleAtoi(line.substr(line.rfind(' ') + 1), &count)) continue;
    if (absl::StartsWith(line, absl::StrCat("sideband_device_", event, "_total{"))) {
      sum.whole = count;
      sum.has_whole = true;
    }
    if (!absl::StartsWith(line, absl::StrCat("sideband_vm_", event, "_total{"))) continue;
    sum.parts += count;
    ++sum.count;
  }
  return Check(absl::StrCat("the device's ", event), sum, sums);
}

std::string CheckTableSums(absl::string_view output, Sums sums) {
  constexpr absl::string_view kCut = "…";
  if (sums == Sums::kNone || absl::StrContains(output, kCut)) return "";
  std::map<std::pair<std::string, std::string>, Comparison> found;  // by VM and event
  for (const absl::string_view line : absl::StrSplit(output, '\n')) {
    const std::vector<std::string> cells = absl::StrSplit(line, ' ', absl::SkipEmpty());  // VM, CONTEXT, EVENT, COUNT
    uint64_t count = 0;
    if (cells.size() < 4 || !ParseCount(cells[3], count)) continue;
    Comparison& sum = found[{cells[0], cells[2]}];
    if (cells[1] == "-") {
      sum.whole = count;
      sum.has_whole = true;
    } else {
      sum.parts += count;
      ++sum.count;
    }
  }
  if (found.empty()) return "there are no counts";
  for (const auto& [of, sum] : found) {
    std::string wrong = Check(absl::StrCat(of.second, " of ", of.first), sum, sums);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

std::string CheckGrowth(absl::string_view output, absl::string_view event) {
  const std::vector<uint64_t> counts = CountsOf(output, event);
  for (size_t i = 1; i < counts.size(); ++i) {
    if (counts[i] < counts[i - 1]) return absl::StrCat(event, " is ", counts[i], " after ", counts[i - 1]);
  }
  return CheckTables(counts, event, 3);
}

std::string CheckEquality(absl::string_view output, absl::string_view event) {
  const std::vector<uint64_t> counts = CountsOf(output, event);
  for (size_t i = 1; i < counts.size(); ++i) {
    if (counts[i] != counts[0]) return absl::StrCat(event, " is ", counts[i], " and ", counts[0]);
  }
  if (!counts.empty() && counts[0] == 0) return absl::StrCat(event, " is 0");
  return CheckTables(counts, event, 2);
}

}  // namespace sideband::client
