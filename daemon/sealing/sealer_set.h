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
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/base/clock.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"
#include "proto/envelope/keys.h"
#include "proto/envelope/record.h"
#include "proto/envelope/secret.h"

namespace sideband::daemon {

// 16 bits from the system's random generator; INTERNAL if it fails.
absl::StatusOr<uint16_t> SystemRandom16();

// Numbers for new session keys. A number is never repeated in a process and differs from those of earlier processes.
// An epoch is the number of milliseconds since 1970, shifted left by 16, combined with 16 random bits. The time makes
// it greater than the epochs of earlier processes. The random bits distinguish two processes in the same millisecond.
// Within one process every epoch is greater than the one before, even if the host's clock is set back. Thread-safe. The
// clock must outlive this object.
class EpochSource {
 public:
  using Random16 = std::function<absl::StatusOr<uint16_t>()>;

  EpochSource(const Clock& clock, Random16 random) : clock_(clock), random_(std::move(random)) {}

  // FAILED_PRECONDITION if the host's clock shows a time before 1970; otherwise the random generator's error.
  absl::StatusOr<uint64_t> Next() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // Constant after construction.
  const Clock& clock_;
  const Random16 random_;
  absl::Mutex mu_;
  uint64_t last_ ABSL_GUARDED_BY(mu_) = 0;
};

// The limit of NIST SP 800-38D for one key with random nonces. The nonces here are counted, and the limit is kept
// anyway.
inline constexpr uint64_t kRecordsPerEpochMax = uint64_t{1} << 32;

struct SealInput {
  uint64_t boot_id = 0;
  // Generation of the VM's block.
  uint32_t generation = 0;
  uint64_t reference_time_ns = 0;
  // A serialised sideband.v1.SealedContent. The caller wipes it after the call.
  ByteSpan content;
  // The maximum size of the content for this VM's current scopes and events. Records are padded to it, so that their
  // length reveals nothing about the counts.
  size_t content_bytes_max = 0;
};

// Seals the telemetry of one VM on one device (record format: proto/envelope/README.md). (key, nonce) never repeats,
// because the sequence only increases within an epoch, and every start, boot id and generation starts a new epoch.
// Records never get shorter, so that their lengths reveal little. Thread-safe. The epoch source must outlive this
// object.
class VmSealer {
 public:
  struct Options {
    // The nonce that an opener sent for its stream: records of version 2. nullopt: version 1, for all carriers of the
    // VM's records.
    std::optional<envelope::GuestNonce> guest_nonce = std::nullopt;
    uint64_t records_per_epoch_max = kRecordsPerEpochMax;  // lower in tests only
  };
  // INVALID_ARGUMENT for a static key that is not kStaticKeyBytes long.
  static absl::StatusOr<std::unique_ptr<VmSealer>> Create(envelope::Secret static_key, const Uuid& device,
                                                          const Uuid& vm, EpochSource& epochs, const Options& options);

  // Returns one record with the next sequence. OUT_OF_RANGE for content above envelope::kContentBytesMax,
  // RESOURCE_EXHAUSTED after records_per_epoch_max records in one epoch (a new generation, boot id or start begins
  // another); otherwise the epoch source's errors.
  absl::StatusOr<Bytes> Seal(const SealInput& input) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  VmSealer(envelope::Secret static_key, const Uuid& device, const Uuid& vm, EpochSource& epochs,
           const Options& options);

  // Derives new keys if the boot id or generation has changed.
  absl::Status EnsureKeys(const SealInput& input) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Raises the padded length to fit `content_bytes`; never lowers it.
  absl::Status GrowTo(size_t content_bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Constant after construction.
  const envelope::Secret static_key_;
  const Uuid device_;
  const Uuid vm_;
  const Options options_;
  EpochSource& epochs_;

  absl::Mutex mu_;
  std::optional<envelope::SessionKeys> keys_ ABSL_GUARDED_BY(mu_);
  uint64_t next_sequence_ ABSL_GUARDED_BY(mu_) = 0;
  uint32_t padded_length_ ABSL_GUARDED_BY(mu_) = 0;
};

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
