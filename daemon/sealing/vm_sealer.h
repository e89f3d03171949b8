// SPDX-License-Identifier: Apache-2.0
//
// Seals the telemetry of one VM on one device (proto/envelope/README.md has the records).
//   SIDEBAND_ASSIGN_OR_RETURN(auto sealer, VmSealer::Create(std::move(static_key), device, vm, epochs));
//   SIDEBAND_ASSIGN_OR_RETURN(const Bytes record, sealer->Seal({.boot_id = …, .generation = …, .content = bytes}));
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

// Far below the 2^32 invocations that NIST SP 800-38D allows with random nonces; ours are counted, and still this is
// where a key ends.
inline constexpr uint64_t kRecordsPerEpochMax = uint64_t{1} << 32;

struct SealInput {
  uint64_t boot_id = 0;
  // Of the VM's block.
  uint32_t generation = 0;
  uint64_t reference_time_ns = 0;
  // A serialised sideband.v1.SealedContent. The caller wipes it after the call.
  ByteSpan content;
  // How large the content can become while its VM is what it is: the record is made for that size, so that its length
  // says nothing of the counts.
  size_t content_bytes_max = 0;
};

// Invariants: (key, nonce) never repeats, because the sequence only counts up under one epoch, and every start, boot id
// and generation takes a new epoch. Records never get shorter, so that their lengths say little. Thread-safe. The epoch
// source must outlive it.
class VmSealer {
 public:
  // INVALID_ARGUMENT for a static key that is not kStaticKeyBytes long. `records_per_epoch_max` is lower only in tests.
  static absl::StatusOr<std::unique_ptr<VmSealer>> Create(envelope::Secret static_key, const Uuid& device,
                                                          const Uuid& vm, EpochSource& epochs,
                                                          uint64_t records_per_epoch_max = kRecordsPerEpochMax);

  // One record with the next sequence. OUT_OF_RANGE for content over envelope::kContentBytesMax, RESOURCE_EXHAUSTED
  // once the budget of the epoch is spent (a new generation, boot or start begins another), else what the epoch source
  // says.
  absl::StatusOr<Bytes> Seal(const SealInput& input) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  VmSealer(envelope::Secret static_key, const Uuid& device, const Uuid& vm, EpochSource& epochs, uint64_t records_max);

  // Makes keys_ fit the input's boot id and generation.
  absl::Status EnsureKeys(const SealInput& input) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status GrowTo(size_t content_bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Constant after construction.
  const envelope::Secret static_key_;
  const Uuid device_;
  const Uuid vm_;
  const uint64_t records_per_epoch_max_;
  EpochSource& epochs_;

  absl::Mutex mu_;
  std::optional<envelope::SessionKeys> keys_ ABSL_GUARDED_BY(mu_);
  uint64_t next_sequence_ ABSL_GUARDED_BY(mu_) = 0;
  uint32_t padded_length_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SEALING_VM_SEALER_H_
