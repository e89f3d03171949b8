// SPDX-License-Identifier: Apache-2.0
//
// At start nobody knows yet which VMs there are. This looks once, as soon as every device has been heard of.
//   AbsentVmNotice notice(reader, [](const std::string& line) { spdlog::warn(line); });
#ifndef SIDEBAND_DAEMON_API_ABSENT_VM_NOTICE_H_
#define SIDEBAND_DAEMON_API_ABSENT_VM_NOTICE_H_

#include <atomic>
#include <functional>
#include <string>

#include "daemon/api/reader.h"

namespace sideband::daemon {

// Thread-safe; `reader` must outlive it.
class AbsentVmNotice final : public PublicationListener {
 public:
  // `tell` is given "FILE:LINE: VM … is on no device" for each VM of the policy then in force that is not there, on a
  // collector's thread: it must return at once.
  AbsentVmNotice(Reader& reader, std::function<void(const std::string&)> tell);
  ~AbsentVmNotice() override;

  void OnPublish(size_t device, const std::shared_ptr<const DeviceSnapshot>& snapshot) override;

 private:
  Reader& reader_;
  const std::function<void(const std::string&)> tell_;
  std::atomic<bool> told_ = false;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_API_ABSENT_VM_NOTICE_H_
