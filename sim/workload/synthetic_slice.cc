// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/synthetic_slice.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace sideband::sim {

absl::Status SyntheticSlice::Add(absl::string_view vm, absl::string_view context, Workload workload) {
  if (!contexts_.empty() && contexts_.begin()->second.workload.wire_count() != workload.wire_count()) {
    return absl::InvalidArgumentError(absl::StrCat("the workload of ", vm, "/", context, " has ", workload.wire_count(),
                                                   " wires, the others have ",
                                                   contexts_.begin()->second.workload.wire_count()));
  }
  Key key{std::string(vm), std::string(context)};
  if (!contexts_.try_emplace(std::move(key), Context{std::move(workload)}).second) {
    return absl::AlreadyExistsError(absl::StrCat(vm, "/", context, " has a workload already"));
  }
  return absl::OkStatus();
}

void SyntheticSlice::SwitchIn(absl::string_view vm, absl::string_view context, uint64_t cycle) {
  SwitchOut(cycle);
  const auto found = contexts_.find({std::string(vm), std::string(context)});
  if (found == contexts_.end()) return;
  resident_ = &found->second;
  resident_since_ = cycle;
  counted_ = {0, 0};
  located_ = resident_->workload.Locate(counted_);
}

void SyntheticSlice::SwitchOut(uint64_t cycle) {
  if (resident_ == nullptr) return;
  resident_->own_cycles += std::max(cycle, resident_since_) - resident_since_;
  resident_ = nullptr;
}

void SyntheticSlice::AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const {
  const CycleRange own = OwnCycles(range);
  if (own.size() > 0) resident_->workload.AddCounts(own, wires, sums);
}

void SyntheticSlice::AddConsecutiveCounts(CycleRange range, WireId first, std::span<uint64_t> sums) const {
  const CycleRange own = OwnCycles(range);
  if (own.size() == 0) return;
  if (own != counted_) {
    counted_ = own;
    located_ = resident_->workload.Locate(own);
  }
  resident_->workload.AddConsecutiveCounts(located_, first, sums);
}

CycleRange SyntheticSlice::OwnCycles(CycleRange range) const {
  if (resident_ == nullptr || range.end <= resident_since_) return {0, 0};
  const uint64_t begin = std::max(range.begin, resident_since_) - resident_since_;
  const uint64_t end = range.end - resident_since_;
  return {resident_->own_cycles + begin, resident_->own_cycles + end};
}

bool SyntheticSlice::Bit(WireId wire, uint64_t cycle) const {
  if (resident_ == nullptr || cycle < resident_since_) return false;
  return resident_->workload.Bit(wire, resident_->own_cycles + cycle - resident_since_);
}

uint64_t SyntheticSlice::own_cycles(absl::string_view vm, absl::string_view context) const {
  const auto found = contexts_.find({std::string(vm), std::string(context)});
  return found == contexts_.end() ? 0 : found->second.own_cycles;
}

}  // namespace sideband::sim
