// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/synthetic_slice.h"

#include "absl/strings/str_cat.h"

namespace sideband::sim {

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
