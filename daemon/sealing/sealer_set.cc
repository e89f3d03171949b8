// SPDX-License-Identifier: Apache-2.0
#include "daemon/sealing/sealer_set.h"

#include <openssl/rand.h>

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/keys.h"
#include "proto/envelope/record.h"

namespace sideband::daemon {

absl::StatusOr<uint16_t> SystemRandom16() {
  unsigned char bytes[2];
  if (RAND_bytes(bytes, sizeof(bytes)) != 1) return absl::InternalError("the system returned no random bytes");
  return static_cast<uint16_t>(bytes[0] | bytes[1] << 8);
}

absl::StatusOr<uint64_t> EpochSource::Next() {
  const int64_t milliseconds = absl::ToUnixMillis(clock_.Now());
  if (milliseconds < 0)
    return absl::FailedPreconditionError("the host's clock is before 1970: no key epoch can be made");
  SIDEBAND_ASSIGN_OR_RETURN(const uint16_t random, random_());
  // The time fits in the upper 48 bits until the year 10889.
  const uint64_t drawn = static_cast<uint64_t>(milliseconds) << 16 | random;
  absl::MutexLock lock(&mu_);
  // The clock may stand still or go back between two calls.
  last_ = std::max(drawn, last_ + 1);
  return last_;
}

VmSealer::VmSealer(envelope::Secret static_key, const Uuid& device, const Uuid& vm, EpochSource& epochs,
                   const Options& options)
    : static_key_(std::move(static_key)), device_(device), vm_(vm), options_(options), epochs_(epochs) {}

absl::StatusOr<std::unique_ptr<VmSealer>> VmSealer::Create(envelope::Secret static_key, const Uuid& device,
                                                           const Uuid& vm, EpochSource& epochs,
                                                           const Options& options) {
  if (static_key.size() != envelope::kStaticKeyBytes) return absl::InvalidArgumentError("a static key has 32 bytes");
  return absl::WrapUnique(new VmSealer(std::move(static_key), device, vm, epochs, options));
}

absl::Status VmSealer::EnsureKeys(const SealInput& input) {
  if (keys_.has_value() && keys_->scope().boot_id == input.boot_id && keys_->scope().generation == input.generation) {
    return absl::OkStatus();
  }
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t epoch, epochs_.Next());
  SIDEBAND_ASSIGN_OR_RETURN(envelope::SessionKeys keys,
                            envelope::SessionKeys::Derive(static_key_, {.epoch = epoch,
                                                                        .boot_id = input.boot_id,
                                                                        .device = device_,
                                                                        .vm = vm_,
                                                                        .generation = input.generation,
                                                                        .guest_nonce = options_.guest_nonce}));
  keys_ = std::move(keys);
  // Nonces are counted per key, and this key is new: its epoch was never used before.
  next_sequence_ = 0;
  return absl::OkStatus();
}

absl::Status VmSealer::GrowTo(size_t content_bytes) {
  SIDEBAND_ASSIGN_OR_RETURN(const uint32_t needed, envelope::PaddedLengthFor(content_bytes));
  padded_length_ = std::max(padded_length_, needed);
  return absl::OkStatus();
}

absl::StatusOr<Bytes> VmSealer::Seal(const SealInput& input) {
  absl::MutexLock lock(&mu_);
  // Checked before the keys: content that is too large costs neither an epoch nor a sequence.
  SIDEBAND_RETURN_IF_ERROR(GrowTo(std::max(input.content.size(), input.content_bytes_max)));
  SIDEBAND_RETURN_IF_ERROR(EnsureKeys(input));
  if (next_sequence_ >= options_.records_per_epoch_max) {
    return absl::ResourceExhaustedError(absl::StrCat("VM ", vm_.ToString(), ": the key's budget of ",
                                                     options_.records_per_epoch_max, " records is spent"));
  }
  const envelope::RecordHeader header{.device = device_,
                                      .boot_id = input.boot_id,
                                      .vm = vm_,
                                      .generation = input.generation,
                                      .padded_length = padded_length_,
                                      .epoch = keys_->scope().epoch,
                                      // Incremented before use: a failure skips a sequence but never repeats one.
                                      .sequence = next_sequence_++,
                                      .reference_time_ns = input.reference_time_ns,
                                      .guest_nonce = options_.guest_nonce};
  return envelope::SealRecord(*keys_, header, input.content);
}

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
