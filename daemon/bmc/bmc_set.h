// SPDX-License-Identifier: Apache-2.0
//
// The BMCs of the configuration: reads each by its own connection, on one thread for all, and publishes their GPUs as
// devices.
//   BmcSet bmcs({store, boards, metrics, clock, state_folder});
//   bmcs.Configure(config.bmcs);
//   Apply(bmcs.Devices());                        // what is known so far
//   bmcs.Start();
//   if (bmcs.TakeNews()) Apply(bmcs.Devices());   // GPUs were found
//
//   SIDEBAND_ASSIGN_OR_RETURN(const std::string report, ProbeBmc(config.bmcs[0], clock));
#ifndef SIDEBAND_DAEMON_BMC_BMC_SET_H_
#define SIDEBAND_DAEMON_BMC_BMC_SET_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/base/clock.h"
#include "daemon/board/board_store.h"
#include "daemon/config/bmc_config.h"
#include "daemon/config/device_config.h"
#include "daemon/metrics/area_metrics.h"
#include "daemon/snapshot/store.h"

namespace sideband::daemon {

// The functions are called by one thread, and do not wait, unless they say so.
class BmcSet {
 public:
  // All must outlive the set.
  struct Parts {
    Store& store;
    BoardStore& boards;
    BmcMetrics& metrics;
    const Clock& clock;
    std::string state_folder;  // where the times of logins are kept; empty: nowhere
  };
  explicit BmcSet(Parts parts);
  // Calls Stop().
  ~BmcSet();

  // Adds, changes and removes BMCs. One that is as before goes on, without a pause that it has.
  void Configure(const std::vector<BmcConfig>& bmcs);
  // The devices of all BMCs: those that the configuration lists, and those that were found.
  std::vector<DeviceConfig> Devices() const;
  // Whether Devices() has changed since the last call.
  bool TakeNews();

  void Start();
  // Logs out of all BMCs, and waits for that up to two seconds.
  void Stop();
  // Runs `task` on the thread; without BMCs, there is none, at once.
  void Post(std::function<void()> task);

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

// Asks a BMC once for all that a daemon asks for, at once, and logs out. Returns what the daemon would serve, in lines
// that each begin with the BMC's name. An error is the first of the BMC, or says that it took longer than two minutes.
absl::StatusOr<std::string> ProbeBmc(const BmcConfig& config, const Clock& clock);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BMC_BMC_SET_H_
