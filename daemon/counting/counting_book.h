// SPDX-License-Identifier: Apache-2.0
//
// The book of what each device is to count, and what it does: the operator's file and the callers' settings on one
// side, the configuration in force on the other. The collector of a device makes the second follow the first, at most
// once an interval, and again after the device or the daemon has restarted.
//   CountingBook book(&settings_files);
//   book.Replace(file);                                             // start and reload
//   book.Observe("gpu0", {topology, boot_id, *ReadConfig(session)});  // the collector
//   if (const auto change = book.Pending("gpu0")) book.Committed("gpu0", *change, Commit(*change));
//   const auto refusals = book.Set("gpu0", settings, /*expected_revision=*/0, /*validate_only=*/false);
#ifndef SIDEBAND_DAEMON_COUNTING_COUNTING_BOOK_H_
#define SIDEBAND_DAEMON_COUNTING_COUNTING_BOOK_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/counting/settings.h"
#include "daemon/counting/settings_file.h"
#include "daemon/mailbox/snapshot_reader.h"
#include "daemon/snapshot/topology.h"
#include "proto/base/uuid.h"
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
  mailbox::CountingConfig desired;  // what the settings make of it, those that are pending too
  bool is_in_sync = false;          // the settings are in force on the device, as far as is known
  bool is_stored = false;           // the callers' settings outlast a restart of the daemon
  // The settings that the device cannot follow; of callers' settings, without those of absent VMs and contexts.
  std::vector<Refusal> refusals;
};

// ABORTED.
absl::Status AnotherRevision(uint32_t in_force, uint32_t expected);

// Thread-safe.
class CountingBook {
 public:
  static constexpr size_t kUnstoredMax = 64;

  // `store` must outlive the book; nullptr: callers' settings last until the book is destroyed.
  explicit CountingBook(SettingsStore* store = nullptr) : store_(store) {}

  // Replaces the operator's file.
  void Replace(DeviceSettings file) ABSL_LOCKS_EXCLUDED(mu_);
  // Adds a caller's settings, unless one of them is refused or `validate_only` is set. NOT_FOUND if nothing is known of
  // the device's counting. ABORTED if `expected_revision` is neither 0 nor the revision in force. The settings are in
  // the store when this returns; if they cannot be stored they hold nevertheless, and State() has it. `basis`: the
  // desired configuration from which the caller's rights follow; ABORTED if it is another one now.
  absl::StatusOr<std::vector<Refusal>> Set(const std::string& device, const CountingSettings& settings,
                                           uint32_t expected_revision, bool validate_only,
                                           const mailbox::CountingConfig* basis = nullptr)
      ABSL_LOCKS_EXCLUDED(store_mu_, mu_);
  // nullopt if nothing is known of the device's counting.
  std::optional<CountingState> State(const std::string& device) const ABSL_LOCKS_EXCLUDED(mu_);

  // --- For the device's collector ---
  // Whether the configuration is to be read, because another revision, boot or catalogue is there than the observed
  // one.
  bool IsNew(const std::string& device, const Topology& topology, uint64_t boot_id, uint32_t revision) const
      ABSL_LOCKS_EXCLUDED(mu_);
  // Takes an observation. For a device whose UUID is new under this name, the callers' settings are loaded first. Logs
  // it if they cannot be loaded: there are none then.
  void Observe(const std::string& device, ObservedCounting actual) ABSL_LOCKS_EXCLUDED(store_mu_, mu_);
  // The configuration in force is another one than the observed one and could not be read. Until it is observed, the
  // settings are out of sync and no change is pending.
  void Outdate(const std::string& device) ABSL_LOCKS_EXCLUDED(mu_);
  // Stores the callers' settings if they could not be stored when they were set. To be called once an interval.
  void StoreAgain(const std::string& device) ABSL_LOCKS_EXCLUDED(store_mu_, mu_);
  // The writes that bring the settings into force; nullopt if they are in force.
  std::optional<ConfigChange> Pending(const std::string& device) const ABSL_LOCKS_EXCLUDED(mu_);
  // The outcome of a change: the revision in force. After ABORTED the configuration is read again, and the change made
  // again; after INVALID_ARGUMENT it is given up until the settings change. After other errors it is tried again.
  void Committed(const std::string& device, const ConfigChange& change, const absl::StatusOr<uint32_t>& revision)
      ABSL_LOCKS_EXCLUDED(mu_);
  // The device is gone, with what was known of it and pending. Callers' settings that could not be stored are kept for
  // the device of this UUID, of at most kUnstoredMax devices.
  void Forget(const std::string& device) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Device {
    std::optional<Uuid> uuid;  // whose settings `calls` are
    CountingSettings calls;
    bool is_unstored = false;  // `calls` differ from the store's
    std::optional<ObservedCounting> actual;
    bool is_outdated = false;  // `actual` is to be read again
    mailbox::CountingConfig desired;
    std::vector<Refusal> refusals;
    // Settled after a commit: what a guest changes by itself later is not undone.
    bool is_pending = false;
  };

  // A copy for the store, without the lock of its caller.
  struct Unstored {
    Uuid uuid;
    CountingSettings calls;
  };

  void Resolve(const std::string& name, Device& device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<std::vector<Refusal>> Add(const std::string& name, const CountingSettings& settings,
                                           uint32_t expected_revision, bool validate_only,
                                           const mailbox::CountingConfig* basis) ABSL_LOCKS_EXCLUDED(mu_);
  CountingSettings Load(const std::string& name, const Uuid& uuid) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(store_mu_);
  bool IsLoaded(const std::string& name, const Uuid& uuid) const ABSL_LOCKS_EXCLUDED(mu_);
  void LoadCalls(const std::string& name, const Uuid& uuid) ABSL_LOCKS_EXCLUDED(store_mu_, mu_);
  std::optional<Unstored> FindUnstored(const std::string& name) const ABSL_LOCKS_EXCLUDED(mu_);
  void KeepUnstored(Device& device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Store(const std::string& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(store_mu_) ABSL_LOCKS_EXCLUDED(mu_);

  SettingsStore* const store_;
  // Held while the store reads or writes, so that its content is that of the last change. Collectors wait for it only
  // when a device is new.
  absl::Mutex store_mu_ ABSL_ACQUIRED_BEFORE(mu_);
  // The error of the last attempt to store, by device: only a change is logged.
  std::map<std::string, std::string> store_errors_ ABSL_GUARDED_BY(store_mu_);

  mutable absl::Mutex mu_;
  DeviceSettings file_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, Device> devices_ ABSL_GUARDED_BY(mu_);
  // Callers' settings that are not in the store, of devices that are gone or have lost their name to another.
  std::map<Uuid, CountingSettings> unstored_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COUNTING_COUNTING_BOOK_H_
