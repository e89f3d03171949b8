// SPDX-License-Identifier: Apache-2.0
//
// Decides which VMs of a device are confidential, independently of what the device currently reports
// (docs/decisions/0015), and removes from its snapshot everything that must not be published in plaintext (security.md,
// "Sealed records" and "Arithmetic on what is public"; docs/decisions/0003 and 0024).
//   Confidentiality confidentiality([&](const Uuid& vm) { return sealers.HasKey(vm) ? "it has a sealing key" : ""; });
//   const Confidentiality::Verdict verdict = confidentiality.Judge(taken.topology, taken.raw.boot_id);
//   // Required confidentiality is set in the verdict's topology.
//   Redacted redacted = Redact(*verdict.topology, std::move(taken.raw), before.get(), {seconds, is_first_of_boot});
#ifndef SIDEBAND_DAEMON_COLLECTOR_CONFIDENTIALITY_H_
#define SIDEBAND_DAEMON_COLLECTOR_CONFIDENTIALITY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "daemon/authz/policy.h"
#include "daemon/sealing/exchange_book.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/snapshot/coverage.h"
#include "daemon/snapshot/device_info.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/topology.h"
#include "proto/base/uuid.h"
#include "proto/mailbox/rotation.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// State for one device. Thread-safe.
//
// A VM is confidential if the device reports it so, if the daemon's configuration requires it (Requirement), or if it
// was confidential earlier in this boot of the device. A VM is recognised by its UUID and by its (id, generation) pair,
// so a device cannot clear the state by reporting another UUID. Only a new boot id clears it.
//
// So does only a new boot id clear the state that the device's own block has counts of a confidential VM: that one was
// not private, as the device reports it, or as it reported the same generation of it in the topology before.
class Confidentiality {
 public:
  // If one boot has this many confidential VMs, every VM of the device is treated as confidential. A device that keeps
  // inventing confidential VMs therefore cannot displace remembered ones.
  static constexpr size_t kRememberedMax = size_t{1} << 16;
  // Returns the reason why a VM must be confidential, for the log, or an empty view if there is no requirement. The
  // view must have static lifetime.
  using Requirement = std::function<absl::string_view(const Uuid& vm)>;

  explicit Confidentiality(Requirement requirement, size_t remembered_max = kRememberedMax)
      : requirement_(std::move(requirement)), remembered_max_(remembered_max) {}

  // A VM that the device reports as open and that stays confidential.
  struct Refusal {
    Uuid vm;
    absl::string_view reason;
  };
  struct Verdict {
    // The device's own topology if it needs no correction. Otherwise a copy with the corrected confidentiality; the
    // same copy is returned as long as neither the topology nor the set of corrected VMs changes.
    std::shared_ptr<const Topology> topology;
    size_t refused = 0;              // number of VMs
    std::vector<Refusal> to_report;  // the subset refused for the first time in this boot
  };
  // Corrects `said`, the topology as reported by the device. The result has has_had_confidential_vm() and
  // device_block_has_confidential_counts() set if they are to be as of this boot. Calls the requirement while the lock
  // is held.
  Verdict Judge(const std::shared_ptr<const Topology>& said, uint64_t boot_id) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  using Instance = std::pair<uint16_t, uint32_t>;  // VM id, generation

  void ForgetUnlessSameBoot(uint64_t boot_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Remember(const mailbox::VmInfo& vm) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns an empty view if a VM that the device reports as open may stay open.
  absl::string_view WhyConfidential(const mailbox::VmInfo& vm) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether the device may have counted the VM in its own block while it was of this generation.
  bool WasCountedForDevice(const mailbox::VmInfo& vm) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns `said` with the VMs at these indices marked confidential, and with what is known of the past.
  std::shared_ptr<const Topology> Corrected(const std::shared_ptr<const Topology>& said, std::vector<size_t> vms)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Requirement requirement_;
  const size_t remembered_max_;
  absl::Mutex mu_;
  uint64_t boot_id_ ABSL_GUARDED_BY(mu_) = 0;
  // Confidential VMs of the current boot, and the VMs whose refusal was already reported.
  absl::flat_hash_set<Uuid> vms_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_set<Instance> instances_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_set<Uuid> reported_ ABSL_GUARDED_BY(mu_);
  // Whether counts of a confidential VM are in the device's own block.
  bool is_device_block_mixed_ ABSL_GUARDED_BY(mu_) = false;
  std::shared_ptr<const Topology> before_ ABSL_GUARDED_BY(mu_);  // the last input of this boot; shared likewise
  // Cache of Corrected(): the last input and the last result.
  std::shared_ptr<const Topology> said_ ABSL_GUARDED_BY(mu_);       // shared with the snapshot reader
  std::shared_ptr<const Topology> corrected_ ABSL_GUARDED_BY(mu_);  // shared with published snapshots
  std::vector<size_t> corrected_vms_ ABSL_GUARDED_BY(mu_);
};

// The Confidentiality state of every device, by device UUID, for the lifetime of the daemon. A reload that restarts a
// device on another bus or under another name keeps its state (docs/decisions/0015).
//
// Thread-safe. `sealers`, `exchanges` and `policy` must outlive this object and the objects that it returns.
class ConfidentialityBook {
 public:
  // More devices than one host has. For devices beyond this number (for example one device that keeps changing its
  // UUID) every VM is confidential.
  static constexpr size_t kDevicesMax = 1024;

