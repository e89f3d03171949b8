// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/replay/warnings.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include "absl/strings/str_cat.h"

namespace sideband::mcu {
namespace {

using Warnings = std::vector<std::string>;

constexpr size_t kGapWarningsMax = 16;

void WarnOfClocks(const sim::SignalMap& map, const sim::TraceReader& trace, Warnings& warnings) {
  std::set<std::string> still;
  if (trace.cycles() == 0) still.insert(map.clock());
  for (size_t event = 0; event < map.events().size(); ++event) {
    const std::string& clock = map.events()[event].clock;
    if (!clock.empty() && trace.cycles(trace.event_wires().domain(event)) == 0) still.insert(clock);
  }
  for (const std::string& clock : still) {
    warnings.push_back(absl::StrCat(trace.path(), ": clock '", clock, "' never rises: its events count 0"));
  }
}

// Of residencies that go beyond the trace: the trace may be cut off, or the schedule may be another's.
void WarnOfEnds(const std::string& path, const std::vector<sim::Residency>& schedule, uint64_t cycles,
                Warnings& warnings) {
  const auto is_cut = [&](const sim::Residency& residency) { return residency.end_cycle > cycles; };
  const auto first = std::ranges::find_if(schedule, is_cut);
  if (first == schedule.end()) return;
  const auto more = std::count_if(std::next(first), schedule.end(), is_cut);
  warnings.push_back(absl::StrCat(path, ":", first->line, ": the residency ends with cycle ", first->end_cycle - 1,
                                  ", the trace with cycle ", cycles - 1, ": what is missing counts 0",
                                  more == 0 ? "" : absl::StrCat("; likewise ", more, " more")));
}

void WarnOfSchedule(const std::string& path, const std::vector<sim::Residency>& schedule, uint64_t cycles,
                    Warnings& warnings) {
  const auto is_late = [&](const sim::Residency& residency) { return residency.start_cycle >= cycles; };
  if (cycles == 0 || schedule.empty()) return;
  if (!std::ranges::all_of(schedule, is_late)) return WarnOfEnds(path, schedule, cycles, warnings);
  warnings.push_back(absl::StrCat(path, ": every residency begins after the trace, which ends with cycle ", cycles - 1,
                                  ": all VMs count 0"));
}

// Whether the gap hides a part of the residency.
bool IsIn(const sim::DumpGap& gap, const sim::Residency& residency) {
  return gap.cycles.begin < residency.end_cycle && gap.cycles.end > residency.start_cycle;
}

std::string TextOf(const std::string& trace, const std::string& schedule, const sim::DumpGap& gap,
                   const sim::Residency& residency) {
  const bool has_end = gap.cycles.end != std::numeric_limits<uint64_t>::max();
  const std::string until = has_end ? absl::StrCat("to ", gap.cycles.end) : "on";
  return absl::StrCat(trace, ":", gap.line, ": $dumpoff from cycle ", gap.cycles.begin, " ", until,
                      ", within the residency of ", schedule, ":", residency.line,
                      ": events in these cycles are not counted");
}

void WarnOfGaps(const std::string& path, const std::vector<sim::Residency>& schedule, const sim::TraceReader& trace,
                Warnings& warnings) {
  size_t found = 0;
  for (const sim::DumpGap& gap : trace.gaps()) {
    const auto residency =
        std::ranges::find_if(schedule, [&](const sim::Residency& residency) { return IsIn(gap, residency); });
    if (residency == schedule.end()) continue;
    if (++found <= kGapWarningsMax) warnings.push_back(TextOf(trace.path(), path, gap, *residency));
  }
  if (found > kGapWarningsMax) {
    warnings.push_back(absl::StrCat(trace.path(), ": ", found - kGapWarningsMax, " more $dumpoff within residencies"));
  }
}

}  // namespace

std::vector<std::string> ReplayWarnings(const std::string& schedule_path, const sim::SignalMap& map,
                                        const std::vector<sim::Residency>& schedule, const sim::TraceReader& trace) {
  Warnings warnings = trace.warnings();
  WarnOfClocks(map, trace, warnings);
  WarnOfSchedule(schedule_path, schedule, trace.cycles(), warnings);
  WarnOfGaps(schedule_path, schedule, trace, warnings);
  return warnings;
}

void WarnOfUnattributed(const std::string& trace_path, const std::vector<PlannedEvent>& events,
                        const std::vector<uint64_t>& counters, std::vector<std::string>& warnings) {
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].unattributed_of.empty() || counters[i] == 0) continue;
    warnings.push_back(absl::StrCat(trace_path, ": event '", events[i].unattributed_of, "': ", counters[i],
                                    " unattributed counts, which are '", events[i].name,
                                    "' of vm0: tags name no slice, or no resident of it"));
  }
}

}  // namespace sideband::mcu
