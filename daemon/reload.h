// SPDX-License-Identifier: Apache-2.0
//
// Reads every file that a start needs: at start, by `--check`, and on SIGHUP. On SIGHUP the settings that a running
// daemon can change are applied, all or nothing.
//   ErrorList errors;
//   const StartupFiles files = ReadStartupFiles("/etc/sideband/sidebandd.yaml", errors);
//   if (!errors.empty()) return ReportAndExitCode("sidebandd", errors);
//   ReloadRequests requests([] { Signals::Raise(SIGHUP); });
//   requests.Ask(done);   // any thread
//   for (const auto& answer : requests.Take()) answer(outcome);   // the main thread, after a reload
//   requests.Close();
//   Reloader reloader({config_file, reader, policy, devices, bmcs, counting, history, targets, notice, *metrics},
//                     config);
//   reloader.RecordStart();
//   if (signals.WaitFor(absl::Seconds(1)) == SIGHUP) reloader.Reload();
#ifndef SIDEBAND_DAEMON_RELOAD_H_
#define SIDEBAND_DAEMON_RELOAD_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/authz/policy.h"
#include "daemon/bmc/bmc_set.h"
#include "daemon/config/bmc_config.h"
#include "daemon/config/config.h"
#include "daemon/config/device_config.h"
#include "daemon/counting/counting_book.h"
#include "daemon/device_set.h"
#include "daemon/http/site.h"
#include "daemon/identity/key_set.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/view/admin.h"
#include "daemon/view/reader.h"
#include "proto/base/errors.h"

namespace sideband::daemon {

struct StartupFiles {
  Config config;
  std::shared_ptr<const Policy> policy;
  std::shared_ptr<const KeySet> keys;  // nullptr if tokens are not configured
};

// Reads the configuration and all files that it names: the policy and the token keys, and, only to check that they are
// usable, the TLS files, the CAs of BMCs and the sealing keys. Each error is added to `errors` as "FILE:LINE: what", or
// "FILE: what" without a line. The result is valid only if no error was added. Writes nothing and accesses no device.
StartupFiles ReadStartupFiles(const std::string& config_file, ErrorList& errors);

// The reloads that callers ask for, and wait for. The main thread reloads; one reload answers all requests before it.
//
// Thread-safe. No lock is held while a `done` runs. As many wait as callers may have calls under way.
class ReloadRequests {
 public:
  using Done = std::function<void(const absl::StatusOr<ReloadOutcome>& outcome)>;

  // `wake` makes the main thread Take() soon; it must not block.
  explicit ReloadRequests(std::function<void()> wake) : wake_(std::move(wake)) {}

  // `done` is called once; with UNAVAILABLE after Close.
  void Ask(Done done) ABSL_LOCKS_EXCLUDED(mu_);
  // Returns the open requests; the caller answers each.
  std::vector<Done> Take() ABSL_LOCKS_EXCLUDED(mu_);
  // Answers all open requests, and each later one at once.
  void Close() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const std::function<void()> wake_;
  absl::Mutex mu_;
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<Done> waiting_ ABSL_GUARDED_BY(mu_);
};

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
    BmcSet& bmcs;
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
  // Adds the devices of BMCs that were found since.
  void FollowBmcs();

 private:
  absl::Status Take(StartupFiles files, ReloadOutcome& outcome);
  void CheckNames(const StartupFiles& files, ErrorList& errors) const;
  bool AddsDevices(const Config& wanted) const;
  void Refuse(const ErrorList& errors, ReloadOutcome& outcome) const;
  void RecordPolicy(const absl::Status& status) const;

  const Parts parts_;
  Config in_force_;
};

// The settings of all devices.
DeviceSet::Common CommonOf(const Config& config);

// The configured devices and those of BMCs, of which one with a name that is taken is left out.
std::vector<DeviceConfig> JoinDevices(std::vector<DeviceConfig> configured, const std::vector<DeviceConfig>& of_bmcs);

// A line for each BMC that is added, removed or changed, such as "bmc node3: added, https://192.0.2.10".
std::vector<std::string> BmcChanges(const std::vector<BmcConfig>& in_force, const std::vector<BmcConfig>& wanted);

// Returns the configuration keys of the settings that differ and that a running daemon cannot change.
std::vector<std::string> RestartNeeds(const Config& in_force, const Config& wanted);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RELOAD_H_