  // `exchanges` may be nullptr.
  ConfidentialityBook(const SealerSet& sealers, const ExchangeBook* exchanges, const PolicyHolder& policy,
                      size_t devices_max = kDevicesMax);

  // Returns the same object for the same UUID, up to devices_max UUIDs. Shared with the collectors that read the
  // device.
  std::shared_ptr<Confidentiality> Of(const Uuid& device) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const Confidentiality::Requirement requirement_;
  const size_t devices_max_;
  absl::Mutex mu_;
  absl::flat_hash_map<Uuid, std::shared_ptr<Confidentiality>> devices_ ABSL_GUARDED_BY(mu_);
};

struct Redacted {
  mailbox::Snapshot shown;
  // Device-scope events must not be shown, since they cannot be attributed to VMs. The device's row excludes
  // confidential VMs and carries kFlagConfidentialExcluded.
  bool device_scope_withheld = false;
  // The device's row must not be shown at all.
  bool device_row_withheld = false;
  // The device's row is made of the shown VMs, since the device's own block has counts of confidential ones.
  bool device_row_is_sum = false;
  // The device's row counts from zero since this snapshot.
  bool device_row_is_new = false;
  // See DeviceSnapshot.
  std::vector<double> device_row_squares;
};

// How a device's row starts that has no published value to continue from.
struct RowStart {
  // Must differ from the generation that an earlier run of the daemon used.
  uint32_t generation;
  // Whether no earlier run of the daemon can have published a row of this boot.
  bool is_first_of_boot;
};

// Returns the publishable part of `raw`, which must have passed CheckAgainst (daemon/mailbox).
//
// Without a confidential VM since the device's boot, `raw` is returned unchanged. Otherwise the blocks of confidential
// VMs are removed and the raw counters wiped; counts of device-scope events stay as they were in `before`, the last
// published snapshot (nullptr: none since the daemon's start).
//
// Where all confidential VMs have been private, the device's own block is its row: it has none of their counts.
//
// Otherwise the row continues from its value in `before`, plus the increments of the shown VMs and of the slices'
// hosts, and does so until the device restarts. It therefore never decreases, and no difference of two published rows
// is a confidential count, but for the time of residence (docs/security.md). All other fields of its header are derived
// from the shown blocks, too. Without a value in `before`, the row starts with the sum of the shown parts if it is the
// first of the boot. Otherwise it starts with zero: an earlier run may have published more than that sum, since VMs may
// have ended, and a scraper would take the lower value for a restart and count everything twice.
//
// All this is the rule kExclude. By kWithhold, the row made so is kept for the time after, and not shown. By kAllow,
// the device's own block is the row, with device-scope events; it has kFlagConfidentialExcluded only where all
// confidential VMs have been private.
Redacted Redact(const Topology& topology, mailbox::Snapshot&& raw, const DeviceSnapshot* before, const RowStart& start,
                Complement rule = Complement::kExclude);

// The numbers of rotation of a device's row that the daemon makes of other rows (docs/decisions/0003).
//
// Adds what rows have gained since an earlier snapshot: no number of the sum ever falls but the deviation, and a row
// that is gone stays in it. Errors of rows are independent, so their squares add. An unknown bound or error makes that
// of the sum unknown, for good; an error that is unknown only for want of turns counts as half of what the bounds
// leave. Of a plan that the catalogue has no longer, only the enabled cycles stay, as on the device.
class RotationSum {
 public:
  // Goes on from a sum: its numbers, and its squares of errors by place. Both may be empty.
  RotationSum(const Rotation& rotation, const mailbox::BlockRotation& before, std::vector<double> squares);

  struct Row {
    const mailbox::BlockRotation& numbers;
    std::span<const uint64_t> counters;
  };
  // One row, then and now. `base` has no numbers for a row that was not there.
  void Add(const Row& base, const Row& now);

  const mailbox::BlockRotation& numbers() const { return numbers_; }
  const std::vector<double>& squares() const { return squares_; }

 private:
  void AddTimes(mailbox::BlockRotation base, const mailbox::BlockRotation& now);
  void AddEvent(size_t event, const Row& base, const Row& now);

  const Rotation& rotation_;
  mailbox::BlockRotation numbers_;
  std::vector<double> squares_;  // NaN: unknown
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_CONFIDENTIALITY_H_
