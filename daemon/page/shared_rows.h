// SPDX-License-Identifier: Apache-2.0
//
// The rows that a view shows, as JSON, made once per snapshot for all who ask for them.
//   SharedRows rows;
//   const std::shared_ptr<const std::string> json = rows.JsonOf(caller, reader.Devices(caller));
#ifndef SIDEBAND_DAEMON_PAGE_SHARED_ROWS_H_
#define SIDEBAND_DAEMON_PAGE_SHARED_ROWS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/view/reader.h"
#include "daemon/view/view_groups.h"

namespace sideband::daemon {

// Thread-safe.
class SharedRows {
 public:
  // The members "scopes", the confidential VMs, and "snapshots", without ages, of an object: messages of the API.
  // `devices` are the caller's.
  std::shared_ptr<const std::string> JsonOf(const Caller& caller, const std::vector<VisibleDevice>& devices);

 private:
  // What the rows of a device follow from. Held, so that an equal address means equal content.
  struct Shown {
    std::shared_ptr<const DeviceInfo> info;
    std::shared_ptr<const DeviceSnapshot> snapshot;
    std::shared_ptr<const View> view;
    VisibleDevice::State state = VisibleDevice::State::kAway;
    bool operator==(const Shown&) const = default;
  };
  struct Group {
    explicit Group(const Caller&) {}

    absl::Mutex mu;  // held while the rows are made, so that they are made once
    std::vector<Shown> shown ABSL_GUARDED_BY(mu);
    std::shared_ptr<const std::string> json ABSL_GUARDED_BY(mu);
  };

  ViewGroups<Group> groups_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_PAGE_SHARED_ROWS_H_
