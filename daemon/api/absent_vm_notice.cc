// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/absent_vm_notice.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/authz/absent_vms.h"

namespace sideband::daemon {

AbsentVmNotice::AbsentVmNotice(Reader& reader, std::function<void(const std::string&)> tell)
    : reader_(reader), tell_(std::move(tell)) {
  reader_.store().AddListener(*this);
}

AbsentVmNotice::~AbsentVmNotice() { reader_.store().RemoveListener(*this); }

void AbsentVmNotice::OnPublish(size_t, const std::shared_ptr<const DeviceSnapshot>&) {
  if (told_) return;
  const auto topologies = reader_.FreshTopologies();
  if (!topologies || told_.exchange(true)) return;
  const std::shared_ptr<const Policy> policy = reader_.policy().Current().policy;
  if (policy->allows_absent_vms()) return;
  for (const VmGrant* grant : AbsentVms(*policy, *topologies)) {
    tell_(absl::StrCat(policy->path(), ":", grant->line, ": VM ", grant->vm.ToString(), " is on no device"));
  }
}

}  // namespace sideband::daemon
