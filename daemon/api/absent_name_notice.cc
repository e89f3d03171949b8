// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/absent_name_notice.h"

#include <utility>

namespace sideband::daemon {

AbsentNameNotice::AbsentNameNotice(Reader& reader, std::vector<NamedVm> vms,
                                   std::function<void(const std::string&)> tell)
    : reader_(reader), vms_(std::move(vms)), tell_(std::move(tell)) {
  reader_.store().AddListener(*this);
}

AbsentNameNotice::~AbsentNameNotice() { reader_.store().RemoveListener(*this); }

void AbsentNameNotice::OnPublish(size_t, const std::shared_ptr<const DeviceSnapshot>&) {
  if (told_) return;
  const auto topologies = reader_.FreshTopologies();
  if (!topologies || told_.exchange(true)) return;
  const std::shared_ptr<const Policy> policy = reader_.policy().Current().policy;
  for (const std::string& line : AbsentNames(*policy, *topologies)) tell_(line);
  for (const std::string& line : AbsentVms(vms_, *policy, *topologies)) tell_(line);
}

}  // namespace sideband::daemon
