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

absl::StatusOr<std::shared_ptr<VmSealer>> SealerSet::NewSealer(const Uuid& device, const Uuid& vm,
                                                               const VmSealer::Options& options) const {
  const auto key = keys_.find(vm);
  if (key == keys_.end()) return absl::NotFoundError(absl::StrCat("no key for VM ", vm.ToString()));
  return VmSealer::Create(key->second.Clone(), device, vm, epochs_, options);
}

absl::StatusOr<std::unique_ptr<SealerSet::NonceStream>> SealerSet::OpenStream(const Uuid& device, const Uuid& vm,
                                                                              const envelope::GuestNonce& nonce) {
  // Without the lock: the keys are constant after construction.
  SIDEBAND_ASSIGN_OR_RETURN(std::shared_ptr<VmSealer> sealer, NewSealer(device, vm, {.guest_nonce = nonce}));
  absl::MutexLock lock(&mu_);
  const auto streams = nonce_streams_.find({vm, device});
  if (streams != nonce_streams_.end() && streams->second.size() >= kNonceStreamsPerVmMax) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the VM has ", kNonceStreamsPerVmMax, " streams with a nonce already"));
  }
  const uint64_t id = ++newest_stream_;
  nonce_streams_[{vm, device}].emplace(id, std::move(sealer));
  return absl::WrapUnique(new NonceStream(*this, device, vm, id));
}

void SealerSet::Close(const NonceStream& stream) {
  absl::MutexLock lock(&mu_);
  const auto streams = nonce_streams_.find({stream.vm_, stream.device_});
  streams->second.erase(stream.id_);
  if (streams->second.empty()) nonce_streams_.erase(streams);
}

absl::StatusOr<std::shared_ptr<VmSealer>> SealerSet::SharedSealer(const Uuid& device, const Uuid& vm) {
  DeviceSealers& sealers = shared_[vm];
  if (const auto found = sealers.find(device); found != sealers.end()) return found->second;
  if (sealers.size() >= kDevicesPerVmMax) {
    return absl::ResourceExhaustedError(
        absl::StrCat("VM ", vm.ToString(), " was seen on more than ", kDevicesPerVmMax, " devices"));
  }
  SIDEBAND_ASSIGN_OR_RETURN(std::shared_ptr<VmSealer> sealer, NewSealer(device, vm, {}));
  return sealers.emplace(device, std::move(sealer)).first->second;
}

absl::StatusOr<SealerSet::Streams> SealerSet::StreamsOf(const Uuid& device, const Uuid& vm) {
  if (!HasKey(vm)) return absl::NotFoundError(absl::StrCat("no key for VM ", vm.ToString()));
  absl::MutexLock lock(&mu_);
  SIDEBAND_ASSIGN_OR_RETURN(std::shared_ptr<VmSealer> shared, SharedSealer(device, vm));
  const auto own = nonce_streams_.find({vm, device});
  // A copy: sealing runs without the lock, in parallel for different VMs.
  Streams streams = own == nonce_streams_.end() ? Streams() : own->second;
  streams.emplace(kSharedStream, std::move(shared));
  return streams;
}

absl::StatusOr<std::vector<StreamRecord>> SealerSet::Seal(const Uuid& device, const Uuid& vm, const SealInput& input) {
  SIDEBAND_ASSIGN_OR_RETURN(const Streams streams, StreamsOf(device, vm));
  std::vector<StreamRecord> records;
  for (const auto& [stream, sealer] : streams) {
    absl::StatusOr<Bytes> record = sealer->Seal(input);
    if (record.ok()) {
      records.push_back({stream, *std::move(record)});
    } else if (stream == kSharedStream) {
      // A failure of one opener's stream must not affect the other openers.
      return record.status();
    }
  }
  return records;
}

}  // namespace sideband::daemon
