// SPDX-License-Identifier: Apache-2.0
//
// The functions that the public headers declare for plain values: errors, times and rates.
#include <optional>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_format.h"
#include "client/cpp/snapshot_values.h"
#include "sideband/error.h"
#include "sideband/rates.h"
#include "sideband/time.h"

namespace sideband {

const char* ErrorCodeName(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "InvalidArgument";
    case ErrorCode::kNotFound:
      return "NotFound";
    case ErrorCode::kUnauthenticated:
      return "Unauthenticated";
    case ErrorCode::kPermissionDenied:
      return "PermissionDenied";
    case ErrorCode::kFailedPrecondition:
      return "FailedPrecondition";
    case ErrorCode::kResourceExhausted:
      return "ResourceExhausted";
    case ErrorCode::kUnavailable:
      return "Unavailable";
    case ErrorCode::kDeadlineExceeded:
      return "DeadlineExceeded";
    case ErrorCode::kCancelled:
      return "Cancelled";
    case ErrorCode::kAborted:
      return "Aborted";
    case ErrorCode::kUnimplemented:
      return "Unimplemented";
    case ErrorCode::kProtocol:
      return "Protocol";
    case ErrorCode::kInternal:
      return "Internal";
  }
  return "Unknown";
}

std::string FormatTime(Time time) noexcept {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::milliseconds>(time - day));
  return absl::StrFormat("%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                         static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                         clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

namespace {

// The key of one life of a scope's counters.
std::string LifeKey(const Scope& scope) { return library::ScopeKey(scope) + ':' + std::to_string(scope.generation); }

bool IsExact(const Counter& counter) { return !counter.estimate && (!counter.coverage || *counter.coverage == 1); }

std::optional<Increase> IncreaseOf(const Counter& earlier, const Counter& later, double seconds) {
  // Estimates may fall.
  if (later.count < earlier.count) return std::nullopt;
  const uint64_t count = later.count - earlier.count;
  return Increase{.event = later.event,
                  .count = count,
                  .per_second = static_cast<double>(count) / seconds,
                  .exact = IsExact(earlier) && IsExact(later)};
}

ScopeIncreases IncreasesOf(const ScopeCounters& earlier, const ScopeCounters& later, double seconds) {
  ScopeIncreases row{.scope = later.scope};
  std::unordered_map<std::string_view, const Counter*> before;
  for (const Counter& counter : earlier.counters) before.emplace(counter.event, &counter);
  for (const Counter& counter : later.counters) {
    const auto found = before.find(counter.event);
    if (found == before.end()) continue;
    if (auto increase = IncreaseOf(*found->second, counter, seconds)) row.increases.push_back(*std::move(increase));
  }
  return row;
}

}  // namespace

std::vector<ScopeIncreases> IncreasesBetween(const Snapshot& earlier, const Snapshot& later) noexcept {
  std::vector<ScopeIncreases> rows;
  const double seconds = std::chrono::duration<double>(later.reference_time - earlier.reference_time).count();
  if (earlier.device != later.device || earlier.boot_id != later.boot_id || seconds <= 0) return rows;
  std::unordered_map<std::string, const ScopeCounters*> before;
  for (const ScopeCounters& row : earlier.scopes) before.emplace(LifeKey(row.scope), &row);
  for (const ScopeCounters& row : later.scopes) {
    const auto found = before.find(LifeKey(row.scope));
    if (found != before.end()) rows.push_back(IncreasesOf(*found->second, row, seconds));
  }
  return rows;
}

}  // namespace sideband
