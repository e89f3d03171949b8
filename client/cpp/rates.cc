// SPDX-License-Identifier: Apache-2.0
#include "sideband/rates.h"

#include <optional>
#include <unordered_map>
#include <utility>

#include "client/cpp/scope_key.h"

namespace sideband {
namespace {

// Of one life of a scope's counters.
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
