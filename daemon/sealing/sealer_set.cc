// SPDX-License-Identifier: Apache-2.0
#include "daemon/sealing/sealer_set.h"

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/keys.h"

namespace sideband::daemon {

absl::StatusOr<std::unique_ptr<SealerSet>> SealerSet::Load(const std::vector<VmKeyFile>& files, EpochSource& epochs) {
  Keys keys;
  for (const VmKeyFile& file : files) {
    SIDEBAND_ASSIGN_OR_RETURN(envelope::Secret key, envelope::LoadStaticKey(file.path));
    if (!keys.try_emplace(file.vm, std::move(key)).second) {
      return absl::InvalidArgumentError(absl::StrCat(file.path, ": VM ", file.vm.ToString(), " already has a key"));
    }
  }
  return absl::WrapUnique(new SealerSet(std::move(keys), epochs));
}

absl::StatusOr<VmSealer*> SealerSet::SealerOf(const Uuid& device, const Uuid& vm) {
  const auto key = keys_.find(vm);
  if (key == keys_.end()) return absl::NotFoundError(absl::StrCat("no key for VM ", vm.ToString()));
  absl::MutexLock lock(&mu_);
  DeviceSealers& sealers = sealers_[vm];
  if (const auto found = sealers.find(device); found != sealers.end()) return found->second.get();
  if (sealers.size() >= kDevicesPerVmMax) {
    return absl::ResourceExhaustedError(
        absl::StrCat("VM ", vm.ToString(), " was seen on more than ", kDevicesPerVmMax, " devices"));
  }
  SIDEBAND_ASSIGN_OR_RETURN(std::unique_ptr<VmSealer> sealer,
                            VmSealer::Create(key->second.Clone(), device, vm, epochs_));
  return sealers.try_emplace(device, std::move(sealer)).first->second.get();
}

absl::StatusOr<Bytes> SealerSet::Seal(const Uuid& device, const Uuid& vm, const SealInput& input) {
  SIDEBAND_ASSIGN_OR_RETURN(VmSealer* const sealer, SealerOf(device, vm));
  return sealer->Seal(input);
}

}  // namespace sideband::daemon
