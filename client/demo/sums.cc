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
  constexpr int kTables = 3;
  int tables = 0;
  uint64_t before = 0;
  for (const absl::string_view line : absl::StrSplit(output, '\n')) {
    const std::vector<absl::string_view> cells = absl::StrSplit(line, ' ', absl::SkipEmpty());
    const auto name = std::find(cells.begin(), cells.end(), event);
    uint64_t count = 0;
    if (cells.end() - name < 2 || !ParseCount(*(name + 1), count)) continue;
    if (count < before) return absl::StrCat(event, " is ", count, " after ", before);
    before = count;
    ++tables;
  }
  return tables >= kTables ? "" : absl::StrCat(event, " is there ", tables, " times, not ", kTables);
}

}  // namespace sideband::client
