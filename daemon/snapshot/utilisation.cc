// SPDX-License-Identifier: Apache-2.0
#include "daemon/snapshot/utilisation.h"

#include <algorithm>
#include <limits>

#include "absl/strings/strip.h"

namespace sideband::daemon {
namespace {

uint8_t SliceOf(const Topology& topology, const mailbox::BlockHeader& block) {
  if (LevelOf(block) == Level::kContext) {
    const mailbox::ContextInfo* const context = topology.FindContext(block.vm, block.context);
    return context == nullptr ? mailbox::kAnySlice : context->slice;
  }
  const mailbox::VmInfo* const vm = topology.FindVm(block.vm);
  return vm == nullptr ? mailbox::kAnySlice : vm->slice;
}

double CyclesPerSecond(const Topology& topology, Level level, std::span<const double> rates) {
  if (level != Level::kContext) return static_cast<double>(topology.catalog().reference_clock_hz);
  const auto resident = topology.capacities().resident_cycles();
  return resident ? rates[*resident] : 0;
}

}  // namespace

std::string UtilisationName(const std::string& event) { return std::string(absl::StripSuffix(event, "_cycles")); }

RowUtilisation::RowUtilisation(const DeviceSnapshot& snapshot, size_t row)
    : capacities_(snapshot.topology->capacities()), level_(LevelOf(snapshot.data.blocks[row])) {
  const mailbox::BlockHeader& block = snapshot.data.blocks[row];
  // A row without confidential VMs is not comparable with the whole device's capacity.
  const bool is_complete = (block.flags & mailbox::kFlagConfidentialExcluded) == 0;
  if (!is_complete || snapshot.elapsed <= absl::ZeroDuration()) return;
  rates_ = snapshot.Rates(row);
  if (rates_.empty()) return;
  const uint8_t slice = SliceOf(*snapshot.topology, block);
  is_bound_ = slice != mailbox::kAnySlice;
  place_ = capacities_.PlaceOf(slice);
  cycles_per_second_ = CyclesPerSecond(*snapshot.topology, level_, rates_);
  // Reference times are whole nanoseconds, so a saturated event may count up to two nanoseconds' worth more.
  slack_ = 1 + 2 / absl::ToDoubleNanoseconds(snapshot.elapsed);
}

double RowUtilisation::Capacity(size_t event) const {
  if (is_bound_) return capacities_.OfSlice(event, place_);
  return level_ == Level::kContext ? capacities_.OfEachSlice(event) : capacities_.OfDevice(event);
}

std::optional<Utilisation> RowUtilisation::Of(size_t event) const {
  if (event >= rates_.size()) return std::nullopt;
  const double counted = rates_[event], capacity = Capacity(event) * cycles_per_second_;
  // With an unknown rate (NaN) the comparisons are false.
  if (!(capacity > 0 && counted >= 0)) return std::nullopt;
  const bool is_possible = counted <= capacity * slack_;
  const double value = is_possible ? std::min(counted / capacity, 1.0) : std::numeric_limits<double>::quiet_NaN();
  return Utilisation{counted, capacity, value};
}

bool RowUtilisation::IsIn(size_t event, const std::vector<bool>& events) const {
  if (!events[event]) return false;
  const auto resident = capacities_.resident_cycles();
  return level_ != Level::kContext || (resident && events[*resident]);
}

}  // namespace sideband::daemon
