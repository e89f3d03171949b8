// SPDX-License-Identifier: Apache-2.0
#include "daemon/snapshot/coverage.h"

#include <limits>

namespace sideband::daemon {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

bool IsCounted(const mailbox::EventInfo& event) {
  return event.scope == mailbox::EventScope::kContext && !event.masked;
}

}  // namespace

Coverage::Coverage(const mailbox::Catalog& catalog) {
  if (catalog.gate_groups.empty()) return;
  gates_.resize(catalog.events.size());
  for (size_t i = 0; i < catalog.events.size(); ++i) {
    const mailbox::EventInfo& event = catalog.events[i];
    if (!IsCounted(event)) continue;
    if (event.name == mailbox::kResidentCyclesEvent) resident_ = i;
    if (event.details.gate_group >= catalog.gate_groups.size()) continue;
    const size_t running = catalog.gate_groups[event.details.gate_group].running_event;
    if (running == i) continue;
    gates_[i].is_gated = true;
    if (running < catalog.events.size() && IsCounted(catalog.events[running])) gates_[i].running = running;
  }
}

std::optional<GateCycles> Coverage::CyclesOf(size_t event) const {
  if (!IsGated(event) || !gates_[event].running || !resident_) return std::nullopt;
  return GateCycles{*gates_[event].running, *resident_};
}

double Coverage::OfCycles(uint64_t running, uint64_t resident) {
  if (running > resident) return kUnknown;
  return running == 0 ? 0 : static_cast<double>(running) / static_cast<double>(resident);
}

double Coverage::OfCount(size_t event, std::span<const uint64_t> counters) const {
  if (!IsGated(event)) return 1;
  const auto cycles = CyclesOf(event);
  if (!cycles || cycles->running >= counters.size() || cycles->resident >= counters.size()) return kUnknown;
  return OfCycles(counters[cycles->running], counters[cycles->resident]);
}

double Coverage::OfRate(size_t event, std::span<const double> rates) const {
  if (!IsGated(event)) return 1;
  const auto cycles = CyclesOf(event);
  if (!cycles || cycles->running >= rates.size() || cycles->resident >= rates.size()) return kUnknown;
  const double running = rates[cycles->running], resident = rates[cycles->resident];
  // With an unknown rate (NaN) the comparisons are false.
  return resident > 0 && running <= resident ? running / resident : kUnknown;
}

bool Coverage::IsWhole(std::span<const uint64_t> counters) const {
  for (size_t event = 0; event < gates_.size(); ++event) {
    if (!gates_[event].is_gated) continue;
    const auto cycles = CyclesOf(event);
    if (!cycles || cycles->running >= counters.size() || cycles->resident >= counters.size()) return false;
    if (counters[cycles->running] != counters[cycles->resident]) return false;
  }
  return true;
}

}  // namespace sideband::daemon
