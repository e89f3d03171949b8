// SPDX-License-Identifier: Apache-2.0
//
// Seals the telemetry of one VM on one device (record format: proto/envelope/README.md).
//   SIDEBAND_ASSIGN_OR_RETURN(auto sealer, VmSealer::Create(std::move(static_key), device, vm, epochs, {}));
//   SIDEBAND_ASSIGN_OR_RETURN(const Bytes record, sealer->Seal({.boot_id = 7, .generation = 1, .content = bytes}));
#ifndef SIDEBAND_DAEMON_SEALING_VM_SEALER_H_
#define SIDEBAND_DAEMON_SEALING_VM_SEALER_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/sealing/epoch_source.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"
#include "proto/envelope/keys.h"
#include "proto/envelope/secret.h"

namespace sideband::daemon {

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

// Invariants: (key, nonce) never repeats, because the sequence only increases within an epoch, and every start, boot id
// and generation starts a new epoch. Records never get shorter, so that their lengths reveal little. Thread-safe. The
// epoch source must outlive this object.
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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SEALING_VM_SEALER_H_
