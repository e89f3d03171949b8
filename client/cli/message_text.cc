// SPDX-License-Identifier: Apache-2.0
#include "client/cli/message_text.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "client/cli/table.h"

namespace sideband::client {
namespace {

constexpr char kPartial[] = "partial";
constexpr char kEstimated[] = "estimated";

std::string Word(absl::string_view name, absl::string_view prefix, int value) {
  return name.empty() ? absl::StrCat(value) : absl::AsciiStrToLower(absl::StripPrefix(name, prefix));
}

}  // namespace

std::string StateText(v1::Device::State state) { return Word(v1::Device::State_Name(state), "STATE_", state); }

std::string KindsText(const v1::Device& device) {
  return absl::StrJoin(device.kinds(), "+", [](std::string* out, int kind) {
    absl::StrAppend(out, Word(v1::Device::Kind_Name(kind), "KIND_", kind));
  });
}

bool HasCounters(const v1::Device& device) {
  return device.boot_id() != 0 || absl::c_linear_search(device.kinds(), v1::Device::KIND_COUNTERS);
}

bool IsBoardAlone(const v1::Device& device) {
  return device.boot_id() == 0 && device.state() != v1::Device::STATE_AWAY;
}

std::string StateText(v1::ScopeCounters::State state) {
  return Word(v1::ScopeCounters::State_Name(state), "STATE_", state);
}

std::string ScopeText(v1::Event::Scope scope) { return Word(v1::Event::Scope_Name(scope), "SCOPE_", scope); }

std::string NotAnsweredText(const std::string& device) {
  return absl::StrCat(device, " has not answered yet: there is no snapshot");
}

std::string LostText(uint64_t messages) {
  return absl::StrCat(PluralText(messages, "message"), " of the driver ", messages == 1 ? "was" : "were", " lost");
}

std::string SliceText(const v1::Scope& scope) { return scope.has_slice() ? absl::StrCat(scope.slice()) : ""; }

std::string VmText(const v1::Scope& scope) {
  return scope.host() ? absl::StrCat("(host:", SliceText(scope), ")") : scope.vm();
}

bool IsEstimated(const google::protobuf::RepeatedPtrField<std::string>& flags) {
  return std::find(flags.begin(), flags.end(), kEstimated) != flags.end();
}

bool IsEstimated(const v1::ScopeCounters& row, const v1::Counter& counter) {
  if (counter.has_estimate() || !IsEstimated(row.flags())) return counter.has_estimate();
  return std::ranges::none_of(row.counters(), [](const v1::Counter& other) { return other.has_estimate(); });
}

bool IsPartial(const v1::Counter& counter) {
  if (counter.estimate().method() == v1::Estimate::METHOD_COUNTED) return true;
  // Of an unknown coverage (NaN) the comparison is false.
  return counter.has_coverage() && !(counter.coverage() >= 1);
}

std::vector<std::string> FlagsOf(const v1::ScopeCounters& row, const v1::Counter& counter) {
  std::vector<std::string> flags(row.flags().begin(), row.flags().end());
  if (!IsPartial(counter)) std::erase(flags, kPartial);
  if (!IsEstimated(row, counter)) std::erase(flags, kEstimated);
  return flags;
}

const v1::Ratio* FindUtilisation(const v1::ScopeCounters& row, const std::string& event) {
  const auto found = std::find_if(row.ratios().begin(), row.ratios().end(),
                                  [&](const v1::Ratio& ratio) { return ratio.event() == event; });
  return found == row.ratios().end() ? nullptr : &*found;
}

absl::Duration ToDuration(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

absl::Time ToTime(const google::protobuf::Timestamp& time) {
  return absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
}

std::string TimeText(absl::Time time) { return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone()); }

}  // namespace sideband::client
