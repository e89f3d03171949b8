// SPDX-License-Identifier: Apache-2.0
//
// Leads bookmarks to the collectors of their devices, which come and go with reloads.
//   MarkRouter router;
//   router.Add(device, marks);
//   const absl::Status asked = router.Ask(device, order, done);
//   router.Remove(device);
#ifndef SIDEBAND_DAEMON_COLLECTOR_MARK_ROUTER_H_
#define SIDEBAND_DAEMON_COLLECTOR_MARK_ROUTER_H_

#include <cstddef>

#include "absl/status/status.h"
#include "daemon/collector/device_directory.h"
#include "daemon/collector/device_marks.h"
#include "daemon/marks/mark.h"

namespace sideband::daemon {

// Thread-safe.
class MarkRouter final : public BookmarkSink {
 public:
  // `marks` is used until Remove returns, and must be closed before.
  void Add(size_t device, DeviceMarks& marks) { devices_.Add(device, marks); }
  void Remove(size_t device) { devices_.Remove(device); }

  absl::Status Ask(size_t device, const BookmarkOrder& order, Done done) override;

 private:
  DeviceDirectory<DeviceMarks> devices_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_MARK_ROUTER_H_
