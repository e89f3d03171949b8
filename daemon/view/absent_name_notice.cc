// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/absent_name_notice.h"

#include <utility>

namespace sideband::daemon {

AbsentNameNotice::AbsentNameNotice(Reader& reader, Names names, Report warn, Report fail)
    : reader_(reader), warn_(std::move(warn)), fail_(std::move(fail)), names_(std::move(names)) {
  reader_.AddListener(*this);
}

AbsentNameNotice::~AbsentNameNotice() { reader_.RemoveListener(*this); }

void AbsentNameNotice::LookAgain(Names names) {
  absl::MutexLock lock(&mu_);
  names_ = std::move(names);
}

void AbsentNameNotice::OnUpdate() {
  std::optional<Names> names;
  std::optional<Topologies> topologies;
  {
    absl::MutexLock lock(&mu_);
    if (!names_) return;
    topologies = reader_.FreshTopologies();
    if (!topologies) return;
    // Each set of names is checked once.
    names.swap(names_);
  }
  // Without the lock from here on: the reports call functions of the owner.
  const std::shared_ptr<const Policy> policy = reader_.CurrentPolicy().policy;
  for (const std::string& line : AbsentNames(*policy, *topologies)) warn_(line);
  for (const std::string& line : AbsentVms(names->vms, *policy, *topologies)) warn_(line);
  for (const std::string& line : AbsentEvents(names->events, *policy, *topologies)) fail_(line);
}

}  // namespace sideband::daemon
