// SPDX-License-Identifier: Apache-2.0
#include "daemon/sealing/vm_sealer.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/record.h"
#include "proto/envelope/seal.h"

namespace sideband::daemon {

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

}  // namespace sideband::daemon
