// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/plausibility.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/cpp/device_values.h"
#include "client/cpp/scope_key.h"
#include "proto/base/boot_id.h"
#include "proto/base/status_macros.h"
#include "sideband/client.h"

namespace sideband::library {
namespace {

constexpr char kConfidentialExcluded[] = "confidential_excluded";

bool IsComparable(const ScopeCounters& row) {
  return std::find(row.flags.begin(), row.flags.end(), kConfidentialExcluded) == row.flags.end();
}

using Counts = std::vector<std::pair<std::string, uint64_t>>;

// The earlier count of an event, which usually has the place that it had before.
const uint64_t* FindCount(const Counts& counts, const std::string& event, size_t place) {
  if (place < counts.size() && counts[place].first == event) return &counts[place].second;
  const auto found = std::find_if(counts.begin(), counts.end(), [&](const auto& one) { return one.first == event; });
  return found == counts.end() ? nullptr : &found->second;
}

absl::Status CheckCounts(const ScopeCounters& row, const Counts& before) {
  size_t place = 0;
  for (const Counter& counter : row.counters) {
    if (counter.estimate) continue;
    const uint64_t* const count = FindCount(before, counter.event, place++);
    if (count == nullptr || counter.count >= *count) continue;
    return absl::DataLossError(absl::StrCat(ScopeText(row.scope), ": the count of ", counter.event, " fell from ",
                                            *count, " to ", counter.count, " within generation ",
                                            row.scope.generation));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Plausibility::Check(const Snapshot& snapshot, bool is_whole) {
  if (devices_.size() >= kDevicesMax && devices_.count(snapshot.device) == 0) {
    return absl::DataLossError(absl::StrCat("a stream of more than ", kDevicesMax, " devices"));
  }
  Device& device = devices_[snapshot.device];
  if (device.boot_id != snapshot.boot_id) device = {.boot_id = snapshot.boot_id};
  if (snapshot.reference_time < device.reference_time) {
    return absl::DataLossError(absl::StrCat(snapshot.device, ": the device's clock went back from ",
                                            device.reference_time.count(), " ns to ", snapshot.reference_time.count(),
                                            " ns in boot ", BootIdText(snapshot.boot_id)));
  }
  // What was absent for a while may come back: what is forgotten is not checked.
  Lives lives = is_whole || device.lives.size() > kScopesMax ? Lives() : device.lives;
  for (const ScopeCounters& row : snapshot.scopes) {
    SIDEBAND_RETURN_IF_ERROR(CheckRow(row, device.lives));
    Life life = LifeOf(row);
    Life& kept = lives[ScopeKey(row.scope)];
    // Of a scope that has ended and begun again, the snapshot may have both.
    if (life.generation >= kept.generation) kept = std::move(life);
  }
  device.reference_time = snapshot.reference_time;
  device.lives = std::move(lives);
  return absl::OkStatus();
}

absl::Status Plausibility::CheckRow(const ScopeCounters& row, const Lives& before) {
  const auto found = before.find(ScopeKey(row.scope));
  if (found == before.end() || !IsComparable(row)) return absl::OkStatus();
  const Life& life = found->second;
  if (row.scope.generation == life.generation) return CheckCounts(row, life.counts);
  // The final counts of an earlier life may come late.
  if (row.scope.generation > life.generation || row.status == ScopeStatus::kRetired) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(ScopeText(row.scope), ": the generation went back from ", life.generation,
                                          " to ", row.scope.generation));
}

Plausibility::Life Plausibility::LifeOf(const ScopeCounters& row) {
  Life life{.generation = row.scope.generation};
  if (!IsComparable(row)) return life;
  for (const Counter& counter : row.counters) {
    if (!counter.estimate) life.counts.emplace_back(counter.event, counter.count);
  }
  return life;
}

}  // namespace sideband::library
