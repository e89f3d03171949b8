// SPDX-License-Identifier: Apache-2.0
#include "daemon/snapshot/utilisation.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/strip.h"

namespace sideband::daemon {
namespace {

// A saturated event may count a little more than its capacity. Reference times are whole nanoseconds, at both ends of
// the interval. A prescaled wire keeps up to 31 of 32 cycles for the next interval, or for the next context on its
// slice: hence also a share.
constexpr double kSlackNanoseconds = 2;
constexpr double kSlackCycles = 32;
constexpr double kSlackShare = 1e-3;

uint8_t SliceOf(const Topology& topology, const mailbox::BlockHeader& block) {
  if (IsHostBlock(block)) return static_cast<uint8_t>(block.context);
  if (LevelOf(block) == Level::kContext) {
    const mailbox::ContextInfo* const context = topology.FindContext(block.vm, block.context);
    return context == nullptr ? mailbox::kAnySlice : context->slice;
  }
  const mailbox::VmInfo* const vm = topology.FindVm(block.vm);
  return vm == nullptr ? mailbox::kAnySlice : vm->slice;
}

}  // namespace

std::vector<std::string> UtilisationNames(const Topology& topology, const std::vector<Ratio>& ratios) {
  absl::flat_hash_set<std::string> taken = {kCoverageRatio, kEventCoverageRatio};
  for (const Ratio& ratio : ratios) taken.insert(ratio.spec->name);
  std::vector<std::string> names;
  const auto& events = topology.catalog().events;
  for (size_t event = 0; event < events.size(); ++event) {
    std::string name(absl::StripSuffix(events[event].name, "_cycles"));
    const bool is_free = topology.capacities().IsKnown(event) && taken.insert(name).second;
    names.push_back(is_free ? std::move(name) : "");
  }
  return names;
}

RowUtilisation::RowUtilisation(const DeviceSnapshot& snapshot, size_t row)
    : capacities_(snapshot.topology->capacities()),
      coverage_(snapshot.topology->coverage()),
      level_(LevelOf(snapshot.data.blocks[row])),
      hertz_(static_cast<double>(snapshot.topology->catalog().reference_clock_hz)) {
  const mailbox::BlockHeader& block = snapshot.data.blocks[row];
  // A row without confidential VMs is not comparable with the whole device's capacity.
  const bool is_complete = (block.flags & mailbox::kFlagConfidentialExcluded) == 0;
  if (!is_complete || snapshot.elapsed <= absl::ZeroDuration()) return;
  rates_ = snapshot.Rates(row);
  bounds_ = snapshot.Bounds(row);
  const uint8_t slice = SliceOf(*snapshot.topology, block);
  is_bound_ = slice != mailbox::kAnySlice;
  place_ = capacities_.PlaceOf(slice);
  const double seconds = absl::ToDoubleSeconds(snapshot.elapsed);
  slack_ = 1 + kSlackShare + (kSlackNanoseconds / 1e9 + (hertz_ > 0 ? kSlackCycles / hertz_ : 0)) / seconds;
}

bool RowUtilisation::IsOverSomeCycles(size_t event) const {
  const bool has_turns = level_ == Level::kContext || level_ == Level::kHost;
  return coverage_.IsGated(event) || (has_turns && capacities_.resident_cycles() != event);
}

std::optional<size_t> RowUtilisation::CyclesOf(size_t event) const {
  if (!coverage_.IsGated(event)) return capacities_.resident_cycles();
  const auto gate = coverage_.CyclesOf(event);
  return gate ? std::optional(gate->running) : std::nullopt;
}

double RowUtilisation::CyclesPerSecond(size_t event) const {
  if (!IsOverSomeCycles(event)) return hertz_;
  const auto cycles = CyclesOf(event);
  return cycles && *cycles < rates_.size() ? rates_[*cycles] : 0;
}

double RowUtilisation::CapacityPerSecond(size_t event) const {
  // Cycles of some slices fit one capacity only if it is that of each.
  const bool is_of_each = level_ == Level::kContext || coverage_.IsGated(event);
  const double unbound = is_of_each ? capacities_.OfEachSlice(event) : capacities_.OfDevice(event);
  return (is_bound_ ? capacities_.OfSlice(event, place_) : unbound) * CyclesPerSecond(event);
}

std::optional<Utilisation> RowUtilisation::Of(size_t event) const {
  if (event >= rates_.size()) return std::nullopt;
  const double counted = rates_[event], capacity = CapacityPerSecond(event);
  if (event < bounds_.size() && bounds_[event].upper > capacity * slack_) return std::nullopt;
  // With an unknown rate (NaN) the comparisons are false.
  if (!(capacity > 0 && counted >= 0 && counted <= capacity * slack_)) return std::nullopt;
  return Utilisation{counted, capacity, std::min(counted / capacity, 1.0)};
}

bool RowUtilisation::IsContradiction(size_t event) const {
  if (event >= rates_.size()) return false;
  const double capacity = CapacityPerSecond(event);
  return capacity > 0 && rates_[event] > capacity * slack_;
}

bool RowUtilisation::IsIn(size_t event, const std::vector<bool>& events) const {
  if (!events[event]) return false;
  const auto cycles = CyclesOf(event);
  return !IsOverSomeCycles(event) || (cycles && events[*cycles]);
}

}  // namespace sideband::daemon
