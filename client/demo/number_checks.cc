// SPDX-License-Identifier: Apache-2.0
#include "client/demo/number_checks.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

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

namespace {

constexpr size_t kCaptureBytesMax = size_t{1} << 30;

std::string Word(uint64_t number) {
  std::string word;
  for (int byte = 0; byte < 8; ++byte) word += static_cast<char>(number >> 8 * byte);
  return word;
}

std::string Varint(uint64_t number) {
  std::string varint;
  for (; number > 0x7F; number >>= 7) varint += static_cast<char>(number | 0x80);
  varint += static_cast<char>(number);
  return varint;
}

// Bytes that reveal a number. Of a word at a bit offset these are the seven that have nothing but its bits; `shift`
// bits of the byte before are not the word's, and the others are `before`: without them, a number of 33 bits would be
// found wherever there is one of 26.
struct Form {
  std::string bytes;
  int shift = 0;  // 0: the byte before does not matter
  uint8_t before = 0;
};

std::vector<Form> FormsOf(uint64_t number) {
  std::vector<Form> forms = {{Word(number)}, {Varint(number)}, {absl::StrCat(number)}};
  for (int shift = 1; shift < 8; ++shift) {
    const auto before = static_cast<uint8_t>(number & ((1u << (8 - shift)) - 1));
    forms.push_back({Word(number >> (8 - shift)).substr(0, 7), shift, before});
  }
  return forms;
}

bool IsAt(size_t at, absl::string_view bytes, const Form& form) {
  if (!absl::StartsWith(bytes.substr(at), form.bytes)) return false;
  return form.shift == 0 || (at > 0 && static_cast<uint8_t>(bytes[at - 1]) >> form.shift == form.before);
}

// Finds numbers in one pass over the bytes.
class Finder {
 public:
  explicit Finder(const std::vector<uint64_t>& numbers) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      for (const Form& form : FormsOf(numbers[i])) forms_[StartOf(form.bytes)].push_back({form, i});
    }
    for (const auto& [start, forms] : forms_) has_start_[start] = true;
  }
  // Adds the places of those in the bytes to `found`.
  void Find(absl::string_view bytes, std::set<size_t>& found) const {
    for (size_t at = 0; at + 1 < bytes.size(); ++at) {
      const uint16_t start = StartOf(bytes.substr(at));
      if (!has_start_[start]) continue;
      for (const FormOfNumber& one : forms_.at(start)) {
        if (IsAt(at, bytes, one.form)) found.insert(one.number);
      }
    }
  }

 private:
  struct FormOfNumber {
    Form form;
    size_t number;
  };
  static uint16_t StartOf(absl::string_view bytes) {
    return static_cast<uint16_t>(static_cast<uint8_t>(bytes[0]) | static_cast<uint8_t>(bytes[1]) << 8);
  }

  std::map<uint16_t, std::vector<FormOfNumber>> forms_;  // by their first two bytes
  std::vector<bool> has_start_ = std::vector<bool>(1 << 16);
};

struct Range {
  uint64_t begin = 0, end = 0;
};

// The ranges of /proc/PID/maps that can be read.
std::vector<Range> ReadableRanges(const std::string& maps) {
  std::vector<Range> ranges;
  for (const absl::string_view line : absl::StrSplit(maps, '\n')) {
    Range range;
    char access = 0;
    const bool is_range = std::sscanf(std::string(line).c_str(), "%lx-%lx %c", &range.begin, &range.end, &access) == 3;
    if (is_range && access == 'r') ranges.push_back(range);
  }
  return ranges;
}

// Without what cannot be read, as of a device's memory.
std::string ReadRange(int memory, const Range& range) {
  std::string bytes(range.end - range.begin, '\0');
  size_t read = 0;
  while (read < bytes.size()) {
    const ssize_t size =
        pread(memory, bytes.data() + read, bytes.size() - read, static_cast<off_t>(range.begin + read));
    if (size <= 0) break;
    read += static_cast<size_t>(size);
  }
  bytes.resize(read);
  return bytes;
}

}  // namespace

size_t CountFound(const std::vector<uint64_t>& numbers, absl::string_view bytes) {
  std::set<size_t> found;
  Finder(numbers).Find(bytes, found);
  return found.size();
}

absl::StatusOr<size_t> FindInFile(const std::vector<uint64_t>& numbers, const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kCaptureBytesMax));
  return CountFound(numbers, bytes);
}

absl::StatusOr<size_t> FindInProcess(const std::vector<uint64_t>& numbers, pid_t process) {
  const std::string folder = absl::StrCat("/proc/", process);
  std::ifstream maps(folder + "/maps");
  const std::string text((std::istreambuf_iterator<char>(maps)), std::istreambuf_iterator<char>());
  const std::string path = folder + "/mem";
  const Descriptor memory(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (memory.get() < 0) return ErrnoStatus(errno, path);
  if (text.empty()) return absl::UnavailableError(absl::StrCat(folder, "/maps: it cannot be read"));
  const Finder finder(numbers);
  std::set<size_t> found;
  for (const Range& range : ReadableRanges(text)) finder.Find(ReadRange(memory.get(), range), found);
  return found.size();
}

}  // namespace sideband::client
