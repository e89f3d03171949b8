// SPDX-License-Identifier: Apache-2.0
//
// Reloads all files on SIGHUP and applies the settings that a running daemon can change, all or nothing.
//   Reloader reloader({config_file, reader, policy, devices, counting, history, targets, notice, *metrics}, config);
//   reloader.RecordStart();
//   if (signals.WaitFor(absl::Seconds(1)) == SIGHUP) reloader.Reload();
#ifndef SIDEBAND_DAEMON_RUN_RELOAD_H_
#define SIDEBAND_DAEMON_RUN_RELOAD_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemon/authz/policy_holder.h"
#include "daemon/config/config.h"
#include "daemon/counting/counting_book.h"
#include "daemon/http/target_list.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/run/device_set.h"
#include "daemon/run/kept_history.h"
#include "daemon/run/startup_files.h"
#include "daemon/view/absent_name_notice.h"
#include "daemon/view/admin.h"
#include "daemon/view/reader.h"
#include "proto/base/errors.h"

namespace sideband::daemon {

// The configured names whose existence can be checked only against the devices.
AbsentNameNotice::Names NamesToLookFor(const Config& config);

// Used by one thread. The members of `parts` must outlive this object.
class Reloader {
 public:
  struct Parts {
    std::string config_file;
    Reader& reader;
    PolicyHolder& policy;
    DeviceSet& devices;
    CountingBook& counting;
    KeptHistory& history;
    TargetList& targets;
    AbsentNameNotice& notice;
    SelfMetrics& metrics;
  };

  // `in_force` is the configuration with which the daemon was started.
  Reloader(Parts parts, Config in_force) : parts_(std::move(parts)), in_force_(std::move(in_force)) {}

  // Audits the policy that is in force at start.
  void RecordStart() const;
  // Applies the policy, token keys, devices, what they count, intervals, ratios, history, targets and log level of the
  // current files. Nothing is applied if a file has an error, or if it names a VM or event that no device has and that
  // was not named before. Each error is logged, and so is each changed setting that requires a restart. The outcome is
  // audited and exported as a metric.
  ReloadOutcome Reload();

 private:
  absl::Status Take(StartupFiles files, ReloadOutcome& outcome);
  void CheckNames(const StartupFiles& files, ErrorList& errors) const;
  bool AddsDevices(const Config& wanted) const;
  void Refuse(const ErrorList& errors, ReloadOutcome& outcome) const;
  void RecordPolicy(const absl::Status& status) const;

  const Parts parts_;
  Config in_force_;
};

// Returns the configuration keys of the settings that differ and that a running daemon cannot change.
std::vector<std::string> RestartNeeds(const Config& in_force, const Config& wanted);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_RELOAD_H_
