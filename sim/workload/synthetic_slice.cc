// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/synthetic_slice.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace sideband::sim {

absl::Status SyntheticSlice::CheckWires(const std::string& whose, const Workload& workload) const {
  if (contexts_.empty() || contexts_.begin()->second.workload.wire_count() == workload.wire_count()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("the workload of ", whose, " has ", workload.wire_count(),
                                                 " wires, the others have ",
                                                 contexts_.begin()->second.workload.wire_count()));
}

absl::Status SyntheticSlice::Add(absl::string_view vm, absl::string_view context, Workload workload) {
  if (absl::Status status = CheckWires(absl::StrCat(vm, "/", context), workload); !status.ok()) return status;
  Key key{std::string(vm), std::string(context)};
  if (!contexts_.try_emplace(std::move(key), Context{std::move(workload)}).second) {
    return absl::AlreadyExistsError(absl::StrCat(vm, "/", context, " has a workload already"));
  }
  return absl::OkStatus();
}

absl::Status SyntheticSlice::SetHost(Workload workload) {
  if (absl::Status status = CheckWires("the host", workload); !status.ok()) return status;
  host_.emplace(Context{std::move(workload)});
  return absl::OkStatus();
}

void SyntheticSlice::Begin(Context* who, uint64_t cycle) {
  // What ended so long ago is counted.
  while (stretches_.size() > 1 && stretches_[1].begin + kHistoryCycles <= cycle) stretches_.pop_front();
  stretches_.push_back({who, cycle, who == nullptr ? 0 : who->own_cycles});
}

void SyntheticSlice::End(uint64_t cycle) {
  if (stretches_.empty()) return;
  const Stretch& last = stretches_.back();
  if (last.who != nullptr) last.who->own_cycles += std::max(cycle, last.begin) - last.begin;
}

void SyntheticSlice::SwitchIn(absl::string_view vm, absl::string_view context, uint64_t cycle) {
  SwitchOut(cycle);
  const auto found = contexts_.find({std::string(vm), std::string(context)});
  if (found == contexts_.end()) return;
  resident_ = &found->second;
  Begin(resident_, cycle);
}

void SyntheticSlice::SwitchMode(bool is_host, uint64_t cycle) {
  if (resident_ == nullptr || is_host == is_host_) return;
  End(cycle);
  is_host_ = is_host;
  Begin(!is_host ? resident_ : host_ ? &*host_ : nullptr, cycle);
}

void SyntheticSlice::SwitchOut(uint64_t cycle) {
  End(cycle);
  stretches_.clear();
  resident_ = nullptr;
  is_host_ = false;
}

template <typename Visitor>
void SyntheticSlice::ForEachOwnRange(CycleRange range, const Visitor& visit) const {
  uint64_t end = range.end;
  for (auto stretch = stretches_.rbegin(); stretch != stretches_.rend() && end > range.begin; ++stretch) {
    const uint64_t begin = std::max(range.begin, stretch->begin);
    if (begin < end && stretch->who != nullptr) {
      const uint64_t own = stretch->own_begin + begin - stretch->begin;
      visit(stretch->who->workload, CycleRange{own, own + end - begin});
    }
    end = std::min(end, begin);
  }
}

void SyntheticSlice::AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const {
  ForEachOwnRange(range, [&](const Workload& workload, CycleRange own) { workload.AddCounts(own, wires, sums); });
}

void SyntheticSlice::AddConsecutiveCounts(CycleRange range, WireId first, std::span<uint64_t> sums) const {
  ForEachOwnRange(range, [&](const Workload& workload, CycleRange own) {
    if (counted_by_ != &workload || own != counted_) {
      counted_by_ = &workload;
      counted_ = own;
      located_ = workload.Locate(own);
    }
    workload.AddConsecutiveCounts(located_, first, sums);
  });
}

bool SyntheticSlice::Bit(WireId wire, uint64_t cycle) const {
  bool bit = false;
  ForEachOwnRange({cycle, cycle + 1},
                  [&](const Workload& workload, CycleRange own) { bit = workload.Bit(wire, own.begin); });
  return bit;
}

uint64_t SyntheticSlice::own_cycles(absl::string_view vm, absl::string_view context) const {
  const auto found = contexts_.find({std::string(vm), std::string(context)});
  return found == contexts_.end() ? 0 : found->second.own_cycles;
}

}  // namespace sideband::sim
