// SPDX-License-Identifier: Apache-2.0
//
// Decides which VMs of a device are confidential, independently of what the device currently reports
// (docs/decisions/0015).
//   Confidentiality confidentiality([&](const Uuid& vm) { return sealers.HasKey(vm) ? "it has a sealing key" : ""; });
//   const Confidentiality::Verdict verdict = confidentiality.Judge(taken.topology, taken.raw.boot_id);
//   Publish(*verdict.topology);   // required confidentiality is set in it
#ifndef SIDEBAND_DAEMON_COLLECTOR_CONFIDENTIALITY_H_
#define SIDEBAND_DAEMON_COLLECTOR_CONFIDENTIALITY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "daemon/authz/policy_holder.h"
#include "daemon/sealing/exchange_book.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/snapshot/topology.h"
#include "proto/base/uuid.h"

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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_CONFIDENTIALITY_H_
