// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/vm_keys.h"

#include <utility>

#include "proto/base/status_macros.h"

namespace sideband::exchange {

void VmKeys::Begin(const Uuid& vm, uint32_t generation, envelope::Secret secret, const envelope::GuestNonce& nonce,
                   absl::Duration now) {
  OfVm& of = vms_[vm];
  if (of.current != nullptr && of.generation == generation) {
    of.previous = std::move(of.current);
    of.previous_ends = now + rotation_.grace;
  } else {
    of.previous = nullptr;
  }
  of.generation = generation;
  of.current = std::make_unique<RecordSealer>(RecordSealer::Scope{owner_.device, owner_.boot_id, vm, generation, nonce},
                                              std::move(secret), rotation_, now);
}

absl::StatusOr<std::vector<SealedNow>> VmKeys::Seal(const Uuid& vm, const Input& input, absl::Duration now) {
  std::vector<SealedNow> sealed;
  const auto found = vms_.find(vm);
  if (found == vms_.end()) return sealed;
  OfVm& of = found->second;
  if (of.generation != input.generation) {
    vms_.erase(found);
    return sealed;
  }
  absl::StatusOr<Bytes> record = of.current->Seal(input.reference_time_ns, input.content, now);
  if (absl::IsResourceExhausted(record.status())) vms_.erase(found);
  if (!record.ok()) return record.status();
  sealed.push_back({of.current->nonce(), *std::move(record)});
  if (of.previous == nullptr || now >= of.previous_ends) {
    of.previous = nullptr;
    return sealed;
  }
  absl::StatusOr<Bytes> last = of.previous->Seal(input.reference_time_ns, input.content, now);
  if (last.ok()) sealed.push_back({of.previous->nonce(), *std::move(last)});
  return sealed;
}

bool VmKeys::Has(const Uuid& vm, const envelope::GuestNonce& nonce) const {
  const auto found = vms_.find(vm);
  if (found == vms_.end()) return false;
  const OfVm& of = found->second;
  return of.current->nonce() == nonce || (of.previous != nullptr && of.previous->nonce() == nonce);
}

absl::StatusOr<uint64_t> VmKeys::Rotate(const Uuid& vm, absl::Duration now) {
  const auto found = vms_.find(vm);
  if (found == vms_.end()) return absl::NotFoundError("the VM's guest has exchanged no keys");
  SIDEBAND_RETURN_IF_ERROR(found->second.current->Rotate(now));
  return found->second.current->epoch();
}

std::optional<KeyStatus> VmKeys::StatusOf(const Uuid& vm) const {
  const auto found = vms_.find(vm);
  if (found == vms_.end()) return std::nullopt;
  const RecordSealer& sealer = *found->second.current;
  return KeyStatus{.epoch = sealer.epoch(), .records = sealer.records(), .budget_used = sealer.budget_used()};
}

}  // namespace sideband::exchange
