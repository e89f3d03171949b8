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

void SyntheticSlice::Begin(bool is_host, uint64_t cycle) {
  const Context* worker = Worker(is_host);
  stretches_.push_back({is_host, cycle, worker == nullptr ? 0 : worker->own_cycles});
  ++version_;
}

void SyntheticSlice::End(uint64_t cycle) {
  if (stretches_.empty()) return;
  const Stretch& last = stretches_.back();
  Context* worker = last.is_host ? (host_ ? &*host_ : nullptr) : resident_;
  if (worker != nullptr) worker->own_cycles += std::max(cycle, last.begin) - last.begin;
}

void SyntheticSlice::LetHostRunAlone() {
  host_runs_alone_ = true;
  Begin(true, 0);
}

void SyntheticSlice::SwitchIn(absl::string_view vm, absl::string_view context, uint64_t cycle) {
  Leave(cycle);
  const auto found = contexts_.find({std::string(vm), std::string(context)});
  if (found == contexts_.end()) return;
  resident_ = &found->second;
  Begin(false, cycle);
}

void SyntheticSlice::SwitchMode(bool is_host, uint64_t cycle, uint64_t now) {
  if (resident_ == nullptr || is_host == stretches_.back().is_host) return;
  while (stretches_.size() > 1 && stretches_[1].begin + kHistoryCycles <= now) stretches_.pop_front();
  End(cycle);
  Begin(is_host, cycle);
}

void SyntheticSlice::SwitchOut(uint64_t cycle) {
  Leave(cycle);
  if (host_runs_alone_) Begin(true, cycle);
}

// What is left is asked for no more.
void SyntheticSlice::Leave(uint64_t cycle) {
  End(cycle);
  stretches_.clear();
  ++version_;
  resident_ = nullptr;
}

const SyntheticSlice::OwnRanges& SyntheticSlice::OwnRangesOf(CycleRange range) const {
  if (own_.range != range || own_.version != version_) FindOwnRanges(range);
  return own_;
}

void SyntheticSlice::FindOwnRanges(CycleRange range) const {
  own_ = {.range = range, .version = version_};
  uint64_t end = range.end;
  // Backwards: the last part of each is met first.
  for (auto stretch = stretches_.rbegin(); stretch != stretches_.rend() && end > range.begin; ++stretch) {
    const uint64_t begin = std::max(range.begin, stretch->begin);
    if (begin >= end) continue;
    CycleRange& own = stretch->is_host ? own_.host : own_.guest;
    const uint64_t own_begin = stretch->own_begin + begin - stretch->begin;
    own = {own_begin, own.size() == 0 ? own_begin + end - begin : own.end};
    end = begin;
  }
  if (resident_ != nullptr) located_[0] = resident_->workload.Locate(own_.guest);
  if (host_) located_[1] = host_->workload.Locate(own_.host);
}

void SyntheticSlice::AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const {
  AddModeCounts(range, false, wires, sums);
  AddModeCounts(range, true, wires, sums);
}

void SyntheticSlice::AddConsecutiveCounts(CycleRange range, WireId first, std::span<uint64_t> sums) const {
  const OwnRanges& own = OwnRangesOf(range);
  if (own.guest.size() > 0) resident_->workload.AddConsecutiveCounts(located_[0], first, sums);
  if (own.host.size() > 0 && host_) host_->workload.AddConsecutiveCounts(located_[1], first, sums);
}

bool SyntheticSlice::AddModeCounts(CycleRange range, bool is_host, std::span<const WireId> wires,
                                   std::span<uint64_t> sums) const {
  const OwnRanges& own = OwnRangesOf(range);
  const Context* worker = Worker(is_host);
  const CycleRange& part = is_host ? own.host : own.guest;
  if (worker != nullptr && part.size() > 0) worker->workload.AddCounts(part, wires, sums);
  return true;
}

bool SyntheticSlice::AddConsecutiveModeCounts(CycleRange range, bool is_host, WireId first,
                                              std::span<uint64_t> sums) const {
  const OwnRanges& own = OwnRangesOf(range);
  const Context* worker = Worker(is_host);
  if (worker == nullptr || (is_host ? own.host : own.guest).size() == 0) return true;
  worker->workload.AddConsecutiveCounts(located_[is_host ? 1 : 0], first, sums);
  return true;
}

bool SyntheticSlice::Bit(WireId wire, uint64_t cycle) const {
  const OwnRanges& own = OwnRangesOf({cycle, cycle + 1});
  const bool is_host = own.host.size() > 0;
  const Context* worker = Worker(is_host);
  const CycleRange& part = is_host ? own.host : own.guest;
  return worker != nullptr && part.size() > 0 && worker->workload.Bit(wire, part.begin);
}

uint64_t SyntheticSlice::own_cycles(absl::string_view vm, absl::string_view context) const {
  const auto found = contexts_.find({std::string(vm), std::string(context)});
  return found == contexts_.end() ? 0 : found->second.own_cycles;
}

}  // namespace sideband::sim
