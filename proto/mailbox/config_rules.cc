// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/config_rules.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"

namespace sideband::mailbox {
namespace {

absl::Status Refuse(uint16_t vm, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("VM ", vm, ": ", why));
}

absl::Status CheckVm(uint16_t id, const VmControl& from, const VmControl& to, const CountingConfig& config,
                     bool is_confidential) {
  if (to.is_private != from.is_private) return Refuse(id, "whether it is private is settled when it starts");
  if (to.selection != 0 && to.selection >= config.selections.size()) {
    return Refuse(id, absl::StrCat("the device has no selection ", int{to.selection}));
  }
  VmControl same = to;
  same.allowed = from.allowed;
  if (is_confidential && same != from) {
    return Refuse(id, "it is confidential: only what it may open can be changed");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckChange(const CountingConfig& from, const CountingConfig& to, const std::set<uint16_t>& confidential) {
  for (const auto& [id, control] : to.vms) {
    const auto before = from.vms.find(id);
    if (before == from.vms.end()) return Refuse(id, "there is no such VM");
    SIDEBAND_RETURN_IF_ERROR(CheckVm(id, before->second, control, to, confidential.contains(id)));
  }
  return absl::OkStatus();
}

VmControl Shown(const VmControl& confidential) {
  return {.allowed = confidential.allowed, .is_private = confidential.is_private};
}

}  // namespace sideband::mailbox
