// SPDX-License-Identifier: Apache-2.0
//
// At start nobody knows yet which VMs and events there are. This looks once, as soon as every device has been heard of.
//   AbsentNameNotice notice(reader, vms_with_keys, [](const std::string& line) { spdlog::warn(line); });
#ifndef SIDEBAND_DAEMON_API_ABSENT_NAME_NOTICE_H_
#define SIDEBAND_DAEMON_API_ABSENT_NAME_NOTICE_H_

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "daemon/api/reader.h"
#include "daemon/authz/absent_names.h"

namespace sideband::daemon {

// Thread-safe; `reader` must outlive it.
class AbsentNameNotice final : public PublicationListener {
 public:
  // `tell` is given "FILE:LINE: VM … is on no device" and the like for each name of the policy then in force that no
  // device has, then for each of `vms`, on a collector's thread: it must return at once.
  AbsentNameNotice(Reader& reader, std::vector<NamedVm> vms, std::function<void(const std::string&)> tell);
  ~AbsentNameNotice() override;

  void OnPublish(size_t device, const std::shared_ptr<const DeviceSnapshot>& snapshot) override;

 private:
  Reader& reader_;
  const std::vector<NamedVm> vms_;
  const std::function<void(const std::string&)> tell_;
  std::atomic<bool> told_ = false;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_API_ABSENT_NAME_NOTICE_H_
