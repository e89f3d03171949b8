// SPDX-License-Identifier: Apache-2.0
//
// Reports VMs and events that files name but no device has. The devices' VMs and events are unknown at start, so the
// check runs once, as soon as every device is fresh.
//   AbsentNameNotice notice(reader, {vms_with_keys, events_of_ratios}, warn, fail);
//   notice.LookAgain({vms_with_keys, events_of_ratios});   // after devices have been added
#ifndef SIDEBAND_DAEMON_VIEW_ABSENT_NAME_NOTICE_H_
#define SIDEBAND_DAEMON_VIEW_ABSENT_NAME_NOTICE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/authz/absent_names.h"
#include "daemon/view/reader.h"

namespace sideband::daemon {

// Thread-safe; `reader` must outlive it.
class AbsentNameNotice final : public UpdateListener {
 public:
  // Names outside of the policy.
  struct Names {
    std::vector<NamedVm> vms;
    std::vector<PlacedEvent> events;
  };
  using Report = std::function<void(const std::string& line)>;

  // Calls `warn` with "FILE:LINE: VM … is on no device" or the like for each name of the policy then in force that no
  // device has, then for each such VM of `names`. Calls `fail` for each such event of `names`. Both are called on the
  // thread of an update (UpdateListener) and must return at once.
  AbsentNameNotice(Reader& reader, Names names, Report warn, Report fail);
  ~AbsentNameNotice() override;

  // Checks again, with these names, as soon as all current devices are fresh.
  void LookAgain(Names names) ABSL_LOCKS_EXCLUDED(mu_);

  void OnUpdate() override ABSL_LOCKS_EXCLUDED(mu_);

 private:
  Reader& reader_;
  const Report warn_;
  const Report fail_;
  absl::Mutex mu_;
  std::optional<Names> names_ ABSL_GUARDED_BY(mu_);  // nullopt: already checked
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_ABSENT_NAME_NOTICE_H_
