// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/creation_times.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "daemon/base/replace_file.h"
#include "daemon/snapshot/device_snapshot.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

absl::Time WholeSecond(absl::Time time) { return absl::FromUnixSeconds(absl::ToUnixSeconds(time)); }

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

bool CreationTimes::IsKnown(uint64_t boot_id) const {
  // Any boot id may be a real one.
  return known_.last != absl::InfinitePast() && known_.boot_id == boot_id;
}

absl::Time CreationTimes::Previous(const Instant& at) const {
  // A time saved by an earlier run may lie in the future if the wall clock was set back since.
  return last_steady_ ? at.host - (at.steady - *last_steady_) : std::min(known_.last, at.host);
}

absl::Time CreationTimes::Boot(const mailbox::Snapshot& snapshot, const Instant& at) const {
  constexpr uint64_t kMostNs = std::numeric_limits<int64_t>::max();
  const absl::Duration since = absl::Nanoseconds(std::min(snapshot.reference_time_ns, kMostNs));
  const absl::Time estimate = WholeSecond(at.host - at.error - since);
  // If the device has restarted since the previous snapshot, its blocks cannot be older than that snapshot.
  return IsKnown(snapshot.boot_id) ? estimate : std::max(Previous(at), estimate);
}

std::vector<absl::Time> CreationTimes::Of(const mailbox::Snapshot& snapshot, const Instant& at,
                                          bool device_row_is_new) {
  const bool is_same_boot = IsKnown(snapshot.boot_id);
  const absl::Time boot = Boot(snapshot, at), last = is_same_boot ? Previous(at) : boot;
  if (!is_same_boot) known_.blocks.clear();
  // A file of an earlier version lacks the time of the boot.
  const bool is_boot_known = is_same_boot && known_.booted != absl::InfinitePast();
  // Blocks that are absent from this snapshot are forgotten: an id that returns later is a new block.
  Creations now = {.boot_id = snapshot.boot_id, .booted = is_boot_known ? known_.booted : boot, .last = at.host};
  std::vector<absl::Time> times;
  for (const mailbox::BlockHeader& block : snapshot.blocks) {
    const Creations::BlockId id(block.vm, block.context);
    const auto known = known_.blocks.find(id);
    const bool is_same = known != known_.blocks.end() && known->second.generation == block.generation;
    const bool starts_now = device_row_is_new && LevelOf(block) == Level::kDevice;
    times.push_back(starts_now ? at.host : is_same ? known->second.time : last);
    now.blocks.insert_or_assign(id, Creations::Creation{block.generation, times.back()});
  }
  // `last` does not count: otherwise the file would be written at every snapshot.
  has_changed_ = !is_same_boot || !is_boot_known || now.blocks != known_.blocks;
  known_ = std::move(now);
  last_steady_ = at.steady;
  return times;
}

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
