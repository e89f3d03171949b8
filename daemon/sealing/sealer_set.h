// SPDX-License-Identifier: Apache-2.0
//
// The sealers of all VMs that have a key, on whatever device they turn up.
//   SIDEBAND_ASSIGN_OR_RETURN(auto sealers, SealerSet::Load({{vm, "/etc/sideband/vm0.key"}}, epochs));
//   const absl::StatusOr<Bytes> record = sealers->Seal(device, vm, {.boot_id = …, .content = bytes});
//   if (absl::IsNotFound(record.status())) …   // no key: the VM's counts are withheld
#ifndef SIDEBAND_DAEMON_SEALING_SEALER_SET_H_
#define SIDEBAND_DAEMON_SEALING_SEALER_SET_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/sealing/epoch_source.h"
#include "daemon/sealing/vm_sealer.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"
#include "proto/envelope/secret.h"

namespace sideband::daemon {

// Bounds what a device that keeps changing its UUID can make the daemon hold.
inline constexpr size_t kDevicesPerVmMax = 64;

struct VmKeyFile {
  Uuid vm;
  std::string path;
};

// Thread-safe; VMs seal in parallel. The epoch source must outlive it. A set loaded anew (on reload) with the same
// epoch source begins new epochs throughout.
class SealerSet {
 public:
  // All or nothing. The error of the first file that is no key starts with its path; a VM given twice is
  // INVALID_ARGUMENT.
  static absl::StatusOr<std::unique_ptr<SealerSet>> Load(const std::vector<VmKeyFile>& files, EpochSource& epochs);

  bool HasKey(const Uuid& vm) const { return keys_.contains(vm); }

  // NOT_FOUND for a VM without a key, RESOURCE_EXHAUSTED beyond kDevicesPerVmMax devices of one VM, else as VmSealer.
  absl::StatusOr<Bytes> Seal(const Uuid& device, const Uuid& vm, const SealInput& input) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  using Keys = absl::flat_hash_map<Uuid, envelope::Secret>;
  using DeviceSealers = absl::flat_hash_map<Uuid, std::unique_ptr<VmSealer>>;

  SealerSet(Keys keys, EpochSource& epochs) : keys_(std::move(keys)), epochs_(epochs) {}

  // The pointer lives as long as the set.
  absl::StatusOr<VmSealer*> SealerOf(const Uuid& device, const Uuid& vm) ABSL_LOCKS_EXCLUDED(mu_);

  // Constant after construction.
  const Keys keys_;
  EpochSource& epochs_;

  absl::Mutex mu_;
  absl::flat_hash_map<Uuid, DeviceSealers> sealers_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SEALING_SEALER_SET_H_
