// SPDX-License-Identifier: Apache-2.0
//
// The sealers of all VMs with a key, on all devices: per VM and device one shared sealer for all carriers of records,
// and one for each stream whose opener sent a nonce.
//   SIDEBAND_ASSIGN_OR_RETURN(auto sealers, SealerSet::Load({{vm, "/etc/sideband/vm0.key"}}, epochs));
//   const absl::StatusOr<std::vector<StreamRecord>> records = sealers->Seal(device, vm, input);
//   if (absl::IsNotFound(records.status())) Withhold(vm);   // no key
#ifndef SIDEBAND_DAEMON_SEALING_SEALER_SET_H_
#define SIDEBAND_DAEMON_SEALING_SEALER_SET_H_

#include <cstddef>
#include <cstdint>
#include <map>
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
#include "proto/envelope/record.h"
#include "proto/envelope/secret.h"

namespace sideband::daemon {

// Bounds the memory used for a device that keeps changing its UUID.
inline constexpr size_t kDevicesPerVmMax = 64;
// Bounds the sealing work per VM and device: each stream with a nonce costs one record per snapshot.
inline constexpr size_t kNonceStreamsPerVmMax = 16;

struct VmKeyFile {
  Uuid vm;
  std::string path;
};

// The stream shared by all openers without a nonce.
inline constexpr uint64_t kSharedStream = 0;

// Not a stream: the records of exchanges, which their openers know by the nonce (exchange_book.h).
inline constexpr uint64_t kExchangedStream = ~uint64_t{0};

struct StreamRecord {
  uint64_t stream = kSharedStream;
  Bytes record;
};

// Thread-safe; different VMs are sealed in parallel. The epoch source must outlive this object. A set that is loaded
// again with the same epoch source starts new epochs for all VMs.
class SealerSet {
 public:
  // A stream with a nonce. It is closed by its destructor, which any thread may run. The set must outlive it.
  class NonceStream {
   public:
    ~NonceStream() { set_.Close(*this); }
    NonceStream(const NonceStream&) = delete;
    NonceStream& operator=(const NonceStream&) = delete;
    // Identifies the stream's records in the result of Seal(). Unique in the set and never 0.
    uint64_t id() const { return id_; }

   private:
    friend class SealerSet;
    NonceStream(SealerSet& set, const Uuid& device, const Uuid& vm, uint64_t id)
        : set_(set), device_(device), vm_(vm), id_(id) {}

    SealerSet& set_;
    const Uuid device_;
    const Uuid vm_;
    const uint64_t id_;
  };

  // Loads all keys or none. The error of the first invalid key file starts with its path. INVALID_ARGUMENT if a VM
  // occurs twice.
  static absl::StatusOr<std::unique_ptr<SealerSet>> Load(const std::vector<VmKeyFile>& files, EpochSource& epochs);

  bool HasKey(const Uuid& vm) const { return keys_.contains(vm); }

  // Opens a stream: from the next Seal() on, the VM's records on this device are also sealed with this nonce, under
  // separate epochs and from sequence 0. NOT_FOUND for a VM without a key. RESOURCE_EXHAUSTED if the VM already has
  // kNonceStreamsPerVmMax such streams on this device.
  absl::StatusOr<std::unique_ptr<NonceStream>> OpenStream(const Uuid& device, const Uuid& vm,
                                                          const envelope::GuestNonce& nonce) ABSL_LOCKS_EXCLUDED(mu_);

  // Returns the record of each stream, kSharedStream first. NOT_FOUND for a VM without a key, RESOURCE_EXHAUSTED if the
  // VM was seen on more than kDevicesPerVmMax devices; otherwise the errors of VmSealer for the shared stream. A nonce
  // stream whose sealing fails has no record.
  absl::StatusOr<std::vector<StreamRecord>> Seal(const Uuid& device, const Uuid& vm, const SealInput& input)
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  using Keys = absl::flat_hash_map<Uuid, envelope::Secret>;
  // By stream id. A sealer is shared with a running Seal(), which may outlive the stream.
  using Streams = std::map<uint64_t, std::shared_ptr<VmSealer>>;
  using DeviceSealers = absl::flat_hash_map<Uuid, std::shared_ptr<VmSealer>>;

  SealerSet(Keys keys, EpochSource& epochs) : keys_(std::move(keys)), epochs_(epochs) {}

  absl::StatusOr<std::shared_ptr<VmSealer>> NewSealer(const Uuid& device, const Uuid& vm,
                                                      const VmSealer::Options& options) const;
  absl::StatusOr<std::shared_ptr<VmSealer>> SharedSealer(const Uuid& device, const Uuid& vm)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // All streams of a VM on a device.
  absl::StatusOr<Streams> StreamsOf(const Uuid& device, const Uuid& vm) ABSL_LOCKS_EXCLUDED(mu_);
  void Close(const NonceStream& stream) ABSL_LOCKS_EXCLUDED(mu_);

  // Constant after construction.
  const Keys keys_;
  EpochSource& epochs_;

  absl::Mutex mu_;
  uint64_t newest_stream_ ABSL_GUARDED_BY(mu_) = kSharedStream;
  absl::flat_hash_map<Uuid, DeviceSealers> shared_ ABSL_GUARDED_BY(mu_);                    // keyed by VM
  absl::flat_hash_map<std::pair<Uuid, Uuid>, Streams> nonce_streams_ ABSL_GUARDED_BY(mu_);  // keyed by VM, device
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SEALING_SEALER_SET_H_
