// SPDX-License-Identifier: Apache-2.0
//
// What each device is to count, and what it does: the operator's file and the callers' settings on one side, the
// configuration in force on the other. The collector of a device makes the second follow the first, at most once an
// interval, and again after the device has restarted.
//   book.Replace(file);                                             // start and reload
//   book.Observe("gpu0", {topology, boot_id, *session.ReadConfig()});  // the collector
//   if (const auto change = book.Pending("gpu0")) book.Committed("gpu0", *change, Commit(*change));
//   const auto refusals = book.Set("gpu0", settings, /*expected_revision=*/0, /*validate_only=*/false);
#ifndef SIDEBAND_DAEMON_COUNTING_COUNTING_BOOK_H_
#define SIDEBAND_DAEMON_COUNTING_COUNTING_BOOK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/counting/counting_file.h"
#include "daemon/counting/settings.h"
#include "daemon/mailbox/snapshot_reader.h"
#include "daemon/snapshot/topology.h"
#include "proto/mailbox/counting.h"

namespace sideband::daemon {

// A device's configuration, as of its last observation or commit.
struct ObservedCounting {
  std::shared_ptr<const Topology> topology;  // shared with the snapshots that it describes
  uint64_t boot_id = 0;
  mailbox::CountingConfig config;
};

struct CountingState {
  ObservedCounting actual;
  bool is_in_sync = false;        // the device counts what it is to count
  std::vector<Refusal> refusals;  // of settings that the device cannot follow
};

// Thread-safe.
class CountingBook {
 public:
  // Replaces the operator's file.
  void Replace(DeviceSettings file) ABSL_LOCKS_EXCLUDED(mu_);
  // Adds a caller's settings, unless one of them is refused or `validate_only` is set. NOT_FOUND if nothing is known of
  // the device's counting. ABORTED if `expected_revision` is neither 0 nor the revision in force.
  absl::StatusOr<std::vector<Refusal>> Set(const std::string& device, const CountingSettings& settings,
                                           uint32_t expected_revision, bool validate_only) ABSL_LOCKS_EXCLUDED(mu_);
  // nullopt if nothing is known of the device's counting.
  std::optional<CountingState> State(const std::string& device) const ABSL_LOCKS_EXCLUDED(mu_);

  // --- For the device's collector ---
  // Whether the configuration is to be read, because another revision, boot or catalogue is there than the observed
  // one.
  bool IsNew(const std::string& device, const Topology& topology, uint64_t boot_id, uint32_t revision) const
      ABSL_LOCKS_EXCLUDED(mu_);
  void Observe(const std::string& device, ObservedCounting actual) ABSL_LOCKS_EXCLUDED(mu_);
  // What the device is to be told; nullopt if it counts what it is to count.
  std::optional<ConfigChange> Pending(const std::string& device) const ABSL_LOCKS_EXCLUDED(mu_);
  // The outcome of a change: the revision in force. After ABORTED the configuration is read again, and the change made
  // anew; after INVALID_ARGUMENT it is given up until the settings change. After other errors it is tried again.
  void Committed(const std::string& device, const ConfigChange& change, const absl::StatusOr<uint32_t>& revision)
      ABSL_LOCKS_EXCLUDED(mu_);
  // The device is gone.
  void Forget(const std::string& device) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Device {
    CountingSettings calls;
    std::optional<ObservedCounting> actual;
    bool is_outdated = false;  // `actual` is to be read again
    mailbox::CountingConfig desired;
    std::vector<Refusal> refusals;
    // Settled after a commit: what a guest changes by itself later is not undone.
    bool is_pending = false;
  };

  void Resolve(const std::string& name, Device& device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  mutable absl::Mutex mu_;
  DeviceSettings file_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, Device> devices_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COUNTING_COUNTING_BOOK_H_
