// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/synthetic_slice.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace sideband::sim {
void SliceDomain::Begin(bool is_host, uint64_t cycle) {
  const Workload* worker = Worker(is_host);
  stretches_.push_back({is_host, cycle, worker == nullptr ? 0 : own_cycles_[worker]});
  ++version_;
}

void SliceDomain::End(uint64_t cycle) {
  if (stretches_.empty()) return;
  const Stretch& last = stretches_.back();
  const Workload* worker = Worker(last.is_host);
  if (worker != nullptr) own_cycles_[worker] += std::max(cycle, last.begin) - last.begin;
}

void SliceDomain::LetHostRunAlone() {
  host_runs_alone_ = true;
  Begin(true, 0);
}

void SliceDomain::SwitchIn(const Workload* workload, uint64_t cycle) {
  Leave(cycle);
  if (workload == nullptr) return;
  resident_ = workload;
  Begin(false, cycle);
}

void SliceDomain::SwitchMode(bool is_host, uint64_t cycle, uint64_t now) {
  if (resident_ == nullptr || is_host == stretches_.back().is_host) return;
  while (stretches_.size() > 1 && stretches_[1].begin + kHistoryCycles <= now) stretches_.pop_front();
  End(cycle);
  Begin(is_host, cycle);
}

void SliceDomain::SwitchOut(uint64_t cycle) {
  Leave(cycle);
  if (host_runs_alone_) Begin(true, cycle);
}

// Counts of the workload that leaves are not asked for again.
void SliceDomain::Leave(uint64_t cycle) {
  End(cycle);
  stretches_.clear();
  ++version_;
  resident_ = nullptr;
}

const SliceDomain::OwnRanges& SliceDomain::OwnRangesOf(CycleRange range) const {
  if (own_.range != range || own_.version != version_) FindOwnRanges(range);
  return own_;
}

void SliceDomain::FindOwnRanges(CycleRange range) const {
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
  if (resident_ != nullptr) located_[0] = resident_->Locate(own_.guest);
  if (host_ != nullptr) located_[1] = host_->Locate(own_.host);
}

void SliceDomain::AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const {
  AddModeCounts(range, false, wires, sums);
  AddModeCounts(range, true, wires, sums);
}

void SliceDomain::AddConsecutiveCounts(CycleRange range, WireId first, std::span<uint64_t> sums) const {
  const OwnRanges& own = OwnRangesOf(range);
  if (own.guest.size() > 0) resident_->AddConsecutiveCounts(located_[0], first, sums);
  if (own.host.size() > 0 && host_ != nullptr) host_->AddConsecutiveCounts(located_[1], first, sums);
}

bool SliceDomain::AddModeCounts(CycleRange range, bool is_host, std::span<const WireId> wires,
                                std::span<uint64_t> sums) const {
  const OwnRanges& own = OwnRangesOf(range);
  const Workload* worker = Worker(is_host);
  const CycleRange& part = is_host ? own.host : own.guest;
  if (worker != nullptr && part.size() > 0) worker->AddCounts(part, wires, sums);
  return true;
}

bool SliceDomain::AddConsecutiveModeCounts(CycleRange range, bool is_host, WireId first,
                                           std::span<uint64_t> sums) const {
  const OwnRanges& own = OwnRangesOf(range);
  const Workload* worker = Worker(is_host);
  if (worker == nullptr || (is_host ? own.host : own.guest).size() == 0) return true;
  worker->AddConsecutiveCounts(located_[is_host ? 1 : 0], first, sums);
  return true;
}

bool SliceDomain::Bit(WireId wire, uint64_t cycle) const {
  const OwnRanges& own = OwnRangesOf({cycle, cycle + 1});
  const bool is_host = own.host.size() > 0;
  const Workload* worker = Worker(is_host);
  const CycleRange& part = is_host ? own.host : own.guest;
  return worker != nullptr && part.size() > 0 && worker->Bit(wire, part.begin);
}

uint64_t SliceDomain::own_cycles(const Workload* workload) const {
  const auto found = own_cycles_.find(workload);
  return found == own_cycles_.end() ? 0 : found->second;
}

absl::Status SyntheticSlice::CheckWires(const std::string& whose, const Workload& workload) const {
  if (contexts_.empty() || contexts_.begin()->second.wire_count() == workload.wire_count()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the workload of ", whose, " has ", workload.wire_count(),
                                                 " wires, the others have ", contexts_.begin()->second.wire_count()));
}

absl::Status SyntheticSlice::Add(absl::string_view vm, absl::string_view context, Workload workload) {
  if (absl::Status status = CheckWires(absl::StrCat(vm, "/", context), workload); !status.ok()) return status;
  Key key{std::string(vm), std::string(context)};
  if (!contexts_.try_emplace(std::move(key), std::move(workload)).second) {
    return absl::AlreadyExistsError(absl::StrCat(vm, "/", context, " has a workload already"));
  }
  return absl::OkStatus();
}

absl::Status SyntheticSlice::SetHost(Workload workload) {
  if (absl::Status status = CheckWires("the host", workload); !status.ok()) return status;
  host_.emplace(std::move(workload));
  for (SliceDomain& domain : domains_) domain.SetHost(&*host_);
  return absl::OkStatus();
}

void SyntheticSlice::LetHostRunAlone() {
  for (SliceDomain& domain : domains_) domain.LetHostRunAlone();
}

void SyntheticSlice::SwitchIn(absl::string_view vm, absl::string_view context, uint64_t cycle) {
  const auto found = contexts_.find({std::string(vm), std::string(context)});
  const Workload* workload = found == contexts_.end() ? nullptr : &found->second;
  for (size_t i = 0; i < domains_.size(); ++i) domains_[i].SwitchIn(workload, CyclesBefore(i, cycle));
}

void SyntheticSlice::SwitchMode(bool is_host, uint64_t cycle, uint64_t now) {
  for (size_t i = 0; i < domains_.size(); ++i) {
    domains_[i].SwitchMode(is_host, CyclesBefore(i, cycle), CyclesBefore(i, now));
  }
}

void SyntheticSlice::SwitchOut(uint64_t cycle) {
  for (size_t i = 0; i < domains_.size(); ++i) domains_[i].SwitchOut(CyclesBefore(i, cycle));
}

uint64_t SyntheticSlice::own_cycles(absl::string_view vm, absl::string_view context, size_t domain) const {
  const auto found = contexts_.find({std::string(vm), std::string(context)});
  return found == contexts_.end() ? 0 : domains_[domain].own_cycles(&found->second);
}

}  // namespace sideband::sim
