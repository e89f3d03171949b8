// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/creation_file.h"

#include <limits>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "daemon/base/replace_file.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

constexpr char kTitle[] = "sideband created 1";

std::string Encode(const Creations& known) {
  std::string text = absl::StrCat(kTitle, "\nboot ", absl::Hex(known.boot_id, absl::kZeroPad16), "\nlast ",
                                  absl::ToUnixNanos(known.last), "\n");
  if (known.booted != absl::InfinitePast()) absl::StrAppend(&text, "booted ", absl::ToUnixNanos(known.booted), "\n");
  for (const auto& [id, creation] : known.blocks) {
    absl::StrAppend(&text, "block ", id.first, " ", id.second, " ", creation.generation, " ",
                    absl::ToUnixNanos(creation.time), "\n");
  }
  return text;
}

bool ParseTime(absl::string_view text, absl::Time& time) {
  int64_t nanoseconds = 0;
  if (!absl::SimpleAtoi(text, &nanoseconds)) return false;
  time = absl::FromUnixNanos(nanoseconds);
  return true;
}

template <typename Number>
bool ParseNumber(absl::string_view text, Number& number) {
  // SimpleAtoi has no variant for 16 bits.
  uint64_t wide = 0;
  if (!absl::SimpleAtoi(text, &wide) || wide > std::numeric_limits<Number>::max()) return false;
  number = static_cast<Number>(wide);
  return true;
}

bool ParseBlock(const std::vector<absl::string_view>& words, Creations& known) {
  Creations::BlockId id;
  Creations::Creation creation{};
  return words.size() == 5 && ParseNumber(words[1], id.first) && ParseNumber(words[2], id.second) &&
         ParseNumber(words[3], creation.generation) && ParseTime(words[4], creation.time) &&
         known.blocks.emplace(id, creation).second;
}

bool ParseLine(size_t number, absl::string_view line, Creations& known) {
  if (number == 1) return line == kTitle;
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
  if (number == 2) return words.size() == 2 && words[0] == "boot" && absl::SimpleHexAtoi(words[1], &known.boot_id);
  if (number == 3) return words.size() == 2 && words[0] == "last" && ParseTime(words[1], known.last);
  if (number == 4 && words[0] == "booted") return words.size() == 2 && ParseTime(words[1], known.booted);
  return words[0] == "block" && ParseBlock(words, known);
}

}  // namespace

std::string CreationFile::PathOf(const Uuid& device) const {
  return absl::StrCat(folder_, "/created-", device.ToString());
}

absl::StatusOr<Creations> CreationFile::Load(const Uuid& device) const {
  const std::string path = PathOf(device);
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  Creations known;
  size_t number = 0;
  for (const absl::string_view line : absl::StrSplit(absl::StripSuffix(text, "\n"), '\n')) {
    if (ParseLine(++number, line, known)) continue;
    return absl::InvalidArgumentError(absl::StrCat(path, ":", number, ": malformed line"));
  }
  // A header of three lines is required; block lines are optional.
  if (number >= 3) return known;
  return absl::InvalidArgumentError(absl::StrCat(path, ":", number, ": ends too early"));
}

absl::Status CreationFile::Save(const Uuid& device, const Creations& known) const {
  return ReplaceFile(PathOf(device), Encode(known), FileSync::kNone);
}

}  // namespace sideband::daemon
